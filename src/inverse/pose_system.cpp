#include "inverse/pose_system.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "base/text.h"
#include "constraint/pool/pools.h"
#include "math/pose.h"
#include "model/solver_list.h"
#include "problem/operators.h"
#include "solve/solve.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr int most_limit_rounds = 30;    // of putting stops in force and letting them go, within one solve
constexpr int most_closing_rounds = 30;  // of Newton's method on loops
// Of masses against moments of inertia in the damped iteration. With its whole mass in the way, the first thousand links of a
// chain would rather stay where they are while the last few turn round and round.
constexpr double travel_share = 1e-4;
constexpr double at_limit = 1e-9;  // rad, m: what counts as standing at a stop

/// The model with some bodies held.
Model held_model(const World& world, std::span<const std::string> hold) {
  static_cast<void>(world.islands());  // makes the stepper, and with it the inertia of point masses
  Model model = implementation_of(world).model;
  for (const std::string& name : hold) {
    const auto found = std::find_if(model.bodies.begin(), model.bodies.end(), [&](const Body& b) { return b.name == name; });
    if (found == model.bodies.end()) {
      std::vector<std::string> names;
      for (const Body& body : model.bodies) names.push_back(body.name);
      throw Error("hold", fmt::format("there is no body {}; {}", in_quotes(name), suggestion(name, names)));
    }
    found->fixed = true;
    model.inverse_mass[found - model.bodies.begin()] = 0;
    model.inverse_inertia[found - model.bodies.begin()].setZero();
  }
  return model;
}

}  // namespace

PoseSystem::PoseSystem(const World& world, std::span<const Target> targets, const InverseSettings& settings)
    : model_(held_model(world, settings.hold)),
      start_(implementation_of(world).state),
      t_(world.time()),
      targets_(model_, targets) {
  std::vector<int>& local = local_of_;
  local.assign(model_.partner_count(), -1);
  for (int i = 0; i < model_.partner_count(); ++i) {
    if (!model_.movable(i)) continue;
    local[i] = static_cast<int>(bodies_.size());
    bodies_.push_back(i);
    slots_.push_back(model_.slot(i));
  }
  if (bodies_.empty()) throw Error("inverse kinematics", "nothing can move; hold fewer bodies");
  std::vector<int> moving;
  for (int j = 0; j < static_cast<int>(model_.joints.size()); ++j) {
    bool any = false;
    for_each_partner(model_.joints[j], [&](int partner) { any = any || model_.movable(partner); });
    if (any) moving.push_back(j);
  }
  joints_ = ConstraintSet(model_, moving, local);

  limits_of_joint_.resize(model_.joints.size());
  if (settings.limits)
    for (const int j : moving) {
      const Joint& joint = model_.joints[j];
      for (const Joint::AxisDrive& each : joint.drives) {
        if ((!each.drive.lower && !each.drive.upper) || !has_coordinate(joint, each.axis)) continue;
        limits_of_joint_[j].push_back(static_cast<int>(limits_.size()));
        limits_.push_back({j, each.axis, each.drive.lower.value_or(-infinity), each.drive.upper.value_or(infinity)});
      }
    }

  // Rows: joints, targets, limits.
  problem_.blocks = joints_.blocks();
  problem_.more = joints_.more();
  problem_.J_more.resize(joints_.more_rows(), 6);
  int row = targets_.append_blocks(local, joints_.rows(), problem_);
  for (const Limit& limit : limits_) {
    const Joint& joint = model_.joints[limit.joint];
    const auto place = [&](int body) { return body == world_body ? -1 : local[body]; };
    problem_.blocks.push_back({row++, 1, place(joint.a), place(joint.b), limit.joint});
  }
  problem_.resize(static_cast<int>(bodies_.size()), row);
  for (Mat6& W : problem_.inverse_mass) W.setZero();
  values_.resize(joints_.rows());
  x_.setZero(row);
  local_.setZero(6 * static_cast<Eigen::Index>(bodies_.size()));
  move_.setZero(start_.u.size());
  try {
    placements_ = placement_order(model_);
    tree_ = true;
  } catch (const Error&) {
    tree_ = false;  // loops, or joints without a pose to place: Newton's method closes them
  }
  for (const Joint& joint : model_.joints)
    for (const Joint::AxisDrive& each : joint.drives) tree_ = tree_ && !each.drive.motion;
}

