// rotule inverse (A11): the forces of motors that make a recorded motion, as a table, CSV, HDF5 and a picture.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse_dynamics.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/hdf5_file.h"
#include "record/json_text.h"
#include "record/svg_plot.h"
#include "record/trajectory.h"

namespace rotule::app {
namespace {

/// Recorded velocities and accelerations are the motion's own: nothing is differentiated here.
std::vector<MotionState> read_motion(const TrajectoryReader& file, const World& world) {
  for (const char* name : {"/acceleration", "/angular_acceleration"})
    if (!file.contains(name))
      throw Error(file.path(), fmt::format("has no {}; record the motion again with this program", name + 1));
  const std::vector<BodyId> bodies = world.bodies();
  std::vector<std::size_t> place;
  for (const BodyId body : bodies) {
    const auto found = std::find(file.body_names().begin(), file.body_names().end(), world.name(body));
    if (found == file.body_names().end())
      throw Error(file.path(), fmt::format("tells nothing of body {}; {}", in_quotes(world.name(body)),
                                           suggestion(world.name(body), file.body_names())));
    place.push_back(static_cast<std::size_t>(found - file.body_names().begin()));
  }
  const std::size_t recorded = file.body_names().size();
  const auto series = [&](const char* name, std::size_t components) {
    std::vector<double> out = file.series(name);
    if (out.size() != file.frames() * recorded * components) throw Error(file.path(), fmt::format("{} is not whole", name));
    return out;
  };
  const std::vector<double> times = file.series("/time"), p = series("/position", 3), theta = series("/orientation", 4),
                            v = series("/velocity", 3), omega = series("/angular_velocity", 3), a = series("/acceleration", 3),
                            alpha = series("/angular_acceleration", 3);
  std::vector<MotionState> out(file.frames());
  for (std::size_t f = 0; f < out.size(); ++f) {
    out[f].time = times[f];
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const std::size_t at = f * recorded + place[i];
      const auto vec = [&](const std::vector<double>& from) { return Vec3(from[3 * at], from[3 * at + 1], from[3 * at + 2]); };
      out[f].poses.push_back({vec(p), Quat(theta[4 * at], theta[4 * at + 1], theta[4 * at + 2], theta[4 * at + 3])});
      out[f].velocities.push_back(vec(v));
      out[f].angular_velocities.push_back(vec(omega));
      out[f].accelerations.push_back(vec(a));
      out[f].angular_accelerations.push_back(vec(alpha));
    }
  }
  return out;
}

std::string name_of(const Actuator& actuator) { return actuator.joint + "." + actuator.axis; }
const char* unit_of(const Actuator& actuator) { return actuator.axis.starts_with("r") ? "N m" : "N"; }

/// A cell of CSV (RFC 4180).
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string to_csv(const DriveHistory& history) {
  std::string out = "time [s]";
  for (const Actuator& actuator : history.actuators)
    out += "," + quoted(fmt::format("{} [{}]", name_of(actuator), unit_of(actuator)));
  out += "\n";
  for (std::size_t f = 0; f < history.times.size(); ++f) {
    out += shortest(history.times[f]);
    for (const double force : history.forces[f]) out += "," + shortest(force);
    out += "\n";
  }
  return out;
}

std::string to_picture(const DriveHistory& history, const std::string& scene) {
  std::vector<Plot> plots;
  for (const char* unit : {"N m", "N"}) {
    Plot plot;
    plot.title = fmt::format("{}: what motors must exert", scene);
    plot.x.label = "time [s]";
    plot.y.label = fmt::format("{} [{}]", std::string_view(unit) == "N" ? "force" : "torque", unit);
    for (std::size_t k = 0; k < history.actuators.size(); ++k) {
      if (std::string_view(unit_of(history.actuators[k])) != unit) continue;
      PlotSeries& series = plot.series.emplace_back();
      series.name = name_of(history.actuators[k]);
      series.x = history.times;
      for (const std::vector<double>& forces : history.forces) series.y.push_back(forces[k]);
    }
    if (!plot.series.empty()) plots.push_back(std::move(plot));
  }
  return to_svg(plots);
}

void write_hdf5(const DriveHistory& history, const std::vector<double>& reactions, const World& world, const std::string& path) {
  Hdf5File file = Hdf5File::create(path);
  const Hdf5Size frames = history.times.size(), drives = history.actuators.size(), joints = world.joints().size();
  std::vector<double> forces;
  std::vector<std::string> names, units, joint_names;
  for (const std::vector<double>& row : history.forces) forces.insert(forces.end(), row.begin(), row.end());
  for (const Actuator& actuator : history.actuators) {
    names.push_back(name_of(actuator));
    units.emplace_back(unit_of(actuator));
  }
  for (const JointId joint : world.joints()) joint_names.push_back(world.name(joint));
  file.write("/time", history.times, {frames});
  file.write("/drive", forces, {frames, drives});
  file.write("/drive_names", names);
  file.write("/drive_units", units);
  file.write("/reaction", reactions, {frames, joints, 6});
  file.write("/joint_names", joint_names);
  file.attribute("/time", "unit", "s");
  file.attribute("/reaction", "unit", "N (first three), N m about the joint's point, on the second body, in world axes");
  file.finish();
}

/// Whether velocities change by more than accelerations account for: a given motion that began at once, a blow.
bool jumps(const MotionState& a, const MotionState& b) {
  const double h = b.time - a.time;
  const auto jump = [h](const Vec3& before, const Vec3& after, const Vec3& rate, const Vec3& rate_after) {
    return (after - before - 0.5 * h * (rate + rate_after)).norm() > h * (rate.norm() + rate_after.norm()) + 1e-9;
  };
  for (std::size_t i = 0; i < a.poses.size(); ++i)
    if (jump(a.velocities[i], b.velocities[i], a.accelerations[i], b.accelerations[i]) ||
        jump(a.angular_velocities[i], b.angular_velocities[i], a.angular_accelerations[i], b.angular_accelerations[i]))
      return true;
  return false;
}

/// The largest distance from the recorded motion when the forces are fed forward.
double replay(const Scene& scene, const std::vector<MotionState>& motion, const DriveHistory& history) {
  const double begin = motion.front().time;
  const auto knows_time = [](const ForceDef& force) { return std::holds_alternative<Load>(force); };
  const auto moves = [](const BodyDef& body) { return body.motion.has_value(); };
  if (begin != 0 && (std::any_of(scene.forces.begin(), scene.forces.end(), knows_time) ||
                     std::any_of(scene.bodies.begin(), scene.bodies.end(), moves)))
    throw Error("--check", fmt::format("the motion begins at {} s, and forces or bodies of the scene know the time", begin));
  DriveHistory from_zero = history;
  for (double& time : from_zero.times) time -= begin;
  Scene driven = scene;
  feed_forward(driven, from_zero);
  Recipe recipe = recipe_of(scene);
  recipe.formulation = AccelerationSettings{};
  recipe.correction = ProjectionSettings{};
  set(recipe, "integrator", "dormand_prince_8");
  recipe.contacts = NoContactSettings{};
  World world(driven, recipe);
  const std::vector<BodyId> bodies = world.bodies();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    world.set_pose(bodies[i], motion.front().poses[i]);
    if (!scene.bodies[i].immovable())
      world.set_velocity(bodies[i], motion.front().velocities[i], motion.front().angular_velocities[i]);
  }
  double worst = 0;
  for (std::size_t f = 1; f < motion.size(); ++f) {
    world.step(motion[f].time - motion[f - 1].time);
    for (std::size_t i = 0; i < bodies.size(); ++i)
      worst = std::max({worst, (world.position(bodies[i]) - motion[f].poses[i].position).norm(),
                        world.orientation(bodies[i]).angularDistance(motion[f].poses[i].orientation)});
  }
  return worst;
}

