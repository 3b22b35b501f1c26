#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse_dynamics.h>

#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "base/text.h"
#include "base/workspace.h"
#include "constraint/constraint_set.h"
#include "constraint/joint_coordinates.h"
#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/force_set.h"
#include "dynamics/forces/gyroscopic.h"
#include "dynamics/forces/weight.h"
#include "inverse/ties.h"
#include "mechanism/coupled_masses.h"
#include "model/joint_kinds.h"
#include "model/solver_list.h"
#include "problem/operators.h"
#include "solve/solve.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr double sharing = 1e-5;   // compliance of motors over what they answer: which of many forces are found, not how well
constexpr int most_sharings = 40;  // rounds that take its error away
// What stands at a bound and stays there, so that the bound may push: the room, and the rate and acceleration beside those of the
// bodies.
constexpr double met_room = 1e-6, at_rest = 1e-6, still_rate = 1e-8, still_acceleration = 1e-9;
constexpr double no_push = 1e-9;  // of the largest force

/// Whether the scene has a motor on the axis.
bool has_motor(const Drive& drive) { return drive.motion || drive.motor_strength > 0 || drive.motor_torque != 0; }

/// What acts on the axis without its motor.
double passive_force(const Drive& drive, int axis, double q, double rate) {
  const double stretch = drive.stiffness > 0 ? beyond(q, drive.rest, axis >= 3) : 0;
  double force = -drive.stiffness * stretch - drive.damping * rate;
  if (drive.spring_strength > 0) force = std::clamp(force, -drive.spring_strength, drive.spring_strength);
  return force - (rate > 0 ? drive.friction : rate < 0 ? -drive.friction : 0);
}

bool framed(const Joint& joint) {
  return joint.more.empty() && !joint.function &&
         std::any_of(joint.locked.begin(), joint.locked.end(), [](bool locked) { return locked; });
}

}  // namespace

struct InverseDynamics::Inside {
  struct Axis {
    int joint = 0, axis = 0;
    int place = -1;  // among the actuators; -1 for an axis that nothing drives
    DriveAxis<double> now{0, Vec3::Zero(), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  };
  Model model;  // without motors
  State s;
  VecX external, udot, force;
  ForceScratch scratch;
  Kinematics kinematics;
  std::vector<Actuator> actuators;
  std::vector<Axis> axes;                 // all free ones of joints with frames
  std::vector<std::vector<int>> axes_of;  // per joint, in `axes`
  std::vector<int> actuated;              // per actuator, in `axes`
  InverseForces answer;

  bool tree = false;
  std::vector<Placement> order;  // parents first
  std::vector<char> carried;     // bodies that some joint of the order places

  ConstraintSet constraints, bounds;  // what is zero, and at least zero; rows of actuators follow
  std::vector<char> pushes;           // per row of bounds, whether it may in this motion
  std::vector<int> bodies;
  ConstraintProblem problem;
  SplitMass split;
  RowValues values;
  VecX x, step, rest, local, velocities;
  Workspace workspace;
  SolveReport report;

