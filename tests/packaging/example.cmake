# cmake -P script: configure, build, run, look at what the example says.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/${NAME} -B ${FOLDER} -DCMAKE_PREFIX_PATH=${INSTALLED} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${FOLDER})
run(${FOLDER}/${NAME})

# One second of theta'' = -9.81 sin(theta) from rest at the horizontal, integrated on its own to all the digits shown.
set(pendulum "x = -0.9863 m, z = -0.1650 m\n")
# A crate of 1 m on the floor under the ray; the thrown ball's centre has 2.3 of 10 m to go; the gap is 4 - 0.5 - 0.5.
set(queries "crate 4.00 m below, normal 1\ncrate stops it after 0.23 of the way\ncrate is there\nball is there\n3.00 m apart\n")
# Five boxes of 2 kg; four contacts of three rows between each two.
set(solver "prox_newton: 60 rows, solved, the ground carries 98.1 N\nnncg: 60 rows, solved, the ground carries 98.1 N\n")
# sqrt((2 -+ sqrt 2) g); twelve less three rows of the ball and one of the rod.
set(modes "8 degrees of freedom, 0 joints open\n2.3972 and 5.7874 rad/s, at rest\n")
# The sensor's lower face is at 3 m and the crate's upper one at 0.7 m, which the lift raises by 1 m/s.
set(lift "the ray picks crate, 5.30 m below\ncrate is upstairs after 2.3 s: the gate opens\nthe gate stands at 1.50 rad, the crate 0.350 m above the lift's middle, 0.000 m beside it\nplayed again from the checkpoint: the same bits\n")
if(NOT output STREQUAL "${${NAME}}")
  message(FATAL_ERROR "${NAME} says: ${output}expected: ${${NAME}}")
endif()
