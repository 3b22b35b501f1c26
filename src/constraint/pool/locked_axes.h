#pragma once
// Two bodies with a frame each, some of whose six axes are locked: ball, hinge, slider, cylindrical, universal, planar, weld,
// point on line. Motors, limits and springs act on the axes that are left free (drive.h); those that a drive can hold have rows
// too, behind the others.
#include "constraint/pool/drive.h"
#include "constraint/pool/pool.h"

namespace rotule {

class LockedAxesPool {
 public:
  static constexpr int partners = 2;
  static constexpr bool in_lanes = true, places = true;

  static bool takes(const Joint& joint) {
    return std::find(joint.locked.begin(), joint.locked.end(), true) != joint.locked.end();
  }
  void add(const Model& model, int index);
  /// Rows for the driven axes of the joint added last.
  void add_driven(bool switching);
  [[nodiscard]] std::span<DrivenAxis> driven(std::size_t i) {
    return {driven_.data() + first_driven_[i], driven_.data() + first_driven_[i + 1]};
  }
  [[nodiscard]] std::span<const DrivenAxis> driven(std::size_t i) const {
    return {driven_.data() + first_driven_[i], driven_.data() + first_driven_[i + 1]};
  }
  [[nodiscard]] std::size_t size() const { return joint_.size(); }
  [[nodiscard]] int joint(std::size_t i) const { return joint_[i]; }
  [[nodiscard]] std::array<int, 2> bodies(std::size_t i) const { return {a_[i], b_[i]}; }
  [[nodiscard]] bool same_shape(std::size_t i, std::size_t j) const;

  template <class L, class Write>
  void rows(const Partners<L, 2>& body, const LaneIndex<L>& at, [[maybe_unused]] double t, Write&& write) const {
    const BodyLanes<L>&a = *body[0], &b = *body[1];
    const std::size_t i = at[0];
    const JointPoint<L> point(a, b, gather<L>(r_a_, at), gather<L>(r_b_, at));
    const auto& axes_a = gather<L>(axes_a_, at);
    const auto& axes_b = gather<L>(axes_b_, at);
    if (is_point(slides_[i])) {
      for (int k = 0; k < 3; ++k) write(point_row(point, k));
    } else {
      for (int k = 0; k < 3; ++k)
        if (slides_[i][k]) write(slide_row<L>(point, a, a.R * axes_a.col(k)));
    }
    for (int n = 0; n < aligned_count_[i]; ++n) {
      const auto [of_a, of_b] = aligned_[i][n];
      write(align_row<L>(a, b, a.R * axes_a.col(of_a), b.R * axes_b.col(of_b)));
    }
    if constexpr (std::is_same_v<L, double>)
      for (const DrivenAxis& axis : driven(i)) write(driven_row(model_->joints[joint_[i]], axis, a, b, t));
  }

  [[nodiscard]] Mat12 hessian(std::size_t i, const Partners<double, 2>& body, double t, std::span<const double> lambda) const;
  [[nodiscard]] Vec3 lever(std::size_t i, const Partners<double, 2>& body, bool second) const {
    return second ? Vec3(body[1]->R * r_b_[i]) : Vec3(body[0]->R * r_a_[i]);
  }
  /// The child's pose such that the joint is closed; F_A and F_B are its frames as the partners carry them.
  static void place(const Joint& joint, const Pose& F_A, const Pose& F_B, bool child_is_b, Pose& child);
  void renumber(std::span<const int> body, std::span<const int> joint);

 private:
  struct AxisPair {
    std::int8_t of_a, of_b;  // these axes of the two frames stay perpendicular
  };
  static bool is_point(const std::array<bool, 3>& slides) { return slides[0] && slides[1] && slides[2]; }
  static int align_axes(const Joint& joint, std::array<AxisPair, 3>& pairs);

  std::vector<int> joint_, a_, b_;
  std::vector<Vec3> r_a_, r_b_;
  std::vector<Mat3> axes_a_, axes_b_;             // frame axes as columns, in body axes
  std::vector<std::array<bool, 3>> slides_;       // locked translations; all three together are a point in common
  std::vector<std::array<AxisPair, 3>> aligned_;  // locked rotations, `aligned_count_` of them
  std::vector<std::int8_t> aligned_count_;
  const Model* model_ = nullptr;    // whose drives may be changed between steps
  std::vector<DrivenAxis> driven_;  // of all joints, one after the other
  std::vector<std::size_t> first_driven_{0};
};

}  // namespace rotule