  Inside(const World& world, const InverseDynamicsSettings& settings);
  void find_axes();
  void choose(const std::vector<Actuator>& wanted);
  void assemble_rows();
  void read(const MotionState& motion);
  /// M u' - f of all bodies, into `force`.
  void required_forces(double t);
  /// Rows of what is at least zero; whether any of them is met and may push.
  bool meet_bounds(double t);
  void release(int bound_row);
  void walk();
  void solve_rows(double t);
  /// Forces x that explain as much as can be, motors sharing the work.
  void share(const VecX& wanted);
  void find_rates(VecX& rates);
  /// The problem with a mass for every body, whoever the fluid couples.
  const ConstraintProblem& solved() { return split.in_use() ? split.form(problem) : problem; }
  void report_joints(const ConstraintSet& set, int first_row);
  void put_joint(int j, const Vec3& F, const Vec3& T);
};

InverseDynamics::Inside::Inside(const World& world, const InverseDynamicsSettings& settings) {
  static_cast<void>(world.islands());  // makes the stepper, and with it the inertia of point masses
  const WorldImplementation& w = implementation_of(world);
  model = w.model;
  s = w.state;
  external = w.external;
  for (int k = 0; k < model.particle_count(); ++k)
    if (model.particles.movable(k)) throw Error("inverse dynamics", "knows bodies alone, and particles move in this scene");
  axes_of.resize(model.joints.size());
  find_axes();
  choose(settings.actuators);
  for (Joint& joint : model.joints)
    for (Joint::AxisDrive& each : joint.drives) {
      each.drive.motion.reset();
      each.drive.motor_strength = each.drive.motor_torque = 0;
    }
  try {
    order = order_of_ties(model);
    tree = !settings.by_rows && std::all_of(model.joints.begin(), model.joints.end(),
                                            [](const Joint& joint) { return framed(joint) || one_sided(joint); });
  } catch (const Error&) {
    tree = false;
  }
  carried.assign(model.body_count(), 0);
  for (const Placement& step_of : order) {
    const Joint& joint = model.joints[step_of.joint];
    carried[step_of.child_is_b ? joint.b : joint.a] = 1;
  }
  if (!tree || std::any_of(model.joints.begin(), model.joints.end(), one_sided)) assemble_rows();
  udot.setZero(model.velocity_count());
  answer.drives.resize(actuators.size());
  answer.joints.resize(model.joints.size());
}

void InverseDynamics::Inside::find_axes() {
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (!framed(model.joints[j])) continue;
    for (const int axis : free_axes(model, model.joints[j])) {
      axes_of[j].push_back(static_cast<int>(axes.size()));
      axes.push_back({j, axis});
    }
  }
}

void InverseDynamics::Inside::choose(const std::vector<Actuator>& wanted) {
  const auto take = [&](int k) {
    if (axes[k].place >= 0) return;
    axes[k].place = static_cast<int>(actuators.size());
    actuators.push_back({model.joints[axes[k].joint].name, std::string(axis_names[axes[k].axis])});
    actuated.push_back(k);
  };
  for (const Actuator& actuator : wanted) {
    const auto found =
        std::find_if(model.joints.begin(), model.joints.end(), [&](const Joint& j) { return j.name == actuator.joint; });
    if (found == model.joints.end()) {
      std::vector<std::string> names;
      for (const Joint& joint : model.joints) names.push_back(joint.name);
      throw Error("actuator",
                  fmt::format("there is no joint {}; {}", in_quotes(actuator.joint), suggestion(actuator.joint, names)));
    }
    bool any = false;
    std::vector<std::string> names;
    for (const int k : axes_of[found - model.joints.begin()]) {
      names.emplace_back(axis_names[axes[k].axis]);
      if (!actuator.axis.empty() && actuator.axis != names.back()) continue;
      take(k);
      any = true;
    }
    if (!any)
      throw Error("actuator", names.empty() ? fmt::format("joint {} has no free axis for a motor", in_quotes(actuator.joint))
                                            : fmt::format("joint {} has no free axis {}; free are: {}", in_quotes(actuator.joint),
                                                          in_quotes(actuator.axis), fmt::join(names, ", ")));
  }
  if (!wanted.empty()) return;
  for (int k = 0; k < static_cast<int>(axes.size()); ++k)
    for (const Joint::AxisDrive& each : model.joints[axes[k].joint].drives)
      if (each.axis == axes[k].axis && has_motor(each.drive)) take(k);
  if (!actuators.empty()) return;
  for (int k = 0; k < static_cast<int>(axes.size()); ++k) take(k);
}