PoseSystem::Errors PoseSystem::evaluate(const State& s) {
  kinematics_.update(model_, s, t_);
  joints_.evaluate(kinematics_, t_, problem_, values_);
  targets_.evaluate(kinematics_, problem_, errors_);
  for (std::size_t i = 0; i < bodies_.size(); ++i) kinematics_.write_inverse_mass(model_, bodies_[i], problem_.inverse_mass[i]);
  Errors out;
  double reach = 0;
  for (const BodyLanes<double>& body : kinematics_.bodies) reach = std::max(reach, body.p.cwiseAbs().maxCoeff());
  rounding_ = 4 * std::numeric_limits<double>::epsilon() * reach;
  if (joints_.rows() > 0) out.joints = values_.C.cwiseAbs().maxCoeff();
  if (targets_.rows() > 0) out.targets = errors_.cwiseAbs().maxCoeff();
  response_ = 0;
  for (int k = 0; k < targets_.count(); ++k) {
    const auto [first, rows] = targets_.range(k);
    const double w = targets_.weight(k);
    out.weighted += 0.5 * w * w * errors_.segment(first, rows).squaredNorm();
    const ConstraintBlock& block = problem_.blocks[joints_.blocks().size() + k];
    for (int r = block.first_row; r < block.first_row + rows; ++r)
      response_ = std::max(response_, w * w * diagonal_entry(problem_, block, r));
  }
  for (Limit& limit : limits_) {
    limit.now = drive_axis(model_.joints[limit.joint], limit.axis, kinematics_);
    const double beyond_limit = std::max(limit.lower - limit.now.q, limit.now.q - limit.upper);
    out.limits = std::max(out.limits, beyond_limit);
  }
  return out;
}

double PoseSystem::target_error(int target) const {
  const auto [first, rows] = targets_.range(target);
  return errors_.segment(first, rows).norm();
}

