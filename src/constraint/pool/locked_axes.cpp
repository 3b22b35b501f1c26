#include "constraint/pool/locked_axes.h"

#include "math/pose.h"
#include "math/rotation.h"

namespace rotule {

/// Which frame axes must stay perpendicular so that the locked rotations cannot happen. Two locked: the free axis of a against
/// the two others of b, which stays regular however far the joint turns. One or three: cyclic pairs.
int LockedAxesPool::align_axes(const Joint& joint, std::array<AxisPair, 3>& pairs) {
  const auto locked = [&](int k) { return joint.locked[3 + k]; };
  const int count = locked(0) + locked(1) + locked(2);
  int n = 0;
  for (std::int8_t k = 0; k < 3; ++k) {
    const auto i = static_cast<std::int8_t>((k + 1) % 3), j = static_cast<std::int8_t>((k + 2) % 3);
    if (count == 2) {
      if (!locked(k)) {
        pairs[n++] = {k, i};
        pairs[n++] = {k, j};
      }
    } else if (locked(k)) {
      pairs[n++] = {i, j};
    }
  }
  return n;
}

void LockedAxesPool::add(const Model& model, int index) {
  const Joint& joint = model.joints[index];
  joint_.push_back(index);
  a_.push_back(joint.a);
  b_.push_back(joint.b);
  r_a_.push_back(joint.X_A.position);
  r_b_.push_back(joint.X_B.position);
  axes_a_.push_back(joint.X_A.orientation.toRotationMatrix());
  axes_b_.push_back(joint.X_B.orientation.toRotationMatrix());
  slides_.push_back({joint.locked[0], joint.locked[1], joint.locked[2]});
  aligned_.emplace_back();
  aligned_count_.push_back(static_cast<std::int8_t>(align_axes(joint, aligned_.back())));
  model_ = &model;
  first_driven_.push_back(driven_.size());
}

void LockedAxesPool::add_driven(bool switching) {
  const Joint& joint = model_->joints[joint_.back()];
  for (int k = 0; k < static_cast<int>(joint.drives.size()); ++k)
    if (const Drive& drive = joint.drives[k].drive; has_row(drive, switching))
      driven_.push_back({.drive = k, .in_force = drive.motion.has_value()});
  first_driven_.back() = driven_.size();
}

bool LockedAxesPool::same_shape(std::size_t i, std::size_t j) const {
  if (slides_[i] != slides_[j] || aligned_count_[i] != aligned_count_[j]) return false;
  if (i != j && (!driven(i).empty() || !driven(j).empty())) return false;
  for (int n = 0; n < aligned_count_[i]; ++n)
    if (aligned_[i][n].of_a != aligned_[j][n].of_a || aligned_[i][n].of_b != aligned_[j][n].of_b) return false;
  return true;
}

Mat12 LockedAxesPool::hessian(std::size_t i, const Partners<double, 2>& body, double, std::span<const double> lambda) const {
  Mat12 H = Mat12::Zero();
  const BodyLanes<double>&a = *body[0], &b = *body[1];
  const JointPoint<double> point(a, b, r_a_[i], r_b_[i]);
  int r = 0;
  if (is_point(slides_[i])) {
    add_point_hessian(Vec3(lambda[0], lambda[1], lambda[2]), point.rho_a, point.rho_b, H);
    r = 3;
  } else {
    for (int k = 0; k < 3; ++k)
      if (slides_[i][k]) add_slide_hessian(lambda[r++], a.R * axes_a_[i].col(k), point.e - point.rho_a, point.rho_b, H);
  }
  for (int n = 0; n < aligned_count_[i]; ++n) {
    const auto [of_a, of_b] = aligned_[i][n];
    add_align_hessian(lambda[r++], a.R * axes_a_[i].col(of_a), b.R * axes_b_[i].col(of_b), H);
  }
  for (const DrivenAxis& axis : driven(i)) add_driven_hessian(model_->joints[joint_[i]], axis, a, b, lambda[r++], H);
  return H;
}

namespace {

/// The nearest relative pose that the joint allows: X is frame B seen from frame A.
Pose allowed(const Joint& joint, Pose X) {
  for (int k = 0; k < 3; ++k)
    if (joint.locked[k]) X.position[k] = 0;
  const int rotations = joint.locked[3] + joint.locked[4] + joint.locked[5];
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = Vec3::Unit(k);
    if (rotations == 3) {
      X.orientation = Quat::Identity();
    } else if (rotations == 2 && !joint.locked[3 + k]) {
      X.orientation = rotation_between(X.orientation * axis, axis) * X.orientation;
    } else if (rotations == 1 && joint.locked[3 + k]) {
      // The next axis of A and the one after it of B stay perpendicular: turn the latter out of the former.
      const Vec3 of_a = Vec3::Unit((k + 1) % 3);
      const Vec3 of_b = X.orientation * Vec3::Unit((k + 2) % 3);
      const Vec3 perpendicular = of_b - of_b.dot(of_a) * of_a;
      X.orientation = rotation_between(of_b, perpendicular) * X.orientation;
    }
  }
  return X;
}

}  // namespace

void LockedAxesPool::place(const Joint& joint, const Pose& F_A, const Pose& F_B, bool child_is_b, Pose& child) {
  const Pose X = allowed(joint, inverse(F_A) * F_B);
  child = child_is_b ? F_A * X * inverse(joint.X_B) : F_B * inverse(X) * inverse(joint.X_A);
  child.orientation.normalize();
}

void LockedAxesPool::renumber(std::span<const int> body, std::span<const int> joint) {
  renumber_all(body, a_);
  renumber_all(body, b_);
  renumber_all(joint, joint_);
}

}  // namespace rotule
