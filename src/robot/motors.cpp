#include "robot/motors.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"

namespace rotule {

namespace robot {

namespace {

double weaker_end(const std::array<double, 2>& range) { return std::min(std::abs(range[0]), std::abs(range[1])); }

}  // namespace

void JointMotor::add(const RobotActuator& actuator, const RobotActuator::Moved& moved, double activation) {
  const double r = moved.ratio, constant = actuator.gain * activation + actuator.constant;
  stiffness += actuator.stiffness * r * r;
  damping += actuator.damping * r * r;
  if (actuator.stiffness > 0)
    pull += r * (constant - actuator.stiffness * r * moved.zero);
  else
    torque += r * (actuator.forces ? std::clamp(constant, (*actuator.forces)[0], (*actuator.forces)[1]) : constant);
  if (actuator.forces && (actuator.stiffness > 0 || actuator.damping > 0))
    strength = std::min(strength.value_or(infinity), std::abs(r) * weaker_end(*actuator.forces));
}

void JointMotor::bound(const RobotActuator::Range& torques) {
  if (torques) {
    torque = std::clamp(torque, (*torques)[0], (*torques)[1]);
    if (stiffness > 0 || damping > 0) strength = std::min(strength.value_or(infinity), weaker_end(*torques));
  }
  // Beside a servo a torque is part of its pull: what bounds the joint bounds both together.
  if (stiffness > 0) pull += std::exchange(torque, 0);
}

}  // namespace robot

Actuators::Actuators(std::vector<RobotActuator> actuators, const World& world) : actuators_(std::move(actuators)) {
  std::map<std::string, std::size_t> known;
  for (std::size_t k = 0; k < actuators_.size(); ++k) {
    const RobotActuator& actuator = actuators_[k];
    activations_.push_back(actuator.integrates ? 0 : actuator.control);
    for (std::size_t m = 0; m < actuator.moves.size(); ++m) {
      const auto [at, is_new] = known.try_emplace(actuator.moves[m].joint, motors_.size());
      if (is_new) motors_.push_back({world.joint(actuator.moves[m].joint), {}});
      motors_[at->second].parts.emplace_back(k, m);
    }
  }
}

std::vector<double> Actuators::controls() const {
  std::vector<double> out;
  for (const RobotActuator& actuator : actuators_) out.push_back(actuator.control);
  return out;
}

void Actuators::tell(World& world, std::span<const double> controls, double h) {
  if (controls.size() != actuators_.size())
    throw Error("actuators", fmt::format("need {} controls, one for each, are given {}", actuators_.size(), controls.size()));
  if (!(h >= 0) || !std::isfinite(h)) throw Error("actuators", "need a step of no less than 0 s");
  for (std::size_t k = 0; k < actuators_.size(); ++k) {
    const RobotActuator& actuator = actuators_[k];
    if (!std::isfinite(controls[k])) throw Error(fmt::format("actuator {}", in_quotes(actuator.name)), "needs a finite control");
    const double c = actuator.controls ? std::clamp(controls[k], (*actuator.controls)[0], (*actuator.controls)[1]) : controls[k];
    double& a = activations_[k];
    if (actuator.integrates)
      a += h * c;
    else
      a = actuator.lag > 0 ? a + (c - a) * -std::expm1(-h / actuator.lag) : c;
    if (actuator.activations) a = std::clamp(a, (*actuator.activations)[0], (*actuator.activations)[1]);
  }
  for (const Motor& motor : motors_) {
    robot::JointMotor sum;
    for (const auto& [k, m] : motor.parts) sum.add(actuators_[k], actuators_[k].moves[m], activations_[k]);
    sum.bound(actuators_[motor.parts.front().first].joint_torques);
    if (sum.stiffness > 0)
      world.set_motor(motor.joint, MotorPosition{sum.pull / sum.stiffness, sum.stiffness, sum.damping});
    else
      world.set_motor(motor.joint, MotorTorque{sum.torque});
  }
}

}  // namespace rotule
