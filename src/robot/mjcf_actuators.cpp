// Actuators exert f = g c + b0 + b1 L + b2 L', c being the control and L = gear q: springs, dampers and constants of the joint's
// drive, at the controls that the start has. While the world runs, World::set_motor tells a motor anew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "robot/mjcf_ties.h"

namespace rotule::robot {

namespace {

struct Actuator {
  std::array<double, 3> gain{1, 0, 0}, bias{0, 0, 0};
  bool affine_gain = false, affine_bias = false, known = true;
  std::string dynamics = "none";
  double gear = 1;
  std::optional<std::array<double, 2>> control_range, force_range;
  double inherit_range = 0;
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
  a.dynamics = element.text("dyntype", a.dynamics);
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
  } else if (tag == "position") {
    const double kp = element.number("kp", a.gain[0]), kv = element.number("kv", a.affine_bias ? -a.bias[2] : 0);
    a.gain = {kp, 0, 0};
    a.bias = {0, -kp, -kv};
    a.affine_bias = true;
    a.inherit_range = element.number("inheritrange", a.inherit_range);
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

/// What all actuators of one joint do together.
struct Sum {
  double stiffness = 0, pull = 0, damping = 0, torque = 0;
  std::optional<double> strength;
};

}  // namespace

void read_actuators(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons,
                    const std::vector<double>& controls, Tree& tree) {
  std::map<std::pair<int, int>, Sum> sums;
  std::size_t number = 0;
  for (const Element& section : context.sections("actuator"))
    for (const Element& element : context.children(section)) {
      const std::size_t own = number++;
      const std::string title = element.title();
      Actuator a;
      for (const Element& each : context.chain(element, ""))
        if (is_actuator(each.tag())) apply(context, each, a);
      apply(context, element, a);
      std::optional<Transmission> moved;
      for (const char* key : {"joint", "jointinparent"})
        if (const auto joint = element.text(key)) moved = Transmission{names.find_joint(element, *joint), 1};
      if (const auto name = element.text("tendon"))
        if (const auto found = tendons.find(*name); found != tendons.end()) moved = of_tendon(found->second, tree);
      element.tell_unread(context.remarks);
      TreeJoint* joint = nullptr;
      if (moved && moved->joint.link >= 0)
        joint = &tree.links[static_cast<std::size_t>(moved->joint.link)].joints[static_cast<std::size_t>(moved->joint.joint)];
      if (!a.known || joint == nullptr || (joint->kind != TreeJoint::Kind::hinge && joint->kind != TreeJoint::Kind::slide)) {
        element.remark(context.remarks, title, "is left out: its law, or what it moves, has no counterpart");
        continue;
      }
      if (a.dynamics != "none")
        element.remark(context.remarks, title, fmt::format("its dynamics ({}) are left out: it acts at once", a.dynamics));
      if (a.affine_gain && (a.gain[1] != 0 || a.gain[2] != 0))
        element.remark(context.remarks, title, "its gain varies with the motion; the constant part is taken");
      if (!a.affine_bias) a.bias = {0, 0, 0};
      if (a.bias[1] > 0 || a.bias[2] > 0) {
        element.remark(context.remarks, title, "is left out: it would push away from where it is to go");
        continue;
      }
      if (a.inherit_range > 0 && joint->drive.lower && joint->drive.upper) {
        const double middle = 0.5 * (*joint->drive.lower + *joint->drive.upper);
        const double half = 0.5 * a.inherit_range * (*joint->drive.upper - *joint->drive.lower);
        a.control_range = {middle - half, middle + half};
      }
      double control = own < controls.size() ? controls[own] : 0;
      if (a.control_range && (*a.control_range)[0] < (*a.control_range)[1])
        control = std::clamp(control, (*a.control_range)[0], (*a.control_range)[1]);
      const double gear = a.gear * moved->factor;
      const double constant = a.gain[0] * control + a.bias[0];
      Sum& sum = sums[{moved->joint.link, moved->joint.joint}];
      const bool limited = a.force_range && (*a.force_range)[0] < (*a.force_range)[1];
      if (a.bias[1] < 0) {
        sum.stiffness -= a.bias[1] * gear * gear;
        sum.pull += gear * constant;
      } else {
        sum.torque += gear * (limited ? std::clamp(constant, (*a.force_range)[0], (*a.force_range)[1]) : constant);
        if (constant == 0 && a.bias[2] == 0)
          element.remark(context.remarks, fmt::format("actuator {}", element.tag()),
                         "exerts nothing at the start; World::set_motor gives its joint a torque");
      }
      sum.damping -= a.bias[2] * gear * gear;
      if (limited && (a.bias[1] < 0 || a.bias[2] < 0)) {
        const double strength = std::abs(gear) * std::min(std::abs((*a.force_range)[0]), std::abs((*a.force_range)[1]));
        if ((*a.force_range)[0] != -(*a.force_range)[1])
          element.remark(context.remarks, title, "has a force range that is not symmetric: its smaller end counts both ways");
        sum.strength = std::min(sum.strength.value_or(infinity), strength);
      }
    }
  for (const auto& [place, sum] : sums) {
    TreeJoint& joint = tree.links[static_cast<std::size_t>(place.first)].joints[static_cast<std::size_t>(place.second)];
    Drive& drive = joint.drive;
    if (sum.strength && *sum.strength > 0) {
      drive.spring_strength = *sum.strength;
      if (drive.damping > 0 || drive.stiffness > 0)
        joint.element.remark(context.remarks, "actuator@forcerange",
                             "bounds a servo together with its joint's own spring and damper");
    }
    const double stiffness = drive.stiffness + sum.stiffness;
    if (stiffness > 0) drive.rest = (drive.stiffness * drive.rest + sum.pull) / stiffness;
    drive.stiffness = stiffness;
    drive.damping += sum.damping;
    drive.motor_torque = sum.torque;
  }
}

}  // namespace rotule::robot
