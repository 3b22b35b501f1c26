# cmake -P script: install into an empty folder.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${INSTALLED})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${INSTALLED})
