# cmake -P script: compile every block of C++ that the pages show.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${FOLDER})
run(/usr/bin/env python3 ${CMAKE_CURRENT_LIST_DIR}/code_blocks.py ${SOURCE} ${FOLDER}/blocks)
run(${CMAKE_COMMAND} -G Ninja -S ${CMAKE_CURRENT_LIST_DIR}/docs -B ${FOLDER}/build -DCMAKE_PREFIX_PATH=${INSTALLED}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DBLOCKS=${FOLDER}/blocks)
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
