# find_package(rotule) gives the target rotule::rotule.
include(${CMAKE_CURRENT_LIST_DIR}/dependencies.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/rotuleTargets.cmake)