std::vector<std::string> PoseSystem::joints_at_limits() const {
  std::vector<std::string> out;
  for (const Limit& limit : limits_)
    if (limit.now.q < limit.lower + at_limit || limit.now.q > limit.upper - at_limit)
      out.push_back(model_.joints[limit.joint].name);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void PoseSystem::put_limit(std::size_t k) {
  const Limit& limit = limits_[k];
  const int row = joints_.rows() + targets_.rows() + static_cast<int>(k);
  if (limit.held == 0) {
    problem_.J_a.row(row).setZero();
    problem_.J_b.row(row).setZero();
    problem_.b[row] = 0;
    problem_.C[row] = 1;
    return;
  }
  problem_.J_a.row(row) << limit.now.linear_a.transpose(), limit.now.angular_a.transpose();
  problem_.J_b.row(row) << limit.now.linear_b.transpose(), limit.now.angular_b.transpose();
  problem_.b[row] = (limit.held < 0 ? limit.lower : limit.upper) - limit.now.q;
  problem_.C[row] = 0;
}

void PoseSystem::solve_rows() {
  rotule::solve(problem_, solver_named("ldlt"), workspace_, view(x_), report_);
  local_.setZero();
  apply_impulses(problem_, view(x_), view(local_));
}

double PoseSystem::along(std::size_t limit) const {
  const Limit& l = limits_[limit];
  const ConstraintBlock& block = problem_.blocks[joints_.blocks().size() + targets_.count() + limit];
  double out = 0;
  if (block.body_a >= 0)
    out += l.now.linear_a.dot(local_.segment<3>(6 * block.body_a)) + l.now.angular_a.dot(local_.segment<3>(6 * block.body_a + 3));
  if (block.body_b >= 0)
    out += l.now.linear_b.dot(local_.segment<3>(6 * block.body_b)) + l.now.angular_b.dot(local_.segment<3>(6 * block.body_b + 3));
  return out;
}

bool PoseSystem::change_limits(bool may_release) {
  bool changed = false;
  for (std::size_t k = 0; k < limits_.size(); ++k) {
    Limit& limit = limits_[k];
    const double x = x_[joints_.rows() + targets_.rows() + static_cast<Eigen::Index>(k)];
    if (limit.held == 0) {
      const double q = limit.now.q + along(k);
      limit.held = q < limit.lower - at_limit ? -1 : q > limit.upper + at_limit ? 1 : 0;
      if (limit.held == 0) continue;
    } else {
      // A stop pushes: up at the lower one, down at the upper one.
      if (!may_release || limit.held * x <= 0) continue;
      limit.held = 0;
    }
    put_limit(k);
    changed = true;
  }
  return changed;
}

void PoseSystem::stiffen(double damping) {
  const auto count = static_cast<int>(bodies_.size());
  if (lambda_.size() > 0) {
    lump_stiffness(joints_, kinematics_, t_, lambda_, count, stiffness_);
  } else {
    stiffness_.linear.assign(count, Mat3::Zero());
    stiffness_.angular.assign(count, Mat3::Zero());
  }
  targets_.add_stiffness(kinematics_, local_of_, errors_, stiffness_);
  for (int i = 0; i < count; ++i) {
    const int body = bodies_[i];
    const Mat3& R = kinematics_.bodies[body].R;
    const double m = model_.mass(body);
    const Mat3 I = model_.is_particle(body) ? Mat3(m * Mat3::Identity()) : Mat3(R * model_.inertia[body] * R.transpose());
    problem_.inverse_mass[i].topLeftCorner<3, 3>() =
        (travel_share * m * Mat3::Identity() + stiffness_.linear[i] / damping).inverse();
    problem_.inverse_mass[i].bottomRightCorner<3, 3>() = (I + stiffness_.angular[i] / damping).inverse();
  }
}

double PoseSystem::solve(double damping) {
  if (damping > 0) stiffen(damping * response_);
  problem_.b.head(joints_.rows()) = -values_.C;
  problem_.C.head(joints_.rows()).setZero();
  problem_.b.segment(joints_.rows(), targets_.rows()) = -errors_;
  for (int k = 0; k < targets_.count(); ++k) {
    const auto [first, rows] = targets_.range(k);
    const double w = targets_.weight(k);
    problem_.C.segment(joints_.rows() + first, rows).setConstant(damping * response_ / (w * w));
  }
  for (std::size_t k = 0; k < limits_.size(); ++k) put_limit(k);
  solve_rows();
  // Stops that pull are let go in the first rounds alone, so that it ends.
  for (int round = 0; round < most_limit_rounds && change_limits(round < most_limit_rounds / 2); ++round) solve_rows();

  move_.setZero();
  for (std::size_t i = 0; i < bodies_.size(); ++i) slots_[i].write(local_.segment<6>(6 * i), move_);
  double after = 0, before = 0;
  if (damping > 0) {
    lambda_ = damping * response_ * x_.head(joints_.rows());
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const Vec3 d = local_.segment<3>(6 * i), turned = local_.segment<3>(6 * i + 3);
      after += 0.5 * (d.dot(stiffness_.linear[i] * d) + turned.dot(stiffness_.angular[i] * turned));
    }
  }
  for (int k = 0; k < targets_.count(); ++k) {
    const auto [first, rows] = targets_.range(k);
    const double w = targets_.weight(k);
    const ConstraintBlock& block = problem_.blocks[joints_.blocks().size() + k];
    for (int r = 0; r < rows; ++r) {
      const double e = errors_[first + r], moved = e + row_velocity(problem_, block, block.first_row + r, view(local_));
      before += 0.5 * w * w * e * e;
      after += 0.5 * w * w * moved * moved;
    }
  }
  return before - after;
}

