# Targets check_public_headers and check_headers: compile every header of include/, or of src/ too, alone and twice over, to show that
# it needs nothing included before it and may be included again.
function(rotule_check_headers name)
  set(units)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${ARGN})
  foreach(header ${headers})
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/check_headers/${header}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND units ${unit})
  endforeach()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${units})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} include src)
  target_link_libraries(${name} PRIVATE Eigen3::Eigen TBB::tbb fmt::fmt nlohmann_json::nlohmann_json Qhull::qhull_r hdf5::hdf5
    hwy::hwy pugixml::pugixml)
  target_compile_definitions(${name} PRIVATE ROTULE_VERSION="${PROJECT_VERSION}")
  rotule_learned(${name})
  # Only errors matter here, not speed.
  target_compile_options(${name} PRIVATE -O0 -Wall -Wextra -Werror)
endfunction()
rotule_check_headers(check_public_headers include/*.h)
rotule_check_headers(check_headers include/*.h src/*.h)
