#pragma once
// The discrete Poisson equation on the cells of a box,
//   sum over axes of (p[i+1] - 2 p[i] + p[i-1]) / h^2 = b,
// by cosines, sines or waves along all axes but the slowest in memory, by the boundary conditions of each: no gradient at walls,
// p = 0 where fluid leaves, periodic else; and along that one by elimination. Exact up to rounding. FFTW transforms lines; which
// lines go together does not depend on the threads, and plans are made without measuring, so that the same bits come out every
// time.
#include <memory>
#include <span>

#include "fluid/layout.h"

namespace rotule {

class Poisson {
 public:
  explicit Poisson(const GridLayout& layout);
  Poisson(Poisson&&) noexcept;
  ~Poisson();

  /// In place, cells without ghosts in the order of the layout. Where all sides are closed the sum of b must vanish, and p has
  /// none.
  void solve(std::span<double> b, int threads);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Axis;
  struct Line;
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace rotule
