#pragma once
// Hints about memory: they change no result, and do nothing where a system knows no such thing.
#include <cstddef>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rotule {

/// Asks for the cache lines of [first, first + bytes) ahead of their use.
inline void fetch_lines(const void* first, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(first) + at);
}

/// Gives arrays of megabytes whole large pages: reads here and there in them need no walk through page tables, which in a virtual
/// machine costs more than the read. All arrays begin at a cache line.
template <class T>
struct LargePages {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{2} << 20, line = 64;

  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: one for all types

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new(bytes, std::align_val_t(line)));
    const std::size_t whole = (bytes + page - 1) / page * page;
    void* const out = ::operator new(whole, std::align_val_t(page));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    madvise(out, whole, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(out);
  }
  void deallocate(T* at, std::size_t count) { ::operator delete(at, std::align_val_t(count * sizeof(T) < page ? line : page)); }
  friend bool operator==(const LargePages&, const LargePages&) { return true; }
};

template <class T>
using LargeArray = std::vector<T, LargePages<T>>;

}  // namespace rotule