void PoseSystem::solve_joints() {
  problem_.b.setZero();
  problem_.b.head(joints_.rows()) = -values_.C;
  problem_.C.head(joints_.rows()).setZero();
  const Eigen::Index rest = problem_.rows() - joints_.rows();
  problem_.C.tail(rest).setOnes();
  problem_.J_a.bottomRows(rest).setZero();
  problem_.J_b.bottomRows(rest).setZero();
  problem_.J_more.bottomRows(problem_.J_more.rows() - joints_.more_rows()).setZero();
  solve_rows();
  move_.setZero();
  for (std::size_t i = 0; i < bodies_.size(); ++i) slots_[i].write(local_.segment<6>(6 * i), move_);
}

double PoseSystem::largest_turn() const {
  double square = 0;
  for (int i = 0; i < model_.body_count(); ++i) square = std::max(square, move_.segment<3>(6 * i + 3).squaredNorm());
  return std::sqrt(square);
}

void PoseSystem::apply(double share, const State& s, State& out) const {
  displace(s, share * move_, out);
  if (!tree_) return;
  if (limits_.empty()) {
    place(model_, placements_, out);
    return;
  }
  for (const Placement& step : placements_) {
    place(model_, {step}, out);
    clamp_to_limits(step, out);
  }
}

void PoseSystem::clamp_to_limits(const Placement& step, State& s) const {
  const Joint& joint = model_.joints[step.joint];
  if (limits_of_joint_[step.joint].empty()) return;
  const int child = step.child_is_b ? joint.b : joint.a;
  const auto lanes = [&](int partner) {
    BodyLanes<double> out;
    if (partner == world_body) return out;
    out.p = s.p[partner];
    out.R = s.theta[partner].toRotationMatrix();
    return out;
  };
  for (const int k : limits_of_joint_[step.joint]) {
    const Limit& limit = limits_[k];
    const DriveAxis<double> axis = axis_of(joint, limit.axis, lanes(joint.a), lanes(joint.b));
    const double allowed = std::clamp(axis.q, limit.lower, limit.upper);
    if (allowed == axis.q) continue;
    const double back = allowed - axis.q;
    if (limit.axis < 3)
      s.p[child] += back * (step.child_is_b ? axis.linear_b : axis.linear_a);
    else
      s.theta[child] = turn(s.theta[child], back * (step.child_is_b ? axis.angular_b : axis.angular_a));
    place(model_, {step}, s);
  }
}

bool PoseSystem::close(State& s) {
  if (tree_) return true;
  double before = infinity;
  for (int round = 0;; ++round) {
    const double error = evaluate(s).joints;
    if (!(error > std::max(1e-13, rounding_))) return std::isfinite(error);
    if (round >= most_closing_rounds || (round >= 4 && error > 0.5 * before)) return error < 1e-9;
    before = error;
    solve_joints();
    const double turn = largest_turn();
    displace(s, std::min(1.0, 1.0 / std::max(turn, 1e-300)) * move_, s);
  }
}

void PoseSystem::nudge(double angle, State& s) const {
  // Directions that no symmetry of a mechanism shares: multiples of irrational numbers.
  State moved = s;
  VecX small = VecX::Zero(s.u.size());
  for (int i = 0; i < model_.body_count(); ++i) {
    if (!model_.movable(i)) continue;
    const double n = i + 1;
    small.segment<3>(6 * i + 3) = angle * Vec3(std::sin(1.7 * n * n), std::sin(2.3 * n * n + 1), std::sin(3.1 * n * n + 2));
  }
  displace(s, small, moved);
  s = moved;
  if (!tree_) return;
  for (const Placement& step : placements_) {
    place(model_, {step}, s);
    clamp_to_limits(step, s);
  }
}

}  // namespace rotule