void InverseDynamics::Inside::assemble_rows() {
  std::vector<int> local_of(model.partner_count(), -1), tying, bounding;
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i)) {
      local_of[i] = static_cast<int>(bodies.size());
      bodies.push_back(i);
    }
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    bool any = false;
    for_each_partner(model.joints[j], [&](int partner) { any = any || model.movable(partner); });
    if (any) (one_sided(model.joints[j]) ? bounding : tying).push_back(j);
  }
  constraints = ConstraintSet(model, tying, local_of);
  bounds = ConstraintSet(model, bounding, local_of);
  pushes.assign(bounds.rows(), 0);
  problem.blocks = constraints.blocks();
  problem.more = constraints.more();
  for (ConstraintBlock block : bounds.blocks()) {
    block.first_row += constraints.rows();
    block.first_more += static_cast<std::int32_t>(constraints.more().size());
    problem.blocks.push_back(block);
  }
  for (BlockPartner partner : bounds.more()) {
    partner.first += constraints.more_rows();
    problem.more.push_back(partner);
  }
  problem.J_more.setZero(constraints.more_rows() + bounds.more_rows(), 6);
  int row = constraints.rows() + bounds.rows();
  const auto place = [&](int body) { return body == world_body ? -1 : local_of[body]; };
  for (const int k : actuated) {
    const Joint& joint = model.joints[axes[k].joint];
    problem.blocks.push_back({row++, 1, place(joint.a), place(joint.b), axes[k].joint});
  }
  problem.resize(static_cast<int>(bodies.size()), row);
  for (Mat6& W : problem.inverse_mass) W.setZero();
  values.resize(constraints.rows() + bounds.rows());
  for (VecX* v : {&x, &step, &rest}) v->setZero(row);
  for (VecX* v : {&local, &velocities}) v->setZero(6 * static_cast<Eigen::Index>(bodies.size()));
}

void InverseDynamics::Inside::read(const MotionState& motion) {
  const auto count = static_cast<std::size_t>(model.body_count());
  if (motion.poses.size() != count || motion.velocities.size() != count || motion.angular_velocities.size() != count ||
      motion.accelerations.size() != count || motion.angular_accelerations.size() != count)
    throw Error("inverse dynamics", fmt::format("the motion must tell of {} bodies", count));
  for (int i = 0; i < model.body_count(); ++i) {
    place_body(model, s, i, motion.poses[i]);
    s.v(i) = motion.velocities[i];
    s.omega(i) = motion.angular_velocities[i];
    udot.segment<3>(6 * i) = motion.accelerations[i];
    udot.segment<3>(6 * i + 3) = motion.angular_accelerations[i];
  }
  if (!udot.allFinite() || !s.u.allFinite()) throw Error("inverse dynamics", "the motion has numbers that are not finite");
}

void InverseDynamics::Inside::required_forces(double t) {
  kinematics.update(model, s, t);
  for (Axis& axis : axes) axis.now = drive_axis(model.joints[axis.joint], axis.axis, kinematics);
  force = external;
  add_weight(model, force);
  add_forces(model, s, t, 1, scratch, force);
  add_gyroscopic(model, kinematics, force);
  for (const Joint& joint : model.joints) {
    for (const Joint::AxisDrive& each : joint.drives) {
      const DriveAxis<double> at = drive_axis(joint, each.axis, kinematics);
      const BodyLanes<double>&a = kinematics[joint.a], &b = kinematics[joint.b];
      double push = passive_force(each.drive, each.axis, at.q, at.rate(a, b));
      if (each.drive.armature > 0) push -= each.drive.armature * axis_acceleration(model, joint, each.axis, kinematics, udot);
      if (push == 0) continue;
      if (model.movable(joint.a)) {
        force.segment<3>(6 * joint.a) += push * at.linear_a;
        force.segment<3>(6 * joint.a + 3) += push * at.angular_a;
      }
      if (model.movable(joint.b)) {
        force.segment<3>(6 * joint.b) += push * at.linear_b;
        force.segment<3>(6 * joint.b + 3) += push * at.angular_b;
      }
    }
  }
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) {
      force.segment<6>(6 * i).setZero();
      continue;
    }
    const Mat3& R = kinematics.bodies[i].R;
    force.segment<3>(6 * i) = model.bodies[i].mass * udot.segment<3>(6 * i) - force.segment<3>(6 * i);
    const Vec3 spin = R.transpose() * udot.segment<3>(6 * i + 3);
    force.segment<3>(6 * i + 3) = R * (model.inertia[i] * spin) - force.segment<3>(6 * i + 3);
  }
  if (model.has_added_mass()) add_added_momentum(model, motion_of(kinematics), udot, 1, force);
}

