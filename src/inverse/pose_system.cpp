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

constexpr int most_stop_rounds = 30;     // of putting stops in force and letting them go, within one solve
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
  std::vector<int> tying, bounding;
  for (int j = 0; j < static_cast<int>(model_.joints.size()); ++j) {
    bool any = false;
    for_each_partner(model_.joints[j], [&](int partner) { any = any || model_.movable(partner); });
    if (any) (one_sided(model_.joints[j]) ? bounding : tying).push_back(j);
  }
  joints_ = ConstraintSet(model_, tying, local);
  limits_of_joint_.resize(model_.joints.size());
  if (settings.limits) {
    add_bounds(bounding);
    add_limits(tying);
  }

  // Rows: joints, targets, stops.
  problem_.blocks = joints_.blocks();
  problem_.more = joints_.more();
  problem_.J_more.resize(joints_.more_rows(), 6);
  const int row = append_stops(targets_.append_blocks(local, joints_.rows(), problem_));
  problem_.resize(static_cast<int>(bodies_.size()), row);
  for (Mat6& W : problem_.inverse_mass) W.setZero();
  values_.resize(joints_.rows());
  x_.setZero(row);
  local_.setZero(6 * static_cast<Eigen::Index>(bodies_.size()));
  move_.setZero(start_.u.size());
  try {
    placements_ = order_of_ties(model_);
    tree_ = true;
  } catch (const Error&) {
    tree_ = false;  // loops, or joints without a pose to place: Newton's method closes them
  }
  for (const Joint& joint : model_.joints)
    for (const Joint::AxisDrive& each : joint.drives) tree_ = tree_ && !each.drive.motion;
}

void PoseSystem::add_bounds(std::span<const int> joints) {
  bounds_ = ConstraintSet(model_, joints, local_of_);
  room_.resize(bounds_.rows());
  // What bounds a velocity leaves poses as they are.
  for (const ConstraintBlock& block : bounds_.blocks())
    for (const char on_velocity : model_.joints[block.source].equations->on_velocities)
      stops_.push_back({.joint = block.source, .lower = on_velocity != 0 ? -infinity : 0});
}

void PoseSystem::add_limits(std::span<const int> joints) {
  for (const int j : joints) {
    const Joint& joint = model_.joints[j];
    for (const Joint::AxisDrive& each : joint.drives) {
      if ((!each.drive.lower && !each.drive.upper) || !has_coordinate(joint, each.axis)) continue;
      limits_of_joint_[j].push_back(static_cast<int>(stops_.size()));
      stops_.push_back({j, each.axis, each.drive.lower.value_or(-infinity), each.drive.upper.value_or(infinity)});
    }
  }
}

int PoseSystem::append_stops(int row) {
  first_stop_ = row;
  first_more_stop_ = static_cast<int>(problem_.J_more.rows());
  gradients_.blocks = bounds_.blocks();
  gradients_.more = bounds_.more();
  const auto place = [&](int body) { return body == world_body ? -1 : local_of_[body]; };
  for (std::size_t k = bounds_.rows(); k < stops_.size(); ++k) {
    const Joint& joint = model_.joints[stops_[k].joint];
    gradients_.blocks.push_back({static_cast<int>(k), 1, place(joint.a), place(joint.b), stops_[k].joint});
  }
  const auto first_partner = static_cast<std::int32_t>(problem_.more.size());
  for (BlockPartner partner : gradients_.more) {
    partner.first += first_more_stop_;
    problem_.more.push_back(partner);
  }
  for (std::size_t n = 0; n < gradients_.blocks.size(); ++n) {
    ConstraintBlock block = gradients_.blocks[n];
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) stops_[r].block = static_cast<int>(n);
    block.first_row += first_stop_;
    block.first_more += first_partner;
    problem_.blocks.push_back(block);
  }
  const auto rows = static_cast<Eigen::Index>(stops_.size());
  for (JacobianRows* J : {&gradients_.J_a, &gradients_.J_b}) J->setZero(rows, 6);
  gradients_.J_more.setZero(bounds_.more_rows(), 6);
  problem_.J_more.conservativeResize(first_more_stop_ + bounds_.more_rows(), 6);
  return row + static_cast<int>(rows);
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
  evaluate_stops();
  for (const Stop& stop : stops_) out.limits = std::max({out.limits, stop.lower - stop.q, stop.q - stop.upper});
  return out;
}

