#pragma once
// Hints about memory: they change no result, and do nothing where a system knows no such thing.
#include <cstddef>
#if defined(__linux__)
#include <sys/mman.h>

#include <cstdint>
#endif

namespace rotule {

/// Asks for the lines of [first, first + bytes) ahead of their use.
inline void fetch_lines(const void* first, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(first) + at);
}

/// Asks for large pages under memory that has been reserved and not yet written: far reads in it then need no walk through page
/// tables. For arrays of many megabytes.
inline void prefer_large_pages([[maybe_unused]] const void* first, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(first) + page - 1) / page * page,
             end = (reinterpret_cast<std::uintptr_t>(first) + bytes) / page * page;
  if (bytes >= std::size_t{8} << 20 && end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/// Reserves room and prefers large pages for it.
template <class Vector>
void reserve_large(Vector& v, std::size_t count) {
  v.reserve(count);
  prefer_large_pages(v.data(), count * sizeof(*v.data()));
}

}  // namespace rotule