/// F and T are what the joint and its motors do together on the second body, T about its point there. Frames are orthogonal where
/// joints are closed, so that each axis has its own share.
void InverseDynamics::Inside::put_joint(int j, const Vec3& F, const Vec3& T) {
  JointForce& out = answer.joints[j];
  out = {.force = F, .torque = T};
  for (const int k : axes_of[j]) {
    const Axis& axis = axes[k];
    const bool turns = axis.axis >= 3;
    const Vec3& n = turns ? axis.now.angular_b : axis.now.linear_b;
    const double share = n.dot(turns ? T : F);
    (turns ? out.torque : out.force) -= share * n;
    if (axis.place < 0) {
      answer.unexplained = std::max(answer.unexplained, std::abs(share));
      continue;
    }
    answer.drives[axis.place] = out.drive[axis.axis] = share;
  }
}

void InverseDynamics::Inside::walk() {
  for (std::size_t i = order.size(); i-- > 0;) {
    const Placement& step_of = order[i];
    const Joint& joint = model.joints[step_of.joint];
    const int child = step_of.child_is_b ? joint.b : joint.a, parent = step_of.child_is_b ? joint.a : joint.b;
    const BodyLanes<double>& b = kinematics[joint.b];
    const Vec3 point = b.p + b.R * joint.X_B.position;
    const Vec3 F = force.segment<3>(6 * child);
    const Vec3 T = force.segment<3>(6 * child + 3) + (kinematics.bodies[child].p - point).cross(F);
    const double sign = step_of.child_is_b ? 1 : -1;
    put_joint(step_of.joint, sign * F, sign * T);
    if (!model.movable(parent)) continue;
    force.segment<3>(6 * parent) += F;
    force.segment<3>(6 * parent + 3) += T + (point - kinematics.bodies[parent].p).cross(F);
  }
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i) && carried[i] == 0)
      answer.unexplained = std::max(answer.unexplained, force.segment<6>(6 * i).cwiseAbs().maxCoeff());
}

bool InverseDynamics::Inside::meet_bounds(double t) {
  if (bounds.rows() == 0) return false;
  const int first = constraints.rows();
  bounds.evaluate(kinematics, t, problem, values, first, constraints.more_rows());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    velocities.segment<6>(6 * i) = s.u.segment<6>(6 * bodies[i]);
    local.segment<6>(6 * i) = udot.segment<6>(6 * bodies[i]);
  }
  bool any = false;
  for (std::size_t n = 0; n < bounds.blocks().size(); ++n) {
    const ConstraintBlock& block = problem.blocks[constraints.blocks().size() + n];
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      double speed = std::abs(values.C_t[r]), jerk = std::abs(values.gamma[r]);
      for_each_body(problem, block, [&](int body, const JacobianRows& J, int row) {
        const double size = J.row(row + r - block.first_row).norm();
        speed += size * velocities.segment<6>(6 * body).norm();
        jerk += size * (local.segment<6>(6 * body).norm() + model.gravity.norm());
      });
      const double rate = row_velocity(problem, block, r, view(velocities)) + values.C_t[r];
      const double acceleration = row_velocity(problem, block, r, view(local)) + values.gamma[r];
      const bool met =
          values.C[r] <= met_room && rate <= still_rate + at_rest * speed && acceleration <= still_acceleration + at_rest * jerk;
      pushes[r - first] = met ? 1 : 0;
      if (!met) release(r - first);
      any = any || met;
    }
  }
  return any;
}

