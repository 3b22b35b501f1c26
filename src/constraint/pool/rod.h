#pragma once
// A fixed distance between a point of each body: one row.
#include <rotule/joints.h>

#include "constraint/pool/pool.h"

namespace rotule {

class RodPool {
 public:
  static constexpr int partners = 2;
  static constexpr bool in_lanes = true, places = true;

  static bool takes(const Joint& joint) { return std::holds_alternative<Rod>(*joint.definition); }
  void add(const Model& model, int index) {
    const Joint& joint = model.joints[index];
    joint_.push_back(index);
    a_.push_back(joint.a);
    b_.push_back(joint.b);
    r_a_.push_back(joint.X_A.position);
    r_b_.push_back(joint.X_B.position);
    length_.push_back(joint.length);
  }
  [[nodiscard]] std::size_t size() const { return joint_.size(); }
  [[nodiscard]] int joint(std::size_t i) const { return joint_[i]; }
  [[nodiscard]] std::array<int, 2> bodies(std::size_t i) const { return {a_[i], b_[i]}; }
  [[nodiscard]] static bool same_shape(std::size_t, std::size_t) { return true; }

  template <class L, class Write>
  void rows(const Partners<L, 2>& body, const LaneIndex<L>& at, double, Write&& write) const {
    write(distance_row(JointPoint<L>(*body[0], *body[1], gather<L>(r_a_, at), gather<L>(r_b_, at)), L(gather<L>(length_, at))));
  }

  [[nodiscard]] Mat12 hessian(std::size_t i, const Partners<double, 2>& body, double, std::span<const double> lambda) const {
    Mat12 H = Mat12::Zero();
    const JointPoint<double> point(*body[0], *body[1], r_a_[i], r_b_[i]);
    add_distance_hessian(lambda[0], point.e, point.rho_a, point.rho_b, H);
    return H;
  }
  [[nodiscard]] Vec3 lever(std::size_t i, const Partners<double, 2>& body, bool second) const {
    return second ? Vec3(body[1]->R * r_b_[i]) : Vec3(body[0]->R * r_a_[i]);
  }
  /// Slides the child along the rod to the right distance.
  static void place(const Joint& joint, const Pose& F_A, const Pose& F_B, bool child_is_b, Pose& child) {
    const Vec3 e = F_A.position - F_B.position;
    const Vec3 correction = e * ((joint.length - e.norm()) / e.norm());
    child.position += child_is_b ? Vec3(-correction) : correction;
  }
  void renumber(std::span<const int> body, std::span<const int> joint) {
    renumber_all(body, a_);
    renumber_all(body, b_);
    renumber_all(joint, joint_);
  }

 private:
  std::vector<int> joint_, a_, b_;
  std::vector<Vec3> r_a_, r_b_;
  std::vector<double> length_;
};

}  // namespace rotule
