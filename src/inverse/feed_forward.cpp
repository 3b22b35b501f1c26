// Forces of motors as functions of time, put into a scene as forces of its own: each along the gradient of its axis, so that it
// turns with the joint.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse_dynamics.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "constraint/pool/drive.h"
#include "model/names.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr std::size_t most_points = 8;

/// The polynomial through the nearest moments: where forces are smooth, an error of the eighth order.
class ForceCourse {
 public:
  ForceCourse(std::vector<double> times, std::vector<double> values) : times_(std::move(times)), values_(std::move(values)) {}
  double operator()(double t) const {
    if (t <= times_.front()) return values_.front();
    if (t >= times_.back()) return values_.back();
    const std::size_t count = times_.size(), points = std::min(most_points, count);
    const auto after = static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), t) - times_.begin());
    const std::size_t first = std::min(after < points / 2 ? 0 : after - points / 2, count - points);
    // Neville's scheme.
    std::array<double, most_points> p{};
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first), points, p.begin());
    for (std::size_t k = 1; k < points; ++k)
      for (std::size_t i = 0; i + k < points; ++i) {
        const double low = times_[first + i], high = times_[first + i + k];
        p[i] = ((high - t) * p[i] + (t - low) * p[i + 1]) / (high - low);
      }
    return p[0];
  }

 private:
  std::vector<double> times_, values_;
};

/// All actuators of one joint, as a force between its partners.
struct DrivenJoint {
  Joint joint;
  std::array<Vec3, 2> center{Vec3::Zero(), Vec3::Zero()};  // of mass, in frames
  std::vector<std::pair<int, ForceCourse>> axes;

  Vec12 operator()(const Motion& a, const Motion& b, double t) const {
    const auto lanes = [](const Motion& of, const Vec3& c) {
      BodyLanes<double> out;
      out.R = of.pose.orientation.toRotationMatrix();
      out.p = of.pose.position + out.R * c;
      return out;
    };
    const BodyLanes<double> A = joint.a == world_body ? BodyLanes<double>() : lanes(a, center[0]),
                            B = joint.b == world_body ? BodyLanes<double>() : lanes(b, center[1]);
    Vec12 out = Vec12::Zero();
    for (const auto& [axis, course] : axes) {
      const DriveAxis<double> along = axis_of(joint, axis, A, B);
      const double push = course(t);
      out.segment<3>(0) += push * along.linear_a;
      out.segment<3>(3) += push * along.angular_a;
      out.segment<3>(6) += push * along.linear_b;
      out.segment<3>(9) += push * along.angular_b;
    }
    return out;
  }
};

void take_motor_away(Drive& drive) {
  drive.motion.reset();
  drive.motor_speed = drive.motor_strength = drive.motor_torque = 0;
}

void take_motor_away(JointDef& def, const std::string& axis) {
  std::visit(
      [&](auto& d) {
        if constexpr (requires { d.drive; }) take_motor_away(d.drive);
        if constexpr (requires { d.drives; })
          for (AxisDrive& each : d.drives)
            if (each.axis == axis) take_motor_away(each.drive);
      },
      def);
}

}  // namespace

void feed_forward(Scene& scene, const DriveHistory& history) {
  if (history.times.size() < 2) throw Error("feed_forward", "needs two moments at least");
  if (!std::is_sorted(history.times.begin(), history.times.end(), [](double a, double b) { return a <= b; }))
    throw Error("feed_forward", "times must rise");
  if (history.forces.size() != history.times.size()) throw Error("feed_forward", "needs forces of every moment");
  name_unnamed(scene);
  const World world(scene);
  const Model& model = implementation_of(world).model;
  std::map<int, DrivenJoint> driven;
  for (std::size_t k = 0; k < history.actuators.size(); ++k) {
    const Actuator& actuator = history.actuators[k];
    const int j = implementation_of(world).joint_slots.place(world.joint(actuator.joint));
    const int axis = implementation_of(world).find_axis(j, actuator.axis);
    std::vector<double> values;
    for (const std::vector<double>& forces : history.forces) values.push_back(forces.at(k));
    DrivenJoint& out = driven[j];
    out.joint = model.joints[j];
    if (out.joint.a != world_body) out.center[0] = model.bodies[out.joint.a].center_of_mass;
    if (out.joint.b != world_body) out.center[1] = model.bodies[out.joint.b].center_of_mass;
    out.axes.emplace_back(axis, ForceCourse(history.times, values));
    take_motor_away(scene.joints[j], actuator.axis);
  }
  for (auto& [j, force] : driven) {
    const auto name_of_partner = [&](int partner) { return partner == world_body ? std::string("world") : model.name(partner); };
    UserForce out{.name = fmt::format("{}_drive", force.joint.name),
                  .between = {name_of_partner(force.joint.a), name_of_partner(force.joint.b)}};
    out.values = std::move(force);
    scene.add(out);
  }
}

}  // namespace rotule