/// It exerts nothing: its row is empty, with a compliance of 1 (solve_rows).
void InverseDynamics::Inside::release(int bound_row) {
  pushes[bound_row] = 0;
  const int r = constraints.rows() + bound_row;
  problem.J_a.row(r).setZero();
  problem.J_b.row(r).setZero();
  for (std::size_t n = 0; n < bounds.blocks().size(); ++n) {
    const ConstraintBlock& block = problem.blocks[constraints.blocks().size() + n];
    if (r < block.first_row || r >= block.first_row + block.rows) continue;
    for (int k = block.first_more; k < block.first_more + block.more_count; ++k)
      problem.J_more.row(problem.more[k].first + r - block.first_row).setZero();
  }
  split.forget_matrix();
}

void InverseDynamics::Inside::find_rates(VecX& rates) {
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) rates[r] = row_velocity(problem, block, r, view(local));
}

/// The compliance of the motors chooses among forces that do the same, and its own error is taken away by solving again for what
/// is left.
void InverseDynamics::Inside::share(const VecX& wanted) {
  x.setZero();
  rest = wanted;
  double before = infinity;
  for (int round = 0; round < most_sharings; ++round) {
    problem.b = rest;
    rotule::solve(solved(), solver_named("ldlt"), workspace, view(step), report);
    x += step;
    const double change = step.cwiseAbs().maxCoeff(), size = x.cwiseAbs().maxCoeff();
    if (change <= 1e-15 * size || (round > 2 && change > 0.5 * before)) break;
    before = change;
    local.setZero();
    if (split.in_use())
      split.apply_impulses(view(x), local);
    else
      apply_impulses(problem, view(x), view(local));
    find_rates(rest);
    rest = wanted - rest;
  }
}

void InverseDynamics::Inside::solve_rows(double t) {
  constraints.evaluate(kinematics, t, problem, values);
  for (std::size_t i = 0; i < bodies.size(); ++i) kinematics.write_inverse_mass(model, bodies[i], problem.inverse_mass[i]);
  problem.coupled = model.has_added_mass();
  const int ties = constraints.rows(), first = ties + bounds.rows();
  const std::size_t first_block = constraints.blocks().size() + bounds.blocks().size();
  double response = 0;
  for (std::size_t k = 0; k < actuated.size(); ++k) {
    const DriveAxis<double>& at = axes[actuated[k]].now;
    const int row = first + static_cast<int>(k);
    problem.J_a.row(row) << at.linear_a.transpose(), at.angular_a.transpose();
    problem.J_b.row(row) << at.linear_b.transpose(), at.angular_b.transpose();
    response = std::max(response, diagonal_entry(problem, problem.blocks[first_block + k], row));
  }
  problem.C.setZero();
  for (int r = 0; r < bounds.rows(); ++r) problem.C[ties + r] = pushes[r] != 0 ? 0 : 1;
  problem.C.tail(static_cast<Eigen::Index>(actuated.size())).setConstant(sharing * response);

  // b = [J; B; G] M^-1 (M u' - f), B being what bounds. Of those that are met push those that spare the motors something.
  VecX free = force;
  kinematics.divide_by_mass(model, free, free);
  for (std::size_t i = 0; i < bodies.size(); ++i) local.segment<6>(6 * i) = free.segment<6>(6 * bodies[i]);
  take_groups(model, kinematics, bodies, split);
  VecX wanted = rest;
  find_rates(wanted);
  const auto let_go = [&](double least) {
    const double none = no_push * x.cwiseAbs().maxCoeff();
    bool any = false;
    for (int r = 0; r < bounds.rows(); ++r) {
      if (pushes[r] == 0 || x[ties + r] > least * none) continue;
      release(r);
      problem.C[ties + r] = 1;
      wanted[ties + r] = 0;
      any = true;
    }
    return any;
  };
  for (int r = 0; r < bounds.rows(); ++r)
    if (pushes[r] == 0) wanted[ties + r] = 0;
  if (std::any_of(pushes.begin(), pushes.end(), [](char may) { return may != 0; })) {
    problem.lower.segment(ties, bounds.rows()).setZero();
    problem.b = wanted;
    rotule::solve(solved(), solver_named("block_pivoting"), workspace, view(x), report);
    problem.lower.segment(ties, bounds.rows()).setConstant(-infinity);
    if (!report.converged) throw Error("inverse dynamics", "cannot tell which of the constraints that are met here push");
    let_go(1);
  }
  do share(wanted);
  while (let_go(-1));

  for (std::size_t k = 0; k < actuated.size(); ++k) answer.drives[k] = x[first + static_cast<Eigen::Index>(k)];
  report_joints(constraints, 0);
  report_joints(bounds, ties);
  for (std::size_t k = 0; k < actuated.size(); ++k)
    answer.joints[axes[actuated[k]].joint].drive[axes[actuated[k]].axis] = answer.drives[k];

  // What is left over of M u' - f.
  for (std::size_t i = 0; i < bodies.size(); ++i) local.segment<6>(6 * i) = force.segment<6>(6 * bodies[i]);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int row) {
      local.segment<6>(6 * body) -= J.middleRows(row, block.rows).transpose() * x.segment(block.first_row, block.rows);
    });
  answer.unexplained = local.size() ? local.cwiseAbs().maxCoeff() : 0;
}

