# cmake -P script: make the Debian package and try it.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
run(cpack -G DEB --config ${BUILD}/CPackConfig.cmake -B ${FOLDER})
file(GLOB PACKAGE ${FOLDER}/rotule_*.deb)
set(FOLDER ${FOLDER}/unpacked)
include(${CMAKE_CURRENT_LIST_DIR}/unpack.cmake)
