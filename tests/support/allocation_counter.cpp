#include "support/allocation_counter.h"

#include <cerrno>
#include <cstdlib>

namespace {
thread_local std::size_t count = 0;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t items, std::size_t size) {
  ++count;
  return __libc_calloc(items, size);
}
void* realloc(void* memory, std::size_t size) {
  ++count;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++count;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  ++count;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
}

namespace rotule::testing {
bool counts_allocations() { return true; }
}  // namespace rotule::testing

#else

namespace rotule::testing {
bool counts_allocations() { return false; }
}  // namespace rotule::testing

#endif

namespace rotule::testing {
std::size_t allocations() { return count; }
}  // namespace rotule::testing
