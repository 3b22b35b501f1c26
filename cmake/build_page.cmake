# Run by the build: npm builds the page, gzip packs its files, and a C++ source takes them in by the assembler's .incbin.
#   cmake -DVIEWER=folder of its sources -DOUT=where to -DNPM=program -DBUILD=ON|OFF -P build_page.cmake
file(MAKE_DIRECTORY ${OUT})
file(REMOVE ${OUT}/stamp)
set(built FALSE)
set(dist ${OUT}/dist)

if(BUILD)
  # Packages are fetched again only where the list of them changed.
  file(SHA256 ${VIEWER}/package-lock.json lock)
  set(fetched)
  if(EXISTS ${VIEWER}/node_modules/.rotule_lock)
    file(READ ${VIEWER}/node_modules/.rotule_lock fetched)
  endif()
  set(status 0)
  if(NOT fetched STREQUAL lock)
    # `ci` refuses a list that lacks optional packages of other systems; `install` takes what the list does pin.
    set(status 1)
    foreach(way ci "install;--no-save")
      if(NOT status EQUAL 0)
        execute_process(COMMAND ${NPM} ${way} --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${VIEWER}
          RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
      endif()
    endforeach()
    if(status EQUAL 0)
      file(WRITE ${VIEWER}/node_modules/.rotule_lock ${lock})
    else()
      message(WARNING "npm could not fetch the viewer's packages: the program will be without its page. The next build tries again.\n${said}")
    endif()
  endif()
  if(status EQUAL 0)
    execute_process(COMMAND ${NPM} run build -- --outDir ${dist} --emptyOutDir WORKING_DIRECTORY ${VIEWER}
      RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "the viewer's page does not build:\n${said}")
    endif()
    set(built TRUE)
  endif()
endif()

set(data "")
set(table "")
set(declared "")
if(built)
  file(GLOB_RECURSE files RELATIVE ${dist} ${dist}/*)
  file(GLOB pictures RELATIVE ${VIEWER} ${VIEWER}/thumbnails/*.webp)
  list(SORT files)
  set(number 0)
  file(REMOVE_RECURSE ${OUT}/packed)
  file(MAKE_DIRECTORY ${OUT}/packed)
  foreach(file ${files} ${pictures})
    set(from ${dist}/${file})
    if(NOT EXISTS ${from})
      set(from ${VIEWER}/${file})
    endif()
    set(packed ${OUT}/packed/${number}.gz)
    execute_process(COMMAND gzip -9nc ${from} OUTPUT_FILE ${packed} COMMAND_ERROR_IS_FATAL ANY)
    string(APPEND data "  \"file_${number}: .incbin \\\"${packed}\\\"\\n\"\n  \"file_${number}_end:\\n\"\n")
    string(APPEND declared "extern const unsigned char file_${number}[], file_${number}_end[];\n")
    string(APPEND table "      {\"/${file}\", {file_${number}, file_${number}_end}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
endif()

if(table STREQUAL "")
  set(content "#include \"${CMAKE_CURRENT_LIST_DIR}/../apps/rotule/view/page.h\"\n
std::span<const rotule::app::PageFile> rotule::app::page_files() { return {}; }\n")
else()
  set(content "// Made by cmake/build_page.cmake.
#include \"${CMAKE_CURRENT_LIST_DIR}/../apps/rotule/view/page.h\"\n
asm(\".section .rodata\\n\"\n${data}  \".byte 0\\n\"\n  \".text\\n\");\n
extern \"C\" {\n${declared}}\n
std::span<const rotule::app::PageFile> rotule::app::page_files() {
  static const PageFile files[] = {\n${table}  };
  return files;
}\n")
endif()
set(before)
if(EXISTS ${OUT}/page.cpp)
  file(READ ${OUT}/page.cpp before)
endif()
# The bytes are not in the text: what was built anew is compiled anew.
if(built OR NOT before STREQUAL content)
  file(WRITE ${OUT}/page.cpp "${content}")
endif()
if(built OR NOT BUILD)
  file(TOUCH ${OUT}/stamp)
endif()