void InverseDynamics::Inside::report_joints(const ConstraintSet& set, int first_row) {
  for (std::size_t n = 0; n < set.blocks().size(); ++n) {
    const ConstraintBlock& block = set.blocks()[n];
    const int first = first_row + block.first_row;
    JointForce& out = answer.joints[block.source];
    // On the second body, whether that can move or not.
    const Vec6 wrench = problem.J_b.middleRows(first, block.rows).transpose() * x.segment(first, block.rows);
    out.force = wrench.head<3>();
    const Vec3 lever = set.lever(static_cast<int>(n), kinematics, true);
    out.torque = wrench.tail<3>() - lever.cross(out.force);
    for (const std::int32_t row : report.redundant_rows)
      if (row >= first && row < first + block.rows) out.unique = false;
  }
}

InverseDynamics::InverseDynamics(const World& world, const InverseDynamicsSettings& settings)
    : inside_(std::make_unique<Inside>(world, settings)) {}
InverseDynamics::InverseDynamics(InverseDynamics&&) noexcept = default;
InverseDynamics& InverseDynamics::operator=(InverseDynamics&&) noexcept = default;
InverseDynamics::~InverseDynamics() = default;

const std::vector<Actuator>& InverseDynamics::actuators() const { return inside_->actuators; }
bool InverseDynamics::recursive() const { return inside_->tree; }

const InverseForces& InverseDynamics::solve(const MotionState& motion) {
  Inside& in = *inside_;
  in.read(motion);
  in.required_forces(motion.time);
  in.answer.unexplained = 0;
  for (JointForce& joint : in.answer.joints) joint = {};
  const bool pushed = in.meet_bounds(motion.time);
  if (in.tree && !pushed)
    in.walk();
  else
    in.solve_rows(motion.time);
  return in.answer;
}

MotionState motion_of(const World& world) {
  MotionState out;
  out.time = world.time();
  for (const BodyId body : world.bodies()) {
    out.poses.push_back({world.position(body), world.orientation(body)});
    out.velocities.push_back(world.velocity(body));
    out.angular_velocities.push_back(world.angular_velocity(body));
    out.accelerations.push_back(world.acceleration(body));
    out.angular_accelerations.push_back(world.angular_acceleration(body));
  }
  return out;
}

}  // namespace rotule
