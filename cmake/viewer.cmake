# The viewer's page inside the program. rotule_embed_page(TARGET) adds a source to the target that holds the built page, or none of
# it where ROTULE_VIEWER is off. npm runs beside the compiler and only when something in viewer/ has changed.
find_program(NPM_PROGRAM npm)
set(rotule_viewer_default OFF)
if(NPM_PROGRAM AND EXISTS ${PROJECT_SOURCE_DIR}/viewer/package.json)
  set(rotule_viewer_default ON)
endif()
option(ROTULE_VIEWER "Put the viewer's page into the program (needs npm)" ${rotule_viewer_default})

function(rotule_embed_page target)
  set(folder ${CMAKE_BINARY_DIR}/viewer)
  set(source ${folder}/page.cpp)
  set(sources)
  if(ROTULE_VIEWER)
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
    COMMAND ${CMAKE_COMMAND} -DVIEWER=${PROJECT_SOURCE_DIR}/viewer -DOUT=${folder} -DNPM=${NPM_PROGRAM} -DBUILD=${ROTULE_VIEWER}
            -P ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake
    COMMENT "The viewer's page" VERBATIM)
  set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_LINTING ON)
  target_sources(${target} PRIVATE ${source})
endfunction()
