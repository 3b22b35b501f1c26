// Actuators exert f = g c + b0 + b1 L + b2 L', c being the control and L = gear q: springs, dampers and constants of the joint's
// drive, at the controls that the start has. While the world runs, World::set_motor tells a motor anew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "robot/mjcf_ties.h"
#include "robot/motors.h"

namespace rotule::robot {

namespace {

struct Actuator {
  std::array<double, 3> gain{1, 0, 0}, bias{0, 0, 0};
  bool affine_gain = false, affine_bias = false, known = true;
  std::string dynamics = "none";
  double gear = 1;
  std::optional<std::array<double, 2>> control_range, force_range;
  double inherit_range = 0;
  std::optional<std::array<double, 2>> activation_range;
  double time_constant = 1;  // s, of filters
  double damping_ratio = 0;  // of position servos, by the inertia that the joint moves
};

bool is_actuator(const std::string& tag) {
  constexpr std::array<const char*, 10> tags{"general", "motor",    "position", "velocity", "intvelocity",
                                             "damper",  "cylinder", "muscle",   "adhesion", "plugin"};
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::array<double, 3> three(const std::vector<double>& all) {
  std::array<double, 3> out{};
  std::copy_n(all.begin(), std::min<std::size_t>(3, all.size()), out.begin());
  return out;
}

/// What an element says, over what was said before: classes of defaults first.
void apply(const MjcfContext& context, const Element& element, Actuator& a) {
  const std::string& tag = element.tag();
  if (const auto gear = element.numbers("gear", 1, 6)) a.gear = gear->front();
  const auto range = [&](const char* name, const char* limited, std::optional<std::array<double, 2>>& out) {
    if (const auto given = element.numbers(name, 2, 2)) out = {(*given)[0], (*given)[1]};
    const std::optional<std::string> flag = element.text(limited);
    if (flag == "false" || (!flag && !context.auto_limits)) out.reset();
  };
  range("ctrlrange", "ctrllimited", a.control_range);
  range("forcerange", "forcelimited", a.force_range);
  range("actrange", "actlimited", a.activation_range);
  a.dynamics = element.text("dyntype", a.dynamics);
  if (const auto given = element.numbers("dynprm", 1, 10)) a.time_constant = given->front();
  if (!(a.time_constant >= 0)) element.fail("its time constant must not be negative");
  if (tag == "general") {
    if (const auto given = element.numbers("gainprm", 1, 10)) a.gain = three(*given);
    if (const auto given = element.numbers("biasprm", 1, 10)) a.bias = three(*given);
    if (const auto type = element.text("gaintype")) {
      a.affine_gain = *type == "affine";
      a.known = a.known && (*type == "fixed" || a.affine_gain);
    }
    if (const auto type = element.text("biastype")) {
      a.affine_bias = *type == "affine";
      a.known = a.known && (*type == "none" || a.affine_bias);
    }
  } else if (tag == "motor") {
    a.gain = {1, 0, 0};
    a.affine_bias = false;
  } else if (tag == "position" || tag == "intvelocity") {
    const double kp = element.number("kp", a.gain[0]), kv = element.number("kv", a.affine_bias ? -a.bias[2] : 0);
    a.gain = {kp, 0, 0};
    a.bias = {0, -kp, -kv};
    a.affine_bias = true;
    a.inherit_range = element.number("inheritrange", a.inherit_range);
    a.damping_ratio = element.number("dampratio", a.damping_ratio);
    if (const auto lag = element.number("timeconst"); lag && *lag > 0) {
      a.time_constant = *lag;
      a.dynamics = "filterexact";
    }
    if (tag == "intvelocity") a.dynamics = "integrator";
  } else if (tag == "velocity") {
    const double kv = element.number("kv", a.gain[0]);
    a.gain = {kv, 0, 0};
    a.bias = {0, 0, -kv};
    a.affine_bias = true;
  } else {
    a.known = false;
  }
}

/// The joint that a transmission moves, and by how much of its own coordinate.
struct Transmission {
  JointPlace joint;
  double factor = 1;
};

/// A fixed tendon whose joints all follow one of them in proportion moves that one.
std::optional<Transmission> of_tendon(const FixedTendon& tendon, const Tree& tree) {
  const auto same = [](const JointPlace& a, const JointPlace& b) { return a.link == b.link && a.joint == b.joint; };
  for (const auto& [leader, own] : tendon.joints) {
    double factor = 0;
    bool all = true;
    for (const auto& [joint, coefficient] : tendon.joints) {
      double ratio = same(joint, leader) ? 1 : 0;
      for (const Coupling& c : tree.couplings) {
        if (ratio != 0 || c.terms.size() != 2) continue;
        const auto &p = c.terms[0].powers, &q = c.terms[1].powers;
        const bool linear = p.size() == 2 && q.size() >= 2 && p[0] == 0 && q[0] == 0 &&
                            std::all_of(q.begin() + 2, q.end(), [](double x) { return x == 0; });
        if (!linear) continue;
        if (same(c.terms[0].joint, joint) && same(c.terms[1].joint, leader)) ratio = -q[1] / p[1];
        if (same(c.terms[1].joint, joint) && same(c.terms[0].joint, leader) && q[1] != 0) ratio = -p[1] / q[1];
      }
      all = all && ratio != 0;
      factor += coefficient * ratio;
    }
    if (all) return Transmission{leader, factor};
  }
  return std::nullopt;
}

/// What a joint moves, seen from its axis, in the rest pose: MuJoCo's diagonal of the mass matrix, its own rotor included.
double inertia_seen_from(const TreeJoint& joint, int link, const Tree& tree) {
  const std::vector<Pose> rest = link_poses(tree, true);
  std::vector<bool> carried(tree.links.size(), false);
  MassProperties all;
  for (std::size_t i = static_cast<std::size_t>(link); i < tree.links.size(); ++i) {
    const int parent = tree.links[i].parent;
    carried[i] = static_cast<int>(i) == link || (parent >= 0 && carried[static_cast<std::size_t>(parent)]);
    if (carried[i] && tree.links[i].inertial) all = together(all, seen_from(rest[i], *tree.links[i].inertial));
  }
  if (joint.kind == TreeJoint::Kind::slide) return joint.drive.armature + all.mass;
  const Pose& X = rest[static_cast<std::size_t>(link)];
  const Vec3 axis = X.orientation * joint.axis, lever = all.center_of_mass - (X.position + X.orientation * joint.at);
  return joint.drive.armature + axis.dot(all.inertia * axis) + all.mass * axis.cross(lever).squaredNorm();
}

std::optional<std::array<double, 2>> if_wide(const std::optional<std::array<double, 2>>& range) {
  return range && (*range)[0] < (*range)[1] ? range : std::nullopt;
}

bool has_one_coordinate(const Tree& tree, const JointPlace& place) {
  if (place.link < 0) return false;
  const auto kind = tree.links[static_cast<std::size_t>(place.link)].joints[static_cast<std::size_t>(place.joint)].kind;
  return kind == TreeJoint::Kind::hinge || kind == TreeJoint::Kind::slide;
}

/// The joints that it moves, and by how much; none where the scene has no such motor. On a fixed tendon that ties several joints
/// it is a torque on each of them; what also pulls back to a length couples them, and is no such sum.
std::vector<std::pair<JointPlace, double>> moved_by(const Element& element, const Actuator& a, const MjcfNames& names,
                                                    const std::map<std::string, FixedTendon>& tendons, const Tree& tree) {
  std::vector<std::pair<JointPlace, double>> out;
  for (const char* key : {"joint", "jointinparent"})
    if (const auto joint = element.text(key)) out = {{names.find_joint(element, *joint), a.gear}};
  if (const auto name = element.text("tendon"))
    if (const auto found = tendons.find(*name); found != tendons.end()) {
      const bool pulls_back = a.affine_bias && (a.bias[1] != 0 || a.bias[2] != 0);
      if (const auto one = of_tendon(found->second, tree))
        out = {{one->joint, a.gear * one->factor}};
      else if (!pulls_back)
        for (const auto& [joint, factor] : found->second.joints) out.emplace_back(joint, a.gear * factor);
    }
  const bool known = std::all_of(out.begin(), out.end(), [&](const auto& each) {
    return has_one_coordinate(tree, each.first) && each.second != 0;  // a gear of 0 moves nothing
  });
  return known && a.known ? out : std::vector<std::pair<JointPlace, double>>{};
}

/// The law of one actuator, and remarks on what it leaves out. Nothing where it would push away from where it is to go.
std::optional<RobotActuator> law_of(const Element& element, Actuator& a, const TreeJoint& joint, double seen, Remarks& remarks) {
  const std::string title = element.title();
  RobotActuator out{.name = element.text("name", title)};
  out.integrates = a.dynamics == "integrator";
  if (a.dynamics == "filter" || a.dynamics == "filterexact") out.lag = a.time_constant;
  if (out.integrates || out.lag > 0)
    element.remark(remarks, title, "lags behind its control where rotule::Actuators tells it, and acts at once in the scene");
  else if (a.dynamics != "none" && a.dynamics != "filter" && a.dynamics != "filterexact")
    element.remark(remarks, title, fmt::format("its dynamics ({}) are left out: it acts at once", a.dynamics));
  if (a.affine_gain && (a.gain[1] != 0 || a.gain[2] != 0))
    element.remark(remarks, title, "its gain varies with the motion; the constant part is taken");
  if (!a.affine_bias) a.bias = {0, 0, 0};
  // Where damping would be negative, MuJoCo takes it for a ratio, of servos of one stiffness.
  if (a.bias[2] > 0 && a.gain[0] == -a.bias[1]) a.damping_ratio = std::exchange(a.bias[2], 0);
  if (a.damping_ratio > 0 && a.bias[1] < 0) a.bias[2] = -2 * a.damping_ratio * std::sqrt(-a.bias[1] * seen);
  if (a.bias[1] > 0 || a.bias[2] > 0) {
    element.remark(remarks, title, "is left out: it would push away from where it is to go");
    return std::nullopt;
  }
  out.gain = a.gain[0];
  out.constant = a.bias[0];
  out.stiffness = -a.bias[1];
  out.damping = -a.bias[2];
  out.controls = if_wide(a.control_range);
  out.activations = if_wide(a.activation_range);
  out.forces = if_wide(a.force_range);
  out.joint_torques = joint.actuator_range;
  if (a.inherit_range > 0 && joint.drive.lower && joint.drive.upper) {
    const double middle = 0.5 * (*joint.drive.lower + *joint.drive.upper);
    const double half = 0.5 * a.inherit_range * (*joint.drive.upper - *joint.drive.lower);
    (out.integrates ? out.activations : out.controls) = {middle - half, middle + half};
  }
  const bool servo = out.stiffness > 0 || out.damping > 0;
  for (const RobotActuator::Range& range : {out.forces, out.joint_torques})
    if (servo && range && (*range)[0] != -(*range)[1])
      element.remark(remarks, title, "has a force range that is not symmetric: its smaller end counts both ways");
  return out;
}

/// The drives of joints, with all their motors at the controls of the start; where those wait, with what bounds them alone.
void add_to_drives(Tree& tree, bool motors_act, Remarks& remarks) {
  std::map<std::pair<int, int>, JointMotor> sums;
  for (const TreeActuator& actuator : tree.actuators)
    for (std::size_t k = 0; k < actuator.places.size(); ++k)
      sums[{actuator.places[k].link, actuator.places[k].joint}].add(actuator.law, actuator.law.moves[k],
                                                                    actuator.law.integrates ? 0 : actuator.law.control);
  for (auto& [place, sum] : sums) {
    TreeJoint& joint = tree.links[static_cast<std::size_t>(place.first)].joints[static_cast<std::size_t>(place.second)];
    Drive& drive = joint.drive;
    sum.bound(joint.actuator_range);
    if (sum.strength && *sum.strength > 0) {
      drive.spring_strength = *sum.strength;
      if (drive.damping > 0 || drive.stiffness > 0)
        joint.element.remark(remarks, "actuator@forcerange", "bounds a servo together with its joint's own spring and damper");
    }
    // A motor of speed is a damper and a torque: the damper stays whatever the torque is told to be.
    if (motors_act || sum.stiffness == 0) drive.damping += sum.damping;
    if (!motors_act) continue;
    const double stiffness = drive.stiffness + sum.stiffness;
    if (stiffness > 0) drive.rest = (drive.stiffness * drive.rest + sum.pull) / stiffness;
    drive.stiffness = stiffness;
    drive.motor_torque = sum.torque;
  }
}

}  // namespace

void read_actuators(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons,
                    const std::vector<double>& controls, Tree& tree) {
  std::size_t number = 0;
  for (const Element& section : context.sections("actuator"))
    for (const Element& element : context.children(section)) {
      const std::size_t own = number++;
      Actuator a;
      for (const Element& each : context.chain(element, ""))
        if (is_actuator(each.tag())) apply(context, each, a);
      apply(context, element, a);
      const auto moved = moved_by(element, a, names, tendons, tree);
      element.tell_unread(context.remarks);
      if (moved.empty()) {
        element.remark(context.remarks, element.title(), "is left out: its law, or what it moves, has no counterpart");
        continue;
      }
      const JointPlace& first = moved.front().first;
      const TreeJoint& joint = tree.links[static_cast<std::size_t>(first.link)].joints[static_cast<std::size_t>(first.joint)];
      const double seen = inertia_seen_from(joint, first.link, tree) / std::pow(moved.front().second, 2);
      std::optional<RobotActuator> law = law_of(element, a, joint, seen, context.remarks);
      if (!law) continue;
      law->control = own < controls.size() ? controls[own] : 0;
      if (law->controls) law->control = std::clamp(law->control, (*law->controls)[0], (*law->controls)[1]);
      if (context.options.motors_act && law->stiffness == 0 && law->damping == 0 && law->gain * law->control + law->constant == 0)
        element.remark(context.remarks, fmt::format("actuator {}", element.tag()),
                       "exerts nothing at the start; World::set_motor gives its joint a torque");
      TreeActuator out{std::move(*law), {}};
      for (const auto& [place, ratio] : moved) {
        out.law.moves.push_back({.ratio = ratio});
        out.places.push_back(place);
      }
      tree.actuators.push_back(std::move(out));
    }
  add_to_drives(tree, context.options.motors_act, context.remarks);
}

}  // namespace rotule::robot
