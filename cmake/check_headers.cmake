# Target check_headers: compiles every header alone, twice over, to show that it needs nothing included before it and may be
# included again.
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} include/*.h src/*.h)
set(units)
foreach(header ${headers})
  set(unit ${CMAKE_CURRENT_BINARY_DIR}/check_headers/${header}.cpp)
  file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
  list(APPEND units ${unit})
endforeach()
add_library(check_headers OBJECT EXCLUDE_FROM_ALL ${units})
target_include_directories(check_headers PRIVATE ${PROJECT_SOURCE_DIR} include src)
target_link_libraries(check_headers PRIVATE Eigen3::Eigen TBB::tbb fmt::fmt nlohmann_json::nlohmann_json Qhull::qhull_r
  hdf5::hdf5 hwy::hwy)
target_compile_definitions(check_headers PRIVATE ROTULE_VERSION="${PROJECT_VERSION}")
# Only errors matter here, not speed.
target_compile_options(check_headers PRIVATE -O0 -Wall -Wextra -Werror)
