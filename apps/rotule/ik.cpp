// rotule ik (A9): the pose in which targets are met, iteration by iteration, and the scene in that pose.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"

namespace rotule::app {
namespace {

/// "a,b,c" as numbers; nothing where one of them is none.
std::optional<std::vector<double>> numbers_in(const std::string& text) {
  std::vector<double> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto number = to_double(text.substr(at, comma - at));
    if (!number) return std::nullopt;
    out.push_back(*number);
    at = comma + 1;
  }
  return out;
}

Vec3 vector_in(const std::string& text, const std::string& place) {
  const auto numbers = numbers_in(text);
  if (!numbers || numbers->size() != 3) throw Error(place, fmt::format("{} must be x,y,z", in_quotes(text)));
  return {(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

/// WHO[@x,y,z]=TO[:weight]
struct Asked {
  std::string who, to;
  std::optional<Vec3> at;
  double weight = 1;
};

Asked asked_in(const std::string& text, const std::string& option) {
  const std::string place = fmt::format("{} {}", option, in_quotes(text));
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(place, "must be BODY=TARGET, e.g. left_hand=left_foot or left_hand=0.3,0,1.2");
  Asked out{.who = text.substr(0, equals), .to = text.substr(equals + 1), .at = {}};
  if (const std::size_t colon = out.to.rfind(':'); colon != std::string::npos) {
    const auto weight = to_double(out.to.substr(colon + 1));
    if (!weight) throw Error(place, fmt::format("the weight {} is not a number", in_quotes(out.to.substr(colon + 1))));
    out.weight = *weight;
    out.to.resize(colon);
  }
  if (const std::size_t at = out.who.find('@'); at != std::string::npos) {
    out.at = vector_in(out.who.substr(at + 1), place);
    out.who.resize(at);
  }
  return out;
}

/// x,y,z of the world, or a body's name with a point of it: BODY[@x,y,z].
void read_goal(const Asked& asked, const std::string& place, std::string& onto, Vec3& to) {
  if (const auto numbers = numbers_in(asked.to)) {
    to = vector_in(asked.to, place);
    return;
  }
  const std::size_t at = asked.to.find('@');
  onto = asked.to.substr(0, at);
  if (at != std::string::npos) to = vector_in(asked.to.substr(at + 1), place);
}

std::vector<Target> targets_in(const IkOptions& options) {
  std::vector<Target> out;
  for (const std::string& text : options.targets) {
    const Asked asked = asked_in(text, "--target");
    PointTarget target{.body = asked.who, .at = asked.at.value_or(Vec3::Zero()), .weight = asked.weight};
    read_goal(asked, "--target " + in_quotes(text), target.onto, target.to);
    out.emplace_back(target);
  }
  for (const std::string& text : options.look) {
    const Asked asked = asked_in(text, "--look");
    LookTarget target{.body = asked.who, .weight = asked.weight};
    if (asked.at) target.direction = *asked.at;
    read_goal(asked, "--look " + in_quotes(text), target.onto, target.to);
    out.emplace_back(target);
  }
  for (const std::string& text : options.turn) {
    const std::string place = fmt::format("--turn {}", in_quotes(text));
    const Asked asked = asked_in(text, "--turn");
    OrientationTarget target{.body = asked.who, .weight = asked.weight};
    if (const auto numbers = numbers_in(asked.to)) {
      if (numbers->size() != 4) throw Error(place, "must be BODY=w,x,y,z, a quaternion, or BODY=OTHER");
      target.orientation = Quat((*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]);
    } else {
      target.against = asked.to;
    }
    out.emplace_back(target);
  }
  if (!options.center.empty()) {
    CenterOfMassTarget target;
    std::string text = options.center;
    // A dash leaves a coordinate free.
    std::size_t begin = 0;
    for (int k = 0; k < 3; ++k) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      const std::string part = begin <= text.size() ? text.substr(begin, comma - begin) : "";
      const auto number = to_double(part);
      if (part != "-" && !number)
        throw Error(fmt::format("--center {}", in_quotes(text)), "must be x,y,z, with - for a coordinate that is left free");
      target.axes[k] = part != "-";
      if (number) target.to[k] = *number;
      begin = comma + 1;
    }
    if (begin != text.size() + 1) throw Error(fmt::format("--center {}", in_quotes(text)), "must be three coordinates");
    out.emplace_back(target);
  }
  if (out.empty()) throw Error("ik", "nothing is asked for; give --target BODY=TARGET, --look, --turn or --center");
  return out;
}

std::string text_of(const Target& target) {
  const auto point = [](const std::string& onto, const Vec3& to) {
    if (onto != "world") return onto;
    return fmt::format("({:.4g}, {:.4g}, {:.4g})", to.x(), to.y(), to.z());
  };
  if (const auto* p = std::get_if<PointTarget>(&target)) return fmt::format("{} to {}", p->body, point(p->onto, p->to));
  if (const auto* o = std::get_if<OrientationTarget>(&target)) return fmt::format("{} turned against {}", o->body, o->against);
  if (const auto* l = std::get_if<LookTarget>(&target)) return fmt::format("{} looks at {}", l->body, point(l->onto, l->to));
  return "centre of mass";
}

InverseMethod method_in(const std::string& name) {
  if (name == "automatic") return InverseMethod::automatic;
  if (name == "newton") return InverseMethod::newton;
  if (name == "damped") return InverseMethod::damped;
  throw Error(fmt::format("--method: must be automatic, newton or damped, is {}", in_quotes(name)));
}

const char* name_of(InverseMethod method) { return method == InverseMethod::newton ? "newton" : "damped"; }

/// What was grabbed becomes a ball joint.
void join_targets(const std::vector<Target>& targets, const World& world, Scene& scene) {
  for (const Target& target : targets) {
    const auto* point = std::get_if<PointTarget>(&target);
    if (point == nullptr) continue;
    const Vec3 at = world.position(point->body) + world.orientation(point->body) * point->at;
    scene.add(Ball{.name = fmt::format("{}_{}", point->body, point->onto), .between = {point->onto, point->body}, .at = at});
  }
}

}  // namespace

void ik(const IkOptions& options) {
  NamedScene named = find_scene(options.scene, true);
  if (!options.out.empty()) require_other_file(options.out, options.scene);
  const std::vector<Target> targets = targets_in(options);
  InverseSettings settings{.method = method_in(options.method),
                           .tolerance = options.tolerance,
                           .max_iterations = options.max_iterations,
                           .max_rotation = options.max_rotation,
                           .limits = options.limits,
                           .hold = options.hold};
  InverseReport report;
  try {
    World world(named.scene);
    report = inverse_kinematics(world, targets, settings);
    if (!options.out.empty()) {
      Scene out = posed(named.scene, world);
      if (options.join) {
        join_targets(targets, world, out);
        World joined(out);
        joined.project();
        out = posed(out, joined);
      }
      if (out.name.empty()) out.name = named.name;
      save_scene(out, options.out);
    }
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }

  const char* verdict = report.reached   ? "reached"
                        : report.closest ? "out of reach: this is the closest pose"
                                         : "not reached; try more iterations, another start, or fewer targets";
  if (options.json) {
    Json out = {{"scene", named.name},
                {"reached", report.reached},
                {"closest", report.closest},
                {"iterations", report.iterations},
                {"error", report.error},
                {"joint_error", report.joint_error},
                {"limit_error", report.limit_error},
                {"at_limits", report.at_limits}};
    for (std::size_t k = 0; k < targets.size(); ++k)
      out["targets"].push_back({{"target", text_of(targets[k])}, {"error", report.target_errors[k]}});
    out["course"] = Json::array();
    for (const InverseIteration& i : report.course)
      out["course"].push_back({{"method", name_of(i.method)}, {"error", i.error}, {"step", i.step}});
    return print(out.dump(2) + "\n");
  }
  std::string text = fmt::format("{}: inverse kinematics\n{:>9}  {:<8} {:>12} {:>12}\n", shown(named.name), "iteration", "method",
                                 "error", "step");
  for (std::size_t k = 0; k < report.course.size(); ++k)
    text += fmt::format("{:>9}  {:<8} {:>12.3e} {:>12.3e}\n", k + 1, name_of(report.course[k].method), report.course[k].error,
                        report.course[k].step);
  for (std::size_t k = 0; k < targets.size(); ++k)
    text += fmt::format("{}: error {:.3e}\n", shown(text_of(targets[k])), report.target_errors[k]);
  for (std::string& joint : report.at_limits) joint = shown(joint);
  if (!report.at_limits.empty()) text += fmt::format("at their limits: {}\n", fmt::join(report.at_limits, ", "));
  text += fmt::format("{}; {} iterations, targets {:.3e}, joints {:.3e} (m, rad)\n", verdict, report.iterations, report.error,
                      report.joint_error);
  print(text);
}

}  // namespace rotule::app
