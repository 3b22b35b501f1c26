#include "mechanism/joint_limits.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

namespace rotule {

namespace {
constexpr double still = 1e-12;      // rad, m: what a limit may be approached by in a step and count as at rest
constexpr double negligible = 1e-9;  // of the largest acceleration: no push
}  // namespace

bool JointLimits::only_limits(const Joint& joint) {
  if (joint.drives.size() != 1 || std::count(joint.locked.begin(), joint.locked.end(), false) != 1) return false;
  const Drive& drive = joint.drives.front().drive;
  return drive.motor_strength == 0 && drive.friction == 0 && drive.stiffness == 0 && drive.damping == 0;
}

JointLimits::JointLimits(const Model& model)
    : model_(&model), any_(std::any_of(model.joints.begin(), model.joints.end(), only_limits)) {}

void JointLimits::evaluate(const State& s) {
  kinematics_.update(*model_, s);
  evaluate_drives(*model_, kinematics_, 1, rows_);
}

double JointLimits::along(const DriveRow& row, const VecX& u) const {
  double out = 0;
  for (const auto& [body, J] : {std::pair(row.a, &row.J_a), std::pair(row.b, &row.J_b)})
    if (model_->movable(body) || model_->kinematic(body)) out += J->dot(u.segment<6>(6 * body));
  return out;
}

double JointLimits::bias(const DriveRow& row) const {
  const Vec3 n = row.J_b.head<3>();
  if (n.isZero(0)) return 0;  // about an axis that both bodies share
  const Joint& joint = model_->joints[row.joint];
  const BodyLanes<double>&A = kinematics_[row.a], &B = kinematics_[row.b];
  const Vec3 x = B.p + B.R * joint.X_B.position;
  return n.dot(B.omega.cross(B.omega.cross(x - B.p)) - A.omega.cross(A.omega.cross(x - A.p)));
}

void JointLimits::solve(JointedMechanism& mechanism, const State& s, double t, const VecX& udot) {
  const auto count = static_cast<Eigen::Index>(held_.size());
  response_.resize(held_.size());
  matrix_.resize(count, count);
  rhs_.resize(count);
  external_ = mechanism.external;
  for (std::size_t k = 0; k < held_.size(); ++k) {
    const DriveRow& row = rows_[held_[k]];
    if (model_->movable(row.a)) mechanism.external.segment<6>(6 * row.a) += row.J_a;
    if (model_->movable(row.b)) mechanism.external.segment<6>(6 * row.b) += row.J_b;
    mechanism.accelerations(t, s, response_[k]);
    mechanism.external = external_;
    response_[k] -= udot;
  }
  for (Eigen::Index i = 0; i < count; ++i) {
    const DriveRow& row = rows_[held_[i]];
    for (Eigen::Index j = 0; j < count; ++j) matrix_(i, j) = along(row, response_[j]);
    rhs_[i] = -(along(row, udot) + bias(row));
  }
  force_ = matrix_.fullPivLu().solve(rhs_);
}

void JointLimits::find_held(JointedMechanism& mechanism, const State& s, double t, double room, double rate) {
  held_.clear();
  evaluate(s);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (-rows_[i].overshoot < room && std::abs(along(rows_[i], s.u)) < rate) held_.push_back(static_cast<int>(i));
  if (held_.empty()) return;
  // Those that would have to pull let go, one after the other.
  mechanism.accelerations(t, s, scratch_);
  const double least = negligible * scratch_.cwiseAbs().maxCoeff();
  while (!held_.empty()) {
    solve(mechanism, s, t, scratch_);
    std::size_t worst = 0;
    const auto push = [&](std::size_t k) { return force_[k] * matrix_(k, k); };
    for (std::size_t k = 1; k < held_.size(); ++k)
      if (push(k) < push(worst)) worst = k;
    if (push(worst) > least) break;
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(worst));
  }
}

void JointLimits::hold(JointedMechanism& mechanism, const State& s, double t, VecX& udot) {
  if (held_.empty()) return;
  evaluate(s);
  solve(mechanism, s, t, udot);
  for (std::size_t k = 0; k < held_.size(); ++k) udot += force_[k] * response_[k];
}

double JointLimits::event(JointedMechanism& mechanism, const State& s, double t, double h) {
  evaluate(s);
  double least = infinity;
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (std::find(held_.begin(), held_.end(), static_cast<int>(i)) == held_.end())
      least = std::min(least, std::max(-rows_[i].overshoot, h * along(rows_[i], s.u) + still));
  if (held_.empty()) return least;
  mechanism.accelerations(t, s, scratch_);
  const double nothing = negligible * scratch_.cwiseAbs().maxCoeff();
  solve(mechanism, s, t, scratch_);
  for (std::size_t k = 0; k < held_.size(); ++k) least = std::min(least, h * h * (force_[k] * matrix_(k, k) + nothing));
  return least;
}

void JointLimits::find_struck(const State& s, std::vector<ShockPoint>& points, double slack) {
  evaluate(s);
  for (const DriveRow& row : rows_) {
    if (-row.overshoot >= slack || along(row, s.u) >= 0) continue;
    const bool first = model_->movable(row.a), second = model_->movable(row.b);
    ShockPoint point;
    point.limit = true;
    point.body = first ? row.a : row.b;
    point.J_body = first ? row.J_a : row.J_b;
    if (first && second) {
      point.other = row.b;
      point.J_other = row.J_b;
    }
    point.given = row.given;
    points.push_back(point);
  }
}

}  // namespace rotule
