#pragma once
// A pool: all joints of an island whose rows are of one kind, structure of arrays. It turns the present state into rows, knows
// their second derivatives and how to close a joint by placing a body; nothing here knows how rows will be solved. ConstraintSet
// walks the pools of pools.h, so that a new kind of row is a file like this one and a line there.
//
// A kernel `rows<L>` works on one joint in doubles, or on as many as L has lanes, which must be of the same shape.
#include <array>
#include <concepts>
#include <span>
#include <vector>

#include "constraint/hessians.h"
#include "constraint/rows.h"

namespace rotule {

/// The joints that a call works on, one per lane.
template <class L>
using LaneIndex = std::array<std::size_t, LaneTraits<L>::count>;

/// The joint's partners in lanes, in the order of the pool's bodies(i).
template <class L, std::size_t count>
using Partners = std::array<const BodyLanes<L>*, count>;

/// What the pool holds for the joints given: the number itself in doubles, gathered where there are lanes.
template <class L, class T>
decltype(auto) gather(const std::vector<T>& from, const LaneIndex<L>& at) {
  if constexpr (std::is_same_v<L, double>) {
    return (from[at[0]]);
  } else {
    const auto lanes = [&](auto&& number) {
      std::array<typename LaneTraits<L>::Scalar, LaneTraits<L>::count> numbers;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<typename LaneTraits<L>::Scalar>(number(from[at[i]]));
      return LaneTraits<L>::load(numbers.data());
    };
    if constexpr (std::is_arithmetic_v<T>) {
      return lanes([](const T& item) { return item; });
    } else {
      Eigen::Matrix<L, T::RowsAtCompileTime, T::ColsAtCompileTime> out;
      for (int k = 0; k < T::SizeAtCompileTime; ++k) out(k) = lanes([k](const T& item) { return item(k); });
      return out;
    }
  }
}

/// Small motions of `count` bodies, six each.
template <int count>
using BlockHessian = Eigen::Matrix<double, 6 * count, 6 * count>;

/// Old numbers to new ones, -1 for what has left; nothing given: all stay. What never moves keeps its own.
inline void renumber_all(std::span<const int> to, std::vector<int>& numbers) {
  if (to.empty()) return;
  for (int& number : numbers)
    if (number >= 0) number = to[number];
}

/// For a concept to name a kernel's argument.
struct AnyRowWriter {
  template <class L>
  void operator()(const Row<L>&) {}
  template <class L, std::size_t count>
  void operator()(const Row<L>&, const std::array<RowSide<L>, count>&) {}
};

template <class P, class L>
concept HasRowsIn = requires(const P c, Partners<L, P::partners> bodies, LaneIndex<L> at, double t, AnyRowWriter write) {
  c.template rows<L>(bodies, at, t, write);
};

template <class P>
concept Pool = requires(P p, const P c, const Model& model, const Joint& joint, int number, std::size_t i,
                        Partners<double, P::partners> bodies, double t, std::span<const double> lambda, Pose pose,
                        std::span<const int> map) {
  { P::takes(joint) } -> std::same_as<bool>;  // whether the joint is one of these
  p.add(model, number);
  { c.size() } -> std::same_as<std::size_t>;
  { c.joint(i) } -> std::same_as<int>;
  { c.bodies(i) } -> std::same_as<std::array<int, P::partners>>;  // as many as the kind has
  { c.same_shape(i, i) } -> std::same_as<bool>;                   // whether two joints can share a kernel's lanes
  { c.hessian(i, bodies, t, lambda) } -> std::same_as<BlockHessian<P::partners>>;  // sum of lambda_r H_r
  { c.lever(i, bodies, true) } -> std::same_as<Vec3>;  // the joint's point on its second body (else on the first)
  { P::places } -> std::convertible_to<bool>;          // whether `place` is there to be called
  { P::in_lanes } -> std::convertible_to<bool>;        // whether rows<L> is there for lanes of floats
  p.renumber(map, map);                                // bodies, joints: where some have left
}
&&HasRowsIn<P, double> && (!P::in_lanes || HasRowsIn<P, FloatLanes>);

}  // namespace rotule
