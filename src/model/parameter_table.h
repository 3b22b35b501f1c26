#pragma once
// Where parameters of a constraint function are first looked for, s_1 ... s_n over their whole range, and how few of these
// places have to be tried. Curves and surfaces that bodies carry are sums of products: of what bodies do, and of what the
// parameters do, F(q, s) = sum f_m(q) g_m(s), with few terms. Then the values at as many places tell those at all others,
//   F_k(q, s_j) = B_kj + sum_m (F_k(q, s_m) - B_k,m) W_mj,
// with B the values in one pose. Places and W follow from values in poses drawn by lot, by elimination with complete pivoting
// (M. Barrault and others, An empirical interpolation method, 2004).
#include <rotule/types.h>

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "model/equations.h"

namespace rotule {

/// The places: in equal steps over a single parameter, or a square of them over two. The end of a periodic one is its start.
class ParameterGrid {
 public:
  explicit ParameterGrid(const Equations& equations);
  [[nodiscard]] int size() const { return places_[0] * places_[1]; }
  [[nodiscard]] int dimensions() const { return static_cast<int>(parameters_.size()); }
  [[nodiscard]] int places(int k) const { return places_[static_cast<std::size_t>(k)]; }
  /// The k-th parameter at a place.
  [[nodiscard]] double at(int k, int place) const {
    const auto& [name, from, to, periodic] = parameters_[static_cast<std::size_t>(k)];
    const int i = k == 0 ? place / places_[1] : place % places_[1], steps = places(k) - (periodic ? 0 : 1);
    return from + (to - from) * i / steps;
  }
  /// The place next to this one, `i` steps along the first parameter and `j` along the second; at an end, the end itself.
  [[nodiscard]] int neighbour(int place, int i, int j) const {
    return move(0, place / places_[1], i) * places_[1] + (dimensions() > 1 ? move(1, place % places_[1], j) : 0);
  }

 private:
  [[nodiscard]] int move(int k, int place, int by) const {
    const int count = places(k), next = place + by;
    if (parameters_[static_cast<std::size_t>(k)].periodic) return (next + count) % count;
    return next < 0 ? 0 : next < count ? next : count - 1;
  }
  std::span<const ConstraintParameter> parameters_;
  std::array<int, 2> places_{1, 1};
};

struct ParameterTable {
  static constexpr int most_terms = 6;  // more are not worth it

  std::vector<int> at;  // places to be tried
  MatX base;            // per place, the equations in one pose
  MatX weights;         // per place, what counts of each of `at`
};

/// None where functions are no such sums. Bodies stand where the scene begins; those that move have gradients.
std::shared_ptr<const ParameterTable> parameter_table(const Equations& equations, std::span<const MovingBody> bodies);

}  // namespace rotule
