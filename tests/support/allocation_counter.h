#pragma once
// Counts allocations of every kind (new, malloc, Eigen's): allocation_counter.cpp puts itself in front of the C library's malloc
// in every test executable. Sanitizers have their own malloc: there nothing is counted, and tests should skip.
#include <cstddef>

namespace rotule::testing {

/// Allocations by this thread so far.
std::size_t allocations();

/// False where a sanitizer owns malloc.
bool counts_allocations();

}  // namespace rotule::testing
