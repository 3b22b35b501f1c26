// rotule run: one scene, its motion and its books.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <thread>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "conserved.h"
#include "equilibrium_watch.h"
#include "progress.h"
#include "record/problem_file.h"
#include "record/scene_files.h"
#include "record/scene_json.h"
#include "record/tally.h"
#include "record/trajectory.h"
#include "resume.h"
#include "signals.h"
#include "solve/solve.h"
#include "world/world_implementation.h"

namespace rotule::app {
namespace {

Recipe chosen_recipe(const Scene& scene, const RunOptions& options) {
  Recipe recipe = scene.recipe;
  apply_settings(recipe, options.settings);
  const auto flag = [&](const char* name, const auto& value, const std::string& text) {
    if (!value) return;
    try {
      set(recipe, name, text);
    } catch (const Error& error) {
      throw Error(fmt::format("--{}", error.what()));
    }
  };
  flag("dt", options.dt, options.dt ? fmt::format("{}", *options.dt) : "");
  flag("duration", options.duration, options.duration ? fmt::format("{}", *options.duration) : "");
  flag("threads", options.threads, options.threads ? std::to_string(*options.threads) : "");
  return recipe;
}

std::int64_t step_count(const Recipe& recipe, const RunOptions& options) {
  constexpr std::int64_t most = 1'000'000'000'000;
  if (options.steps) {
    if (*options.steps < 1 || *options.steps > most)
      throw Error(fmt::format("--steps: must be from 1 to {}, is {}", most, *options.steps));
    return *options.steps;
  }
  // As many whole steps as cover the duration; one that fits but for rounding counts as fitting.
  const double steps = std::ceil(recipe.duration / recipe.dt * (1 - 1e-12));
  if (!(steps <= static_cast<double>(most)))
    throw Error(fmt::format("duration {} s at dt {} s needs more than {} steps; take a larger dt or fewer seconds",
                            shortest(recipe.duration), shortest(recipe.dt), most));
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

void check_outputs(const NamedScene& named, const RunOptions& options) {
  for (const std::string& out : {options.record, options.record_problems})
    if (!out.empty() && same_file(out, named.origin)) throw Error(out, "is the scene itself; give another file");
  if (!options.record.empty() && same_file(options.record, options.record_problems))
    throw Error(options.record, "is given to both --record and --record-problems; give two files");
}

/// Sums of the bodies' own momenta, as lengths. Drift is measured against the larger of those at the start and at the end.
std::pair<double, double> momentum_scales(const World& world) {
  double linear = 0, angular = 0;
  for (const BodyId body : world.bodies()) {
    const Vec3 momentum = world.mass(body) * world.velocity(body);
    const Quat q = world.orientation(body);
    linear += momentum.norm();
    angular +=
        (world.center_of_mass(body).cross(momentum) + q * (world.inertia(body) * (q.conjugate() * world.angular_velocity(body))))
            .norm();
  }
  for (int k = 0; k < world.particles(); ++k) {
    const Vec3 momentum = world.particle_mass(k) * world.particle_velocity(k);
    linear += momentum.norm();
    angular += world.particle_position(k).cross(momentum).norm();
  }
  return {linear, angular};
}

/// The energy that weight would set free if everything fell to the level of the lowest body: the scale of scenes that rest.
double height_energy(const World& world) {
  double lowest = infinity, sum = 0, mass = 0;
  for (const BodyId body : world.bodies()) {
    if (world.mass(body) == 0) continue;
    const double height = -world.gravity().dot(world.center_of_mass(body));
    lowest = std::min(lowest, height);
    sum += world.mass(body) * height;
    mass += world.mass(body);
  }
  return mass > 0 ? sum - mass * lowest : 0;
}

/// What weight could do to all that is there, about: what hardly moves has no other scale than that, and rounding's share of it.
double energy_of_rounding(const World& world) {
  constexpr double share = 1e-9;
  double sum = 0;
  for (const BodyId body : world.bodies()) sum += world.mass(body) * world.center_of_mass(body).norm();
  return share * world.gravity().norm() * sum;
}

/// Which solvers gave the answers of the last step, where one that chooses is asked: island by island.
void count_picks(const World& world, std::map<std::string, std::int64_t>& picks) {
  const Stepper& stepper = implementation_of(world).ready();
  for (int i = 0; i < stepper.island_count(); ++i) ++picks[std::string(stepper.island(i).report.solver)];
}

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// Numbers whose squares and products are too large for doubles would pass as infinite energies.
void require_finite_sums(const World& world, const Diagnostics& now) {
  if (std::isfinite(now.energy()) && now.linear_momentum.allFinite() && now.angular_momentum.allFinite()) return;
  throw Error(fmt::format("step {}", world.steps()),
              "the sums of energy or momentum overflow: masses, speeds, lengths or forces are too large to be multiplied");
}

Json json_of(const ErrorEstimate& e) {
  return {{"position", e.position}, {"worst_position", e.worst_position},
          {"angle", e.angle},       {"speed", e.speed},
          {"energy", e.energy},     {"order", std::isfinite(e.order) ? Json(e.order) : Json()},
          {"body", e.whose},        {"second_run", e.second}};
}

std::string estimate_text(const Json& e) {
  const auto number = [&](const char* key) { return e[key].get<double>(); };
  return fmt::format(
      "  error         about {:.2g} m{} at the end ({:.2g} m at worst), {:.2g} rad, {:.2g} m/s, {:.2g} J; by a second run with "
      "{}\n",
      number("position"),
      e["body"].get<std::string>().empty() ? "" : fmt::format(" (of {})", shown(e["body"].get<std::string>())),
      number("worst_position"), number("angle"), number("speed"), number("energy"), e["second_run"].get<std::string>());
}

Json json_of(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

Json json_of(const Vec3& now, const MomentumBalance& books) {
  return {{"initial", json_of(books.start)},      {"final", json_of(now)},
          {"weight", json_of(books.weight)},      {"applied", json_of(books.applied)},
          {"supports", json_of(books.supports)},  {"hands", json_of(books.hands)},
          {"left_over", json_of(books.left_over)}};
}

/// Where everything is at the end, and what joints bear there.
Json final_state(const World& world) {
  // Names are all different: looking each one up among those before would take as long as all else, squared.
  Json::object_t bodies, joints;
  for (const BodyId body : world.bodies()) {
    const Quat q = world.orientation(body);
    bodies.emplace_back(world.name(body), Json{{"position", json_of(world.position(body))},
                                               {"orientation", {q.w(), q.x(), q.y(), q.z()}},
                                               {"velocity", json_of(world.velocity(body))},
                                               {"angular_velocity", json_of(world.angular_velocity(body))}});
  }
  for (const JointId joint : world.joints()) {
    const JointMotion motion = world.joint_motion(joint);
    const JointForce bears = implementation_of(world).ready().last_joint_force(implementation_of(world).joint_slots.place(joint));
    joints.emplace_back(world.name(joint), Json{{"displacement", json_of(motion.displacement)},
                                                {"angle", json_of(motion.angle)},
                                                {"displacement_rate", json_of(motion.displacement_rate)},
                                                {"angular_rate", json_of(motion.angular_rate)},
                                                {"force", json_of(bears.force)},
                                                {"torque", json_of(bears.torque)},
                                                {"motor_force", json_of(motion.motor_force)},
                                                {"motor_torque", json_of(motion.motor_torque)},
                                                {"passive_force", json_of(motion.passive_force)},
                                                {"passive_torque", json_of(motion.passive_torque)},
                                                {"motor_power", motion.motor_power}});
  }
  return {{"time", world.time()}, {"bodies", bodies}, {"joints", joints}};
}

/// Who brought energy in or took it out, in one line; empty where nobody did.
std::string balance_text(const Json& energy) {
  std::string out;
  const auto add = [&](const char* group, double sign) {
    for (const auto& [name, value] : energy[group].items()) {
      if (value.get<double>() == 0) continue;
      std::string words = name;
      std::replace(words.begin(), words.end(), '_', ' ');
      out += fmt::format("{}{} {:+.4g} J", out.empty() ? "" : ", ", words, sign * value.get<double>());
    }
  };
  add("work", 1);
  add("lost", -1);
  if (out.empty()) return "";
  return fmt::format("  balance       {}; left over {:.3g} J\n", out, energy["left_over"].get<double>());
}

std::string table(const Json& r, double duration, bool free) {
  const auto number = [&](const char* group, const char* key) { return r[group][key].get<double>(); };
  std::string out = fmt::format(
      "{}: {}, {}, {} of {} s ({:.6g} s)\n", shown(r["scene"].get<std::string>()),
      r["particles"].get<int>() > 0
          ? counted(r["bodies"].get<int>(), "body", "bodies") + ", " + counted(r["particles"].get<int>(), "particle", "particles")
          : counted(r["bodies"].get<int>(), "body", "bodies"),
      counted(r["joints"].get<int>(), "joint", "joints"), counted(r["steps"].get<std::int64_t>(), "step", "steps"),
      shortest(r["dt"].get<double>()), duration);
  const std::string threads = counted(r["threads"].get<int>(), "thread", "threads");
  if (r["stepper"] == ReferenceStepperSettings::name)
    out +=
        fmt::format("  method        {}, {}{}, {}, {}\n", r["integrator"].get<std::string>(), r["formulation"].get<std::string>(),
                    r["coordinates"] == ReducedCoordinatesSettings::name ? ", reduced coordinates" : "",
                    r["solver"].get<std::string>(), threads);
  else
    out += fmt::format("  method        {} stepper, {}\n", r["stepper"].get<std::string>(), threads);
  if (r.contains("picked")) {
    std::string picks;
    for (const auto& [name, count] : r["picked"].items())
      picks += fmt::format("{}{} {}", picks.empty() ? "" : ", ", name, count.get<int>());
    out += fmt::format("  picked        {} (islands times steps)\n", picks);
  }
  out += fmt::format("  energy        {:.9g} J -> {:.9g} J, relative error {:.3g}\n", number("energy", "initial"),
                     number("energy", "final"), number("energy", "relative_error"));
  out += balance_text(r["energy"]);
  if (free)
    out += fmt::format("  momentum      drift {:.3g} linear, {:.3g} angular (relative)\n", number("momentum", "linear_drift"),
                       number("momentum", "angular_drift"));
  out += fmt::format("  joint error   {:.3g} m at most, {:.3g} m at the end\n", number("joint_error", "max"),
                     number("joint_error", "final"));
  if (number("contacts", "max") > 0)
    out += fmt::format("  contacts      {:.4g} on average, {} at most; penetration {:.3g} m at most, {:.3g} m at the end\n",
                       number("contacts", "mean"), r["contacts"]["max"].get<int>(), number("penetration", "max"),
                       number("penetration", "final"));
  if (r.contains("fluid")) out += fluid_text(r["fluid"]);
  if (r.contains("estimated_error")) out += estimate_text(r["estimated_error"]);
  out += fmt::format("  residual      {:.3g} mean, {:.3g} at most\n", number("residual", "mean"), number("residual", "max"));
  out += fmt::format("  time          {:.4g} ms per step (median {:.4g}, 99 % below {:.4g})\n", number("ms_per_step", "mean"),
                     number("ms_per_step", "p50"), number("ms_per_step", "p99"));
  if (r.contains("budget"))
    out += fmt::format("  budget        ended {} of {} steps, at residuals up to {:.3g}\n", r["budget"]["cut_steps"].get<int>(),
                       r["steps"].get<std::int64_t>(), number("budget", "worst_residual"));
  if (r.contains("equilibrium")) out += equilibrium_text(r["equilibrium"]);
  out += fmt::format("  state hash    {}\n", r["state_hash"].get<std::string>());
  for (const auto& warning : r["warnings"]) out += fmt::format("  warning       {}\n", shown_message(warning.get<std::string>()));
  return out;
}

/// An object for every number of which something is said: {"penetration": {"max": …, "final": …}}.
void add_tallies(const Tallies& tallies, Json& result) {
  for (const Quantity& q : quantities)
    for (const auto& [name, value] : said_of(q, tallies.of(q)))
      result[std::string(q.key)][std::string(name)] =
          q.whole && name != "mean" ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

/// The whole duration by parareal: no steps to record or to watch in between, only the end.
void run_in_slices(const NamedScene& named, const Recipe& recipe, std::int64_t steps, const RunOptions& options) {
  if (!options.record.empty() || !options.record_problems.empty())
    throw Error("--parareal: has no steps in order to record; leave out --record and --record-problems");
  PararealSettings settings{.slices = *options.parareal, .threads = recipe.threads, .coarse = coarser(recipe)};
  apply_settings(settings.coarse, options.coarse);
  try {
    World world(named.scene, recipe);
    const Diagnostics start = world.diagnostics();
    require_finite_sums(world, start);
    const auto before = std::chrono::steady_clock::now();
    const PararealReport report =
        heeding_signals([&] { return run_parareal(world, static_cast<double>(steps) * recipe.dt, settings); });
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
    const Diagnostics end = world.diagnostics();
    require_finite_sums(world, end);
    if (options.json) {
      const Json result = {{"scene", named.name},           {"slices", settings.slices},
                           {"rounds", report.rounds},       {"fine_slices", report.fine_slices},
                           {"jump", report.jump},           {"estimate", report.estimate},
                           {"converged", report.converged}, {"energy", {{"initial", start.energy()}, {"final", end.energy()}}},
                           {"seconds", taken.count()},      {"state_hash", fmt::format("{:016x}", world.state_hash())}};
      print(result.dump(2) + "\n");
    } else if (!options.quiet) {
      print(fmt::format(
          "{}: {:.6g} s in {} slices of time\n  parareal      {}, {} fine slices, last jump {:.3g}, error left {:.3g}{}\n"
          "  energy        {:.9g} J -> {:.9g} J\n  time          {:.4g} s\n  state hash    {:016x}\n",
          shown(named.name), world.time(), settings.slices, counted(report.rounds, "round", "rounds"), report.fine_slices,
          report.jump, report.estimate, report.converged ? "" : " (not converged)", start.energy(), end.energy(), taken.count(),
          world.state_hash()));
    }
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
}

}  // namespace

void run(const RunOptions& given) {
  std::optional<Resumed> resumed;
  if (!given.resume.empty()) resumed = take_up(given);
  const RunOptions& options = resumed ? resumed->options : given;
  NamedScene named = resumed ? resumed->named : find_scene(options.scene);
  const std::string found = options.record.empty() || resumed ? "" : scene_sum(named);
  if (!resumed) apply_exactness(named.scene, options.exactness);
  const Recipe recipe = resumed ? resumed->recipe : chosen_recipe(named.scene, options);
  const std::int64_t steps = resumed ? resumed->steps : step_count(recipe, options);
  if (options.parareal && options.estimate_error)
    throw Error("--estimate-error: parareal says its own; leave out one of the two");
  if (options.parareal) return run_in_slices(named, recipe, steps, options);
  if (!options.coarse.empty()) throw Error("--coarse: is for parareal; give --parareal too");
  if (options.every != 1 && options.record_problems.empty()) throw Error("--every: is for --record-problems; give a file too");
  check_outputs(named, options);

  // What blows up or is refused is told with the scene's name in front.
  const auto about_scene = [&](auto&& work) {
    try {
      return work();
    } catch (const Error& error) {
      throw Error(named.origin, error.what());
    }
  };
  World world = heeding_signals([&] { return about_scene([&] { return World(named.scene, recipe); }); });
  named.scene.recipe = recipe;  // by which it is run, recorded and looked at
  std::optional<ErrorWatch> second;
  if (options.estimate_error) {
    if (options.relax || options.until_equilibrium)
      throw Error("--estimate-error: compares motions over the same time; leave out --relax and --until-equilibrium");
    heeding_signals([&] { about_scene([&] { second.emplace(named.scene, recipe); }); });
  }

  std::vector<std::string> body_names, joint_names;
  for (const BodyId body : world.bodies()) body_names.push_back(world.name(body));
  for (const JointId joint : world.joints()) joint_names.push_back(world.name(joint));
  std::optional<TrajectoryWriter> trajectory;
  std::optional<ProblemWriter> problems;
  const std::string scene_text =
      options.record.empty() && options.record_problems.empty() ? "" : to_json(with_meshes_inside(named.scene));
  if (resumed)
    trajectory.emplace(go_on(*resumed));
  else if (!options.record.empty())
    trajectory.emplace(options.record, scene_text, recipe, body_names, joint_names, steps + 1,
                       static_cast<std::size_t>(world.particles()));
  if (!options.record_problems.empty()) {
    problems.emplace(options.record_problems, scene_text, to_complete_json(recipe), joint_names);
    world.keep_problems(true);
  }

  const std::vector<Remark> remarks = heeding_signals([&] { return about_scene([&] { return examine(named.scene).remarks; }); });
  if (!options.quiet && !options.json) std::fputs(in_one_line(remarks, named.name).c_str(), stderr);

  std::optional<RelaxationReport> relaxation;
  if (options.relax) relaxation = heeding_signals([&] { return about_scene([&] { return relax(world); }); });

  world.keep_books(true);
  const Diagnostics start = world.diagnostics();
  about_scene([&] { require_finite_sums(world, start); });
  const auto [linear_start, angular_start] = momentum_scales(world);
  const double falls_from = height_energy(world);
  const bool chooses = recipe.solver.holds<AutoSettings>();
  std::map<std::string, std::int64_t> picks;
  Tallies tallies(start);
  FluidTally fluid;
  Diagnostics now = start;
  std::optional<EquilibriumWatch> watch;
  if (options.until_equilibrium) watch.emplace(world, named.scene, options);
  bool at_rest = false;
  TrajectoryFrame frame;
  const std::optional<RecordedPlane> plane = recorded_plane(world, options.slice);
  std::int64_t slices = 0;  // moments that are due at even distances
  const auto record = [&] {
    capture(world, frame);
    trajectory->append(frame);
    if (!plane || world.time() * options.slice_rate < static_cast<double>(slices) * (1 - 1e-9)) return;
    trajectory->append(world.time(), world.fluid()->slice(plane->axis, plane->at));
    slices = static_cast<std::int64_t>(world.time() * options.slice_rate + 1e-9) + 1;
  };
  if (trajectory) time_stages(world);
  std::int64_t done = 0;                 // steps
  std::vector<std::string> lost_joints;  // that broke, in their order
  Json begun = resumed ? resumed->run["begun"] : run_as_begun(options, named, steps);
  begun["steps"] = steps;
  if (!resumed) begun["scene_sum"] = found;
  // From here the run could be gone on with.
  const auto point = [&]() -> ResumePoint {
    const Json now_known = {
        {"begun", begun},
        {"done", done},
        {"saved_at", std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()},
        {"slices", slices},
        {"picks", picks},
        {"fluid", fluid.save()},
        {"equilibrium", watch ? watch->save() : Json(nullptr)},
        {"lost_joints", lost_joints},
        {"counts", counts_of(world)}};
    return {world.save().bytes, now_known.dump(-1, ' ', false, Json::error_handler_t::replace), tallies.save()};
  };
  // What a run that fails after a while has recorded stays, and is said to.
  const auto keeping = [&](auto&& work) {
    try {
      work();
    } catch (const Error& error) {
      if (!trajectory || trajectory->kept().empty()) throw;
      throw Error(fmt::format("{}; what was recorded is in {}", error.what(), trajectory->kept()));
    }
  };
  if (resumed) {
    about_scene([&] { restore(world, *resumed); });
    done = resumed->run.at("done").get<std::int64_t>();
    slices = resumed->run.at("slices").get<std::int64_t>();
    picks = resumed->run.at("picks").get<std::map<std::string, std::int64_t>>();
    lost_joints = resumed->run.at("lost_joints").get<std::vector<std::string>>();
    fluid.load(resumed->run.at("fluid"));
    if (watch) watch->load(resumed->run.at("equilibrium"));
    tallies.load(resumed->point.tallies);
    now = about_scene([&] { return world.diagnostics(); });
    if (trajectory->frames() == 0) record();
  } else if (trajectory) {
    record();
    trajectory->checkpoint(point());
  }
  // A signal ends the run after the steps that are done, or in the midst of one, which then counts as not begun: the summary and
  // the recording are those of all before.
  keeping([&] {
    const WorthKeeping recording;
    ProgressBar bar(steps, !options.quiet);
    for (std::int64_t i = done; i < steps && !at_rest && signal_received() == 0; ++i) {
      const auto before = std::chrono::steady_clock::now();
      StepReport report;
      try {
        report = heeding_signals([&] { return about_scene([&] { return world.step(); }); });
      } catch (const Interrupted&) {
        break;
      }
      const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - before;
      if (problems && i % options.every == 0)
        for (int k = 0; k < world.islands(); ++k) problems->append(i, world.time(), k, world.problem(k), world.multipliers(k));
      now = about_scene([&] { return world.diagnostics(); });
      about_scene([&] { require_finite_sums(world, now); });
      tallies.add({report, taken.count()}, now);
      fluid.add(world, 1e-3 * taken.count());
      if (second) about_scene([&] { second->follow(world); });
      if (chooses) count_picks(world, picks);
      if (trajectory) record();
      if (watch) at_rest = watch->at(world);
      for (const BrokenJoint& broken : world.broken()) lost_joints.push_back(broken.joint);
      done = i + 1;
      if (trajectory && trajectory->due()) trajectory->checkpoint(point());
      bar.at(i + 1);
    }
  });
  if (signal_received() != 0 && world.steps() == 0) throw Interrupted();  // nothing was done, nothing is written
  const WorthKeeping files;

  // Work and losses are accounted for: what is left over is the error; where no books are kept, all that changed.
  const EnergyBalance& books = now.energy_balance;
  const double left_over = std::abs(books.kept ? books.left_over : now.energy() - start.energy());
  const bool touching = !std::holds_alternative<NoContactSettings>(recipe.contacts);
  const double scale =
      std::max({energy_scale(named.scene.gravity, start.energy(), tallies["kinetic_energy"].max()), touching ? falls_from : 0.0,
                std::abs(books.brought_in()), books.taken_out(), energy_of_rounding(world)});
  const double relative_error = scale > 0 ? left_over / scale : left_over;
  const auto [linear_end, angular_end] = momentum_scales(world);
  const auto drift = [](const Vec3& by, double a, double b) { return std::max(a, b) > 0 ? by.norm() / std::max(a, b) : 0.0; };
  Json result = {{"scene", named.name},
                 {"stepper", name_of(recipe.stepper)},
                 {"integrator", name_of(recipe.integrator)},
                 {"formulation", name_of(recipe.formulation)},
                 {"coordinates", world.coordinates()},
                 {"solver", name_of(recipe.solver)},
                 {"threads", recipe.threads > 0 ? recipe.threads : static_cast<int>(std::thread::hardware_concurrency())},
                 {"steps", world.steps()},
                 {"dt", recipe.dt},
                 {"bodies", body_names.size()},
                 {"particles", world.particles()},
                 {"joints", joint_names.size()},
                 {"energy",
                  {{"initial", start.energy()},
                   {"final", now.energy()},
                   {"relative_error", relative_error},
                   {"kinetic", now.kinetic_energy},
                   {"potential", now.potential_energy},
                   {"gravity", now.gravity_energy},
                   {"springs", now.spring_energy},
                   {"work",
                    {{"motors", books.motors},
                     {"forces", books.forces},
                     {"fields", books.fields},
                     {"fluid", books.fluid},
                     {"guides", books.guides},
                     {"hands", books.hands}}},
                   {"lost",
                    {{"drag", books.drag},
                     {"dampers", books.dampers},
                     {"joint_friction", books.joint_friction},
                     {"contact_friction", books.contact_friction},
                     {"impacts", books.impacts},
                     {"yield", books.yield},
                     {"tearing", books.tearing}}},
                   {"left_over", books.left_over},
                   {"conserved", keeps_energy(named.scene, recipe)},
                   {"scale", scale}}},
                 {"momentum",
                  {{"linear_drift", drift(now.linear_momentum - start.linear_momentum, linear_start, linear_end)},
                   {"angular_drift", drift(now.angular_momentum - start.angular_momentum, angular_start, angular_end)},
                   {"conserved", is_free(named.scene)},
                   {"linear", json_of(now.linear_momentum, now.momentum_balance)},
                   {"angular", json_of(now.angular_momentum, now.angular_momentum_balance)}}}};
  add_tallies(tallies, result);
  const WorldImplementation& inside = implementation_of(world);
  if (recipe.budget.seconds > 0 || recipe.budget.iterations > 0 || inside.cut_steps > 0)
    result["budget"] = {{"seconds", recipe.budget.seconds},
                        {"iterations", recipe.budget.iterations},
                        {"cut_steps", inside.cut_steps},
                        {"worst_residual", inside.worst_cut}};
  if (world.fluid() != nullptr) result["fluid"] = fluid.result(world);
  if (signal_received() != 0) result["interrupted"] = true;
  result["final_state"] = final_state(world);
  result["state_hash"] = fmt::format("{:016x}", world.state_hash());
  result["warnings"] = world.warnings();
  constexpr double untrusted = 0.05;
  if (relative_error > untrusted)
    result["warnings"].push_back(
        fmt::format("{:.3g} % of the energy is neither there nor accounted for: do not trust this result; take a smaller step "
                    "(--dt {}) or --recipe exact",
                    100 * relative_error, shortest(0.1 * recipe.dt)));
  result["remarks"] = Json::array();
  for (const Remark& remark : remarks) result["remarks"].push_back(json_of(remark));
  if (second) result["estimated_error"] = json_of(second->estimate(world));
  if (watch) result["equilibrium"] = watch->result(at_rest);
  if (relaxation) {
    result["relaxation"] = {
        {"reached", relaxation->reached}, {"iterations", relaxation->iterations}, {"force", relaxation->force}};
    if (!relaxation->reached)
      result["warnings"].push_back(
          fmt::format("--relax found no equilibrium in {} iterations; the run began where {:.3g} N were left",
                      relaxation->iterations, relaxation->force));
  }
  if (chooses && !picks.empty()) result["picked"] = picks;
  // Both files are whole before either gets its name.
  keeping([&] {
    if (trajectory) {
      trajectory->note(point());
      trajectory->summary(result.dump());
      trajectory->close();
    }
    if (problems) problems->close();
    if (trajectory) trajectory->finish();
    if (problems) problems->finish();
  });
  if (options.json) {
    print(result.dump(2) + "\n");
  } else if (!options.quiet) {
    print(table(result, world.time(), is_free(named.scene)));
  }
  if (signal_received() != 0) throw Interrupted();
}

}  // namespace rotule::app
