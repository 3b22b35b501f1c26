#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/formulation_study.h>

#include <chrono>
#include <cmath>

#include "base/budget.h"
#include "base/spans.h"
#include "constraint/joint_coordinates.h"
#include "dynamics/flow.h"
#include "dynamics/forces/weight.h"
#include "mechanism/shock.h"
#include "model/solver_list.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

enum class RightHandSide { velocity, taylor, acceleration, hybrid };

const char* name_of(RightHandSide kind) {
  switch (kind) {
    case RightHandSide::velocity:
      return "velocity";
    case RightHandSide::taylor:
      return "taylor";
    case RightHandSide::acceleration:
      return "acceleration";
    default:
      return "hybrid";
  }
}

/// Ten times all the energy that there was: nothing more to be learned.
constexpr double study_blown_up = 10;

struct Shares {
  double baumgarte = 0, beta_velocity = 0, beta_position = 0;
};

class StudyRun {
 public:
  StudyRun(const World& world, const Recipe& recipe)
      : mechanism_(implementation_of(world).model, recipe), s_(implementation_of(world).state) {
    mechanism_.external = implementation_of(world).external;
  }

  /// The velocities at the end of a step.
  void solve_step(RightHandSide kind, const Shares& shares, double t, double h) {
    mechanism_.begin_step(s_, t);
    mechanism_.free_velocities(ImpulseFormulation{}, s_, t, h, free_);
    for (Island& island : mechanism_.islands) {
      island.evaluate(mechanism_.linkages, mechanism_.model, mechanism_.kinematics, t);
      island.gather(s_.u, island.u);
      island.gather(free_, island.local);
      joint_error = std::max(joint_error, island.largest_error());
      const bool by_acceleration = kind == RightHandSide::acceleration || kind == RightHandSide::hybrid;
      if (by_acceleration) {
        formulate_forces(island.values, island.u, island.local, shares.beta_position, shares.beta_velocity, h, island.problem);
        solve(island);
      }
      if (kind == RightHandSide::acceleration) {
        island.scatter(free_);
        continue;
      }
      formulate_velocity(island.values, island.local, shares.baumgarte / h, island.problem);
      if (kind == RightHandSide::taylor) look_ahead(island.values, 0.5 * h, island.problem);
      solve(island);
      island.scatter(free_);
    }
  }
  /// What fluid, dampers, motors and forces do in it: with the mean velocity, force times step is the change of motion exactly.
  void book(double t, double h) {
    mean_ = 0.5 * (s_.u + free_);
    for (const DriveLaw& law : mechanism_.drives.laws()) {
      const Drive& drive = mechanism_.model.joints[law.joint].drives[law.drive].drive;
      const double rate = mechanism_.drives.parts(mechanism_, mean_, law).rate;
      work_ += h * (drive.motor_torque - drive.damping * rate) * rate;
    }
    if (mechanism_.model.forces.empty() && mechanism_.external.isZero(0)) return;
    Flow flow;
    add_force_flow(mechanism_.model, mechanism_.external, s_, t, mean_, 1, flow_scratch_, flow);
    for (const double power : flow.work) work_ += h * power;
  }
  void move(double h) {
    s_.u = free_;
    displace(s_, h * s_.u, s_);
  }

  [[nodiscard]] double kinetic() const { return kinetic_energy(mechanism_.model, s_); }
  /// Less all that was brought in, plus what was taken out.
  [[nodiscard]] double energy(double t) {
    return kinetic() - work_ + weight_potential(mechanism_.model, s_) + joint_spring_potential(mechanism_.model, s_) +
           force_potential(mechanism_.model, s_, t, 1, scratch_);
  }
  /// Without weight all the energy; with it, the most motion that there was, and at least a billionth of what the whole scene
  /// would gain by falling a metre: what rounding makes of a structure at rest is no motion.
  [[nodiscard]] double scale(const Vec3& gravity, double start, double kinetic) const {
    if (gravity.isZero(0)) return std::max(std::abs(start), 1e-300);
    double mass = 0;
    for (int i = 0; i < mechanism_.model.body_count(); ++i)
      if (mechanism_.model.movable(i)) mass += mechanism_.model.bodies[i].mass;
    for (int k = 0; k < mechanism_.model.particle_count(); ++k)
      if (mechanism_.model.particles.movable(k)) mass += mechanism_.model.particles.mass[k];
    return std::max(kinetic, 1e-9 * mass * gravity.norm());
  }
  [[nodiscard]] bool has_joints() const { return !mechanism_.islands.empty(); }

  double joint_error = 0;
  std::int64_t solves = 0;

 private:
  void solve(Island& island) {
    island.problem.x0.setZero();
    island.solve(solver_named("ldlt"));
    island.apply_impulses();
    work_ -= island.x.dot(island.values.C_t);  // by whatever time drives
    ++solves;
  }

