# What every target is compiled with.
add_library(rotule_options INTERFACE)
target_compile_options(rotule_options INTERFACE
  -Wall -Wextra -Wpedantic $<$<NOT:$<BOOL:$<TARGET_PROPERTY:ROTULE_MAY_SHADOW>>>:-Wshadow> -Wnon-virtual-dtor -Wconversion -Wno-sign-conversion -Werror
  # No -ffast-math: results must not depend on the compiler's mood. These two only drop errno and trapping semantics, which
  # nobody reads; contraction is off so that the same scene gives the same bits on machines with and without fused operations.
  -fno-math-errno -fno-trapping-math -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlaps in std::string that are not there (GCC bug 105651).
  target_compile_options(rotule_options INTERFACE -Wno-restrict)
  # The compiler collects its memory less often: 6 to 15 % less time for single large units, 3 % of all, for some hundred MB.
  if(ROTULE_UNITY)
    target_compile_options(rotule_options INTERFACE "SHELL:--param ggc-min-heapsize=524288")
  endif()
endif()
target_compile_definitions(rotule_options INTERFACE EIGEN_MPL2_ONLY)
if(ROTULE_SANITIZE)
  target_compile_options(rotule_options INTERFACE -fsanitize=${ROTULE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)  # what sanitizers put in between makes g++ doubt what is written first
  target_link_options(rotule_options INTERFACE -fsanitize=${ROTULE_SANITIZE})
endif()

# Eigen and the standard library take a second of every file's compilation: parsed once for all folders of src, and once each for
# the program and the tests, whose flags differ. A compiler cache knows nothing of that, so it is left out where one is used.
set(rotule_precompiled <Eigen/Core> <Eigen/Geometry> <algorithm> <array> <cmath> <cstdint> <functional> <optional> <span> <string>
    <variant> <vector>)
# rotule_precompile(TARGET FIRST [HEADER...]): TARGET uses what FIRST, of the same flags, has precompiled; HEADERs come on top.
function(rotule_precompile target first)
  if(CMAKE_CXX_COMPILER_LAUNCHER OR ROTULE_SANITIZE OR target STREQUAL rotule_base)
    return()
  endif()
  # What is precompiled no longer counts as the system's, and g++ 12 sees overflows in std::string that are not there.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${rotule_precompiled} ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()

# Eigen, fmt, JSON and the tests' framework take longer to read than most files take to compile: neighbouring files of a target are
# compiled together, few enough that changing one costs little more than compiling it alone. Files with options of their own stay
# alone. So that no file leans on what another includes, the tree also builds with ROTULE_UNITY off.
# Nor may a file's names fit its neighbours by luck of the alphabet: with ROTULE_UNITY_ORDER set to some word, files come in the order
# of the hashes of that word and their names, so that others share a unit.
# rotule_unite(TARGET COUNT): at most COUNT files of it together. Called when the target has all its files.
function(rotule_unite target count)
  if(NOT ROTULE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
  if(ROTULE_UNITY_ORDER)
    get_target_property(files ${target} SOURCES)
    set(keyed)
    foreach(file ${files})
      get_filename_component(name ${file} NAME)
      string(MD5 key "${ROTULE_UNITY_ORDER} ${name}")
      list(APPEND keyed "${key} ${file}")
    endforeach()
    list(SORT keyed)
    list(TRANSFORM keyed REPLACE "^[0-9a-f]+ " "")
    set_property(TARGET ${target} PROPERTY SOURCES ${keyed})
  endif()
endfunction()
