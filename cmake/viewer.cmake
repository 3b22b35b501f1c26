# The viewer's page inside the program. rotule_embed_page(TARGET) adds a source to the target that holds the built page, or none of
# it where ROTULE_VIEWER is off. npm runs beside the compiler and only when something in viewer/ has changed.
find_program(NPM_PROGRAM npm)
set(ROTULE_VIEWER AUTO CACHE STRING "Put the viewer's page into the program: ON, OFF, or AUTO (where npm is found)")
set(rotule_has_viewer ${ROTULE_VIEWER})
if(ROTULE_VIEWER STREQUAL AUTO)
  set(rotule_has_viewer OFF)
  if(NPM_PROGRAM AND EXISTS ${PROJECT_SOURCE_DIR}/viewer/package.json)
    set(rotule_has_viewer ON)
  endif()
endif()

function(rotule_embed_page target)
  set(folder ${PROJECT_BINARY_DIR}/viewer)
  set(source ${folder}/page.cpp)
  set(sources)
  if(rotule_has_viewer)
    if(NOT NPM_PROGRAM)
      message(FATAL_ERROR "ROTULE_VIEWER: npm is missing (Debian: npm)")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/src/* ${PROJECT_SOURCE_DIR}/viewer/public/*
      ${PROJECT_SOURCE_DIR}/viewer/thumbnails/*)
    file(GLOB top CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*.json ${PROJECT_SOURCE_DIR}/viewer/*.ts
      ${PROJECT_SOURCE_DIR}/viewer/*.html)
    list(APPEND sources ${top})
  endif()
  # The stamp is only there when the page is: a build without network tries again the next time.
  add_custom_command(OUTPUT ${source} ${folder}/stamp
    COMMAND ${CMAKE_COMMAND} -DVIEWER=${PROJECT_SOURCE_DIR}/viewer -DOUT=${folder} -DNPM=${NPM_PROGRAM} -DBUILD=${rotule_has_viewer}
            -P ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    COMMENT "The viewer's page" VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_LINTING ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