Actuator actuator_in(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  static constexpr std::array axes{"x", "y", "z", "rx", "ry", "rz"};
  if (dot == std::string::npos || std::find(axes.begin(), axes.end(), text.substr(dot + 1)) == axes.end()) return {text, ""};
  return {text.substr(0, dot), text.substr(dot + 1)};
}

}  // namespace

void inverse(const InverseOptions& options) {
  const bool recorded = names_recording(options.scene);
  const std::string& path = options.motion.empty() ? options.scene : options.motion;
  if (options.motion.empty() && !recorded)
    throw Error("inverse", "needs a motion: --motion FILE.h5, written by rotule run SCENE --record FILE.h5");
  for (const std::string& out : {options.csv, options.svg, options.out})
    if (!out.empty()) {
      require_other_file(out, path);
      require_other_file(out, options.scene);
    }
  const TrajectoryReader file(path);
  NamedScene named;
  if (recorded) {
    named.scene = parse_scene(TrajectoryReader(options.scene).scene(), options.scene);
    named.origin = options.scene;
    named.name = named.scene.name.empty() ? options.scene : named.scene.name;
  } else {
    named = find_scene(options.scene);
  }
  DriveHistory history;
  std::vector<double> reactions;
  double unexplained = 0, at_unexplained = 0, replayed = -1;
  bool unique = true, late_start = false;
  try {
    const World world(named.scene);
    std::vector<MotionState> motion = read_motion(file, world);
    late_start = motion.size() > 2 && jumps(motion[0], motion[1]);
    if (late_start) motion.erase(motion.begin());
    InverseDynamicsSettings settings;
    for (const std::string& text : options.actuators) settings.actuators.push_back(actuator_in(text));
    InverseDynamics inverse(world, settings);
    history.actuators = inverse.actuators();
    for (const MotionState& now : motion) {
      const InverseForces& forces = inverse.solve(now);
      history.times.push_back(now.time);
      history.forces.push_back(forces.drives);
      for (const JointForce& joint : forces.joints) {
        reactions.insert(reactions.end(), joint.force.data(), joint.force.data() + 3);
        reactions.insert(reactions.end(), joint.torque.data(), joint.torque.data() + 3);
        unique = unique && joint.unique;
      }
      if (forces.unexplained > unexplained) {
        unexplained = forces.unexplained;
        at_unexplained = now.time;
      }
    }
    if (options.check) replayed = replay(named.scene, motion, history);
    if (!options.csv.empty()) write_text_file(options.csv, to_csv(history));
    if (!options.svg.empty()) write_text_file(options.svg, to_picture(history, named.name));
    if (!options.out.empty()) write_hdf5(history, reactions, world, options.out);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }

  Json rows = Json::array();
  double largest_force = 0;
  for (std::size_t k = 0; k < history.actuators.size(); ++k) {
    double largest = 0, when = 0, squares = 0;
    for (std::size_t f = 0; f < history.times.size(); ++f) {
      const double force = history.forces[f][k];
      if (std::abs(force) > std::abs(largest)) {
        largest = force;
        when = history.times[f];
      }
      squares += force * force;
    }
    largest_force = std::max(largest_force, std::abs(largest));
    rows.push_back({{"actuator", name_of(history.actuators[k])},
                    {"unit", unit_of(history.actuators[k])},
                    {"largest", largest},
                    {"at", when},
                    {"rms", std::sqrt(squares / static_cast<double>(history.times.size()))}});
  }
  if (options.json) {
    Json out = {{"scene", named.name},        {"frames", history.times.size()}, {"actuators", rows},
                {"unexplained", unexplained}, {"reactions_unique", unique},     {"first_moment_left_out", late_start}};
    if (replayed >= 0) out["replay_error"] = replayed;
    return print(out.dump(2) + "\n");
  }
  std::string text = fmt::format("{}: motors for {} moments of {}\n{:<28} {:>14} {:>10} {:>14}\n", shown(named.name),
                                 history.times.size(), path, "actuator", "largest", "at [s]", "rms");
  for (const Json& row : rows)
    text += fmt::format("{:<28} {:>10.4g} {:<3} {:>10.4g} {:>10.4g} {:<3}\n", shown(row["actuator"].get<std::string>()),
                        row["largest"].get<double>(), row["unit"].get<std::string>(), row["at"].get<double>(),
                        row["rms"].get<double>(), row["unit"].get<std::string>());
  text += fmt::format("left unexplained by joints and motors: {:.3g} N, N m at most{}\n", unexplained,
                      unexplained > 1e-6 * std::max(1.0, largest_force)
                          ? fmt::format(", at {:.4g} s: contacts, stops, or axes that need a motor", at_unexplained)
                          : "");
  if (late_start) text += "the first moment is left out: velocities jump there, as where a given motion begins\n";
  if (!unique) text += "some joints have redundant rows: motion and motors are right, their reactions are one answer of many\n";
  if (replayed >= 0) text += fmt::format("fed forward, the motion comes back to {:.3g} (m, rad)\n", replayed);
  print(text);
}

}  // namespace rotule::app