  JointedMechanism mechanism_;
  State s_;
  VecX free_, mean_;
  double work_ = 0;
  ForceScratch scratch_;
  FlowScratch flow_scratch_;
};

FormulationTrial study_trial(const World& world, const Recipe& recipe, RightHandSide kind, const FormulationStudy& study,
                             bool stabilised, double h) {
  FormulationTrial out{.formulation = name_of(kind), .stabilised = stabilised, .dt = h};
  const Shares shares = stabilised ? Shares{study.baumgarte, study.beta_velocity, study.beta_position} : Shares{};
  const auto steps = static_cast<std::int64_t>(std::llround(study.duration / h));
  const std::int64_t tenth = std::max<std::int64_t>(1, steps / 10);
  StudyRun run(world, recipe);
  const double start = run.energy(0);
  double first = 0, last = 0, kinetic = run.kinetic();
  try {
    for (std::int64_t i = 0; i < steps; ++i) {
      Budget::listen();
      const double t = static_cast<double>(i) * h;
      const auto timed = [&](auto&& work) {
        const auto before = std::chrono::steady_clock::now();
        work();
        out.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      };
      timed([&] { run.solve_step(kind, shares, t, h); });
      run.book(t, h);
      timed([&] { run.move(h); });
      const double energy = run.energy(t + h);
      kinetic = std::max(kinetic, run.kinetic());
      out.energy_error = std::max(out.energy_error, std::abs(energy - start));
      if (i < tenth) first += energy / static_cast<double>(tenth);
      if (i >= steps - tenth) last += energy / static_cast<double>(tenth);
      // Without weight all energy is motion; with it, the most motion so far is what there is to lose.
      if (!std::isfinite(energy) || std::abs(energy - start) > study_blown_up * std::max(kinetic, std::abs(start))) {
        out.blew_up = true;
        break;
      }
    }
  } catch (const Error&) {
    out.blew_up = true;
  }
  const double scale = run.scale(world.gravity(), start, kinetic);
  out.energy_lost = (first - last) / scale;
  out.energy_error /= scale;
  out.joint_error = run.joint_error;
  out.solves = run.solves;
  return out;
}

}  // namespace

std::vector<FormulationTrial> compare_formulations(const Scene& scene, const FormulationStudy& given) {
  FormulationStudy study = given;
  Recipe recipe = recipe_of(scene);
  if (study.dt == 0) study.dt = recipe.dt;
  if (study.duration == 0) study.duration = recipe.duration;
  const auto require = [](bool condition, const std::string& what) {
    if (!condition) throw Error("compare_formulations", what);
  };
  require(study.dt > 0 && std::isfinite(study.dt), "dt must be greater than 0");
  require(study.duration >= 10 * study.dt && study.duration / study.dt < 1e8,
          "the duration must be ten steps at least, and not 1e8");
  for (const double beta : {study.baumgarte, study.beta_velocity, study.beta_position})
    require(beta >= 0 && beta <= 2, "shares of stabilisation must be from 0 to 2");
  recipe.formulation = AccelerationSettings{};
  recipe.correction = NoCorrectionSettings{};
  recipe.solver = solver_named("ldlt");
  recipe.contacts = NoContactSettings{};
  set(recipe, "integrator", "rk4");
  World world(scene, recipe);
  world.project();
  const Model& model = implementation_of(world).model;
  require(!scene.fluid, "knows nothing of a fluid on a grid");
  require(model.walls.empty(), "knows nothing of walls");
  require(std::holds_alternative<NoContactSettings>(recipe_of(scene).contacts), "knows nothing of contacts");
  for (const Joint& joint : model.joints) {
    for (const Joint::AxisDrive& axis : joint.drives)
      require(!switches(axis.drive) && !saturates(axis.drive) && axis.drive.armature == 0,
              fmt::format("joint \"{}\" has a stop, friction, a rotor, or a motor or servo of limited strength, which it knows "
                          "nothing of; springs, dampers, torques and given motions it knows",
                          joint.name));
    require(!joint.equations || !joint.equations->one_sided,
            fmt::format("joint \"{}\" may not be less or more than something, which it knows nothing of", joint.name));
  }
  require(StudyRun(world, recipe).has_joints(), "the scene has no joints: nothing to compare");

  std::vector<FormulationTrial> out;
  for (const bool stabilised : {false, true})
    for (const RightHandSide kind :
         {RightHandSide::velocity, RightHandSide::taylor, RightHandSide::acceleration, RightHandSide::hybrid}) {
      out.push_back(study_trial(world, recipe, kind, study, stabilised, study.dt));
      if (kind != RightHandSide::hybrid) out.push_back(study_trial(world, recipe, kind, study, stabilised, 0.5 * study.dt));
    }
  return out;
}

}  // namespace rotule
