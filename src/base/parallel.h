#pragma once
// Loops whose rounds do not depend on each other, over threads. Which thread takes which index is left to the scheduler, so a
// body may write only what belongs to its index: then results do not depend on the number of threads. Where rounds throw, the
// caller gets the exception of the smallest index; later rounds may have run or not.
#include <memory>
#include <type_traits>

namespace rotule {

/// A call f(index) without owning f: two words, no allocation. It must not outlive the callable it was made from.
class IndexFunction {
 public:
  template <class F>
  requires(std::is_invocable_v<const F&, int> && !std::is_same_v<std::remove_cvref_t<F>, IndexFunction>)
      IndexFunction(const F& f)  // NOLINT: made in passing, where a function is handed to a loop
      : callable_(std::addressof(f)), call_([](const void* callable, int index) { (*static_cast<const F*>(callable))(index); }) {}

  void operator()(int index) const { call_(callable_, index); }

 private:
  const void* callable_;
  void (*call_)(const void*, int);
};

/// body(0) ... body(count - 1), in any order, on at most `threads` threads (0: as many as the machine has cores). On the calling
/// thread, in order, where `threads` is 1 or there is a single round.
void parallel_for(int count, int threads, IndexFunction body);

}  // namespace rotule