void PoseSystem::evaluate_stops() {
  bounds_.evaluate(kinematics_, t_, gradients_, room_);
  for (std::size_t k = 0; k < stops_.size(); ++k) {
    Stop& stop = stops_[k];
    const auto row = static_cast<Eigen::Index>(k);
    if (stop.axis < 0) {
      stop.q = room_.C[row];
      continue;
    }
    const DriveAxis<double> axis = drive_axis(model_.joints[stop.joint], stop.axis, kinematics_);
    stop.q = axis.q;
    gradients_.J_a.row(row) << axis.linear_a.transpose(), axis.angular_a.transpose();
    gradients_.J_b.row(row) << axis.linear_b.transpose(), axis.angular_b.transpose();
  }
}

double PoseSystem::target_error(int target) const {
  const auto [first, rows] = targets_.range(target);
  return errors_.segment(first, rows).norm();
}

std::vector<std::string> PoseSystem::joints_at_limits() const {
  std::vector<std::string> out;
  for (const Stop& stop : stops_)
    if (stop.q < stop.lower + at_limit || stop.q > stop.upper - at_limit) out.push_back(model_.joints[stop.joint].name);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void PoseSystem::put_stop(std::size_t k) {
  const Stop& stop = stops_[k];
  const int from = static_cast<int>(k), to = first_stop_ + from;
  const bool held = stop.held != 0;
  const auto put = [&](const JacobianRows& gradients, int row, JacobianRows& J, int at) {
    if (held)
      J.row(at) = gradients.row(row);
    else
      J.row(at).setZero();
  };
  put(gradients_.J_a, from, problem_.J_a, to);
  put(gradients_.J_b, from, problem_.J_b, to);
  const ConstraintBlock& block = gradients_.blocks[stop.block];
  for (int n = block.first_more; n < block.first_more + block.more_count; ++n) {
    const int row = gradients_.more[n].first + from - block.first_row;
    put(gradients_.J_more, row, problem_.J_more, first_more_stop_ + row);
  }
  problem_.b[to] = held ? (stop.held < 0 ? stop.lower : stop.upper) - stop.q : 0;
  problem_.C[to] = held ? 0 : 1;
}

void PoseSystem::solve_rows() {
  rotule::solve(problem_, solver_named("ldlt"), workspace_, view(x_), report_);
  local_.setZero();
  apply_impulses(problem_, view(x_), view(local_));
}

bool PoseSystem::change_stops(bool may_release) {
  bool changed = false;
  for (std::size_t k = 0; k < stops_.size(); ++k) {
    Stop& stop = stops_[k];
    const auto row = static_cast<int>(k);
    if (stop.held == 0) {
      const double q = stop.q + row_velocity(gradients_, gradients_.blocks[stop.block], row, view(local_));
      stop.held = q < stop.lower - at_limit ? -1 : q > stop.upper + at_limit ? 1 : 0;
      if (stop.held == 0) continue;
    } else {
      // A stop pushes: up at the lower one, down at the upper one.
      if (!may_release || stop.held * x_[first_stop_ + row] <= 0) continue;
      stop.held = 0;
    }
    put_stop(k);
    changed = true;
  }
  return changed;
}

void PoseSystem::stiffen(double damping) {
  const auto count = static_cast<int>(bodies_.size());
  if (lambda_.size() > 0) {
    lump_stiffness(joints_, kinematics_, t_, lambda_, count, stiffness_);
    if (bounds_.rows() > 0) {
      lump_stiffness(bounds_, kinematics_, t_, pressing_, count, of_bounds_);
      for (int i = 0; i < count; ++i) {
        stiffness_.linear[i] += of_bounds_.linear[i];
        stiffness_.angular[i] += of_bounds_.angular[i];
      }
    }
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
  for (std::size_t k = 0; k < stops_.size(); ++k) put_stop(k);
  solve_rows();
  // Stops that pull are let go in the first rounds alone, so that it ends.
  for (int round = 0; round < most_stop_rounds && change_stops(round < most_stop_rounds / 2); ++round) solve_rows();

  move_.setZero();
  for (std::size_t i = 0; i < bodies_.size(); ++i) slots_[i].write(local_.segment<6>(6 * i), move_);
  double after = 0, before = 0;
  if (damping > 0) {
    lambda_ = damping * response_ * x_.head(joints_.rows());
    pressing_ = damping * response_ * x_.segment(first_stop_, bounds_.rows());
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
  if (stops_.empty()) {
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
    const Stop& limit = stops_[k];
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
