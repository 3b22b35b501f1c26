#pragma once
// Constraints that a user wrote as a function alone (A2): evaluated on second-order jets, from which J, J-dot u and the
// Hessian are read off. Jet variables: p_a, phi_a (0..5), p_b, phi_b (6..11), time (12). Functions take doubles: no lanes.
#include <rotule/joints.h>

#include <functional>

#include "constraint/pool/pool.h"

namespace rotule {

class UserPool {
 public:
  static constexpr int partners = 2;
  static constexpr bool in_lanes = false, places = false;

  static bool takes(const Joint& joint) { return joint.function != nullptr; }
  void add(const Model& model, int index);
  [[nodiscard]] std::size_t size() const { return joint_.size(); }
  [[nodiscard]] int joint(std::size_t i) const { return joint_[i]; }
  [[nodiscard]] std::array<int, 2> bodies(std::size_t i) const { return {a_[i], b_[i]}; }
  [[nodiscard]] static bool same_shape(std::size_t, std::size_t) { return true; }

  template <class L, class Write>
  void rows(const Partners<L, 2>& body, const LaneIndex<L>& at, double t, Write&& write) const
      requires(std::is_same_v<L, double>) {
    write(row(at[0], body, t));
  }
  [[nodiscard]] Mat12 hessian(std::size_t i, const Partners<double, 2>& body, double t, std::span<const double> lambda) const;
  /// A function has no point of its own: torque is reported about the centre of mass.
  [[nodiscard]] static Vec3 lever(std::size_t, const Partners<double, 2>&, bool) { return Vec3::Zero(); }
  void renumber(std::span<const int> body, std::span<const int> joint);

 private:
  [[nodiscard]] Jet value(std::size_t i, const Partners<double, 2>& body, double t) const;
  /// J and gamma = u^T H u + 2 u . dJ/dt + d2C/dt2.
  [[nodiscard]] Row<double> row(std::size_t i, const Partners<double, 2>& body, double t) const;

  std::vector<int> joint_, a_, b_;
  std::vector<Vec3> frame_a_, frame_b_;  // origin of the body's frame, from the centre of mass
  std::vector<char> turns_a_, turns_b_;  // whether the partner is no particle
  std::vector<std::function<Jet(const JetBody&, const JetBody&, const Jet&)>> function_;
};

}  // namespace rotule
