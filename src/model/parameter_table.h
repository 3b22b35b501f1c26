#pragma once
// Where parameters of a constraint function are first looked for, s_1 ... s_n over their whole range, and how few of these
// places have to be tried. Curves and surfaces that bodies carry are sums of products: of what bodies do, and of what the
// parameters do, F(q, s) = sum f_m(q) g_m(s), with few terms. Then the values at as many places tell those at all others,
//   F_k(q, s_j) = B_kj + sum_m (F_k(q, s_m) - B_k,m) W_mj,
// with B the values in one pose. Places and W follow from values in poses drawn by lot, by elimination with complete pivoting
// (M. Barrault and others, An empirical interpolation method, 2004). What a single parameter has between two places follows from
// first and second derivatives there, as a polynomial of fifth degree (Hermite).
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
    const int i = k == 0 ? place / places_[1] : place % places_[1];
    return from + (to - from) * i / steps(k);
  }
  /// Of the k-th parameter, how many places from its beginning to its end, and the way from one to the next.
  [[nodiscard]] int steps(int k) const { return places(k) - (parameters_[static_cast<std::size_t>(k)].periodic ? 0 : 1); }
  [[nodiscard]] double step(int k) const {
    const ConstraintParameter& parameter = parameters_[static_cast<std::size_t>(k)];
    return (parameter.to - parameter.from) / steps(k);
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
  /// What a pose has of each term in each equation.
  using Shares = Eigen::Matrix<double, Equations::most, most_terms>;
  /// Powers of the fraction of the way from a place to the next, per equation.
  using Quintics = std::array<std::array<double, 6>, Equations::most>;

  std::vector<int> at;  // places to be tried
  MatX base;            // per place, the equations in one pose
  MatX weights;         // per place, what counts of each of `at`
  /// Of a single parameter, per place: of each equation in that pose, then of each weight, the value and its first two
  /// derivatives by the number of places.
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> courses;
  double misses = infinity;  // by how much what lies between places was missed in a pose drawn by lot

  [[nodiscard]] int equations() const { return static_cast<int>(base.cols()); }
  [[nodiscard]] int terms() const { return static_cast<int>(at.size()); }
  /// An equation and its first two derivatives at a place.
  [[nodiscard]] Vec3 at_place(const Shares& shares, int equation, int place) const {
    const double* const course = courses.row(place).data();
    Vec3 out(course[3 * equation], course[3 * equation + 1], course[3 * equation + 2]);
    for (int m = 0; m < terms(); ++m) {
      const double* const weight = course + 3 * (equations() + m);
      const double share = shares(equation, m);
      for (int d = 0; d < 3; ++d) out[d] += share * weight[d];
    }
    return out;
  }
  void between(const Shares& shares, int place, int next, Quintics& out) const;
};

/// None where functions are no such sums. Bodies stand where the scene begins; those that move have gradients.
std::shared_ptr<const ParameterTable> parameter_table(const Equations& equations, std::span<const MovingBody> bodies);

}  // namespace rotule
