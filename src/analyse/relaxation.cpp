#include "analyse/relaxation.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "dynamics/forces/added_mass.h"
#include "integrate/mechanism.h"
#include "model/solver_list.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

/// The recipe that finds accelerations exactly, and linear solves as roughly as Newton's method far from its goal deserves.
Recipe relaxed(Recipe recipe, const RelaxationSettings& settings) {
  recipe.formulation = AccelerationSettings{};
  recipe.correction = ProjectionSettings{};
  recipe.solver = solver_named("ldlt");
  if (std::holds_alternative<LocalGlobalSettings>(recipe.implicit_solver)) recipe.implicit_solver = AutomaticImplicitSettings{};
  std::visit(
      [&](auto& solver) {
        solver.positive = true;
        if constexpr (requires { solver.tolerance; }) solver.tolerance = settings.linear_tolerance;
      },
      recipe.implicit_solver);
  return recipe;
}

/// Over the length of links: below this a joint counts as closed.
constexpr double closed_joint = 1e-9;

/// What is not at rest by then is stiff and far away: chains that hardly stretch.
constexpr int plain_iterations = 100;
constexpr double longest_fall = 1;  // s: of steps that are minima; in longer ones inertia holds nothing where springs are slack

void require(bool condition, const char* place, const char* what) {
  if (!condition) throw Error(place, what);
}

/// The model as it is at rest. What friction and brakes hold would rest nearly everywhere: an equilibrium without them is one
/// with them too. Given motions stand where they are.
Model at_rest(Model model, double t) {
  for (Joint& joint : model.joints)
    for (Joint::AxisDrive& axis : joint.drives) {
      Drive& drive = axis.drive;
      drive.friction = 0;
      if (drive.motor_speed == 0) drive.motor_strength = 0;
      if (drive.motion) drive.motion = GivenMotion{.offset = drive.motion->at(t)[0]};
    }
  return model;
}

}  // namespace

Relaxation::Relaxation(const World& world, const RelaxationSettings& settings)
    : settings_(settings),
      recipe_(relaxed(world.recipe(), settings)),
      model_(at_rest(implementation_of(world).model, world.time())),
      mechanism_(model_, recipe_),
      s_(implementation_of(world).state),
      t_(world.time()),
      h_(settings.step) {
  require(settings.step > 0 && std::isfinite(settings.step), "relax", "step must be greater than 0");
  require(settings.force_tolerance >= 0, "relax", "force_tolerance must not be negative");
  require(settings.linear_tolerance > 0 && settings.linear_tolerance < 1, "relax", "linear_tolerance must be between 0 and 1");
  require(model_.walls.empty(), "relax", "knows nothing of walls; let the motion come to rest instead (--until-equilibrium)");
  require(model_.forces.wakes == 0, "relax",
          "knows nothing of wakes; leave \"unsteady\" out of sections: at rest they are the same without it");
  require(std::holds_alternative<NoContactSettings>(world.recipe().contacts), "relax",
          "knows nothing of contacts; let the motion come to rest instead (--until-equilibrium)");
  for (const Joint& joint : model_.joints)
    if (joint.equations && joint.equations->one_sided && joint.equations->velocities)
      throw Error("joint \"" + joint.name + "\"",
                  "relax knows nothing of velocities that may not be less or more; let the motion come to rest instead "
                  "(--until-equilibrium)");
  s_.u.setZero();
  mechanism_.external = implementation_of(world).external;
  mechanism_.h = settings.step;
  if (settings_.force_tolerance == 0) {
    double heaviest = 0;
    for (int i = 0; i < model_.body_count(); ++i)
      if (model_.movable(i)) heaviest = std::max(heaviest, model_.bodies[i].mass);
    for (int k = 0; k < model_.particle_count(); ++k)
      if (model_.particles.movable(k)) heaviest = std::max(heaviest, model_.particles.mass[k]);
    const double weight = heaviest * model_.gravity.norm();
    settings_.force_tolerance = weight > 0 ? 1e-4 * weight : 1e-6;
  }
}

void Relaxation::times_mass(const VecX& v, VecX& out) const {
  out.resize(v.size());
  for (int i = 0; i < model_.body_count(); ++i) {
    const Mat3& R = mechanism_.kinematics.bodies[i].R;
    const bool movable = model_.movable(i);
    out.segment<3>(6 * i) = (movable ? model_.bodies[i].mass : 0.0) * v.segment<3>(6 * i);
    if (movable)
      out.segment<3>(6 * i + 3) = R * (model_.inertia[i] * (R.transpose() * v.segment<3>(6 * i + 3)));
    else
      out.segment<3>(6 * i + 3).setZero();
  }
  if (model_.has_added_mass()) add_added_momentum(model_, motion_of(mechanism_.kinematics), v, 1, out);
  const int first = 6 * model_.body_count();
  for (int k = 0; k < model_.particle_count(); ++k)
    out.segment<3>(first + 3 * k) = (model_.particles.movable(k) ? model_.particles.mass[k] : 0.0) * v.segment<3>(first + 3 * k);
}

double Relaxation::largest_force() const {
  double square = 0;
  for (Eigen::Index n = 0; n < momentum_.size(); n += 3) square = std::max(square, momentum_.segment<3>(n).squaredNorm());
  return std::sqrt(square);
}

bool Relaxation::place(double alpha) {
  sigma_ = alpha * d_;
  mechanism_.displace(s_, sigma_, trial_);
  if (mechanism_.islands.empty()) return true;
  const auto close = [&] {
    mechanism_.project(std::get<ProjectionSettings>(recipe_.correction), trial_, t_);
    trial_.u.setZero();
  };
  // What would go through a stop ends on it. One that is held may lead through the next.
  constexpr int most_rounds = 10;
  mechanism_.drives.leave_crossed(mechanism_);
  close();
  for (int round = 0; round < most_rounds && mechanism_.drives.hold_crossed(mechanism_, trial_, t_); ++round) close();
  if (!trial_.p.empty() && !std::all_of(trial_.p.begin(), trial_.p.end(), [](const Vec3& p) { return p.allFinite(); }))
    return false;
  double error = 0, reach = 0;
  for (const Island& island : mechanism_.islands) error = std::max(error, island.largest_error());
  for (const Linkage& linkage : mechanism_.linkages)
    if (std::isfinite(linkage.reach)) reach = std::max(reach, linkage.reach);
  if (!(error <= closed_joint * std::max(reach, 1e-3))) return false;
  // Closing must not go further than the step itself: it would be a way of its own.
  mechanism_.difference(trial_, s_, udot_);
  return (udot_ - sigma_).norm() <= sigma_.norm();
}

double Relaxation::pull(double alpha) {
  if (!place(alpha)) return -infinity;
  mechanism_.accelerations(t_, trial_, udot_);
  ++report_.evaluations;
  return udot_.dot(momentum_);
}

bool Relaxation::find_direction() {
  // A step so short that inertia rules always goes downhill.
  for (int tries = 0; tries < 60; ++tries, h_ /= 4) {
    mechanism_.solve_implicit(0, h_ * h_, udot_, d_);
    d_ *= h_ * h_;
    times_mass(d_, momentum_);
    slope_ = udot_.dot(momentum_);
    if (slope_ > 0) return true;
  }
  return false;
}

/// How much of d_ to go. What springs hardly stretch turns along curves, and straight steps along them raise the energy for a
/// moment; insisting on its fall would make them short. So far more pull backwards than there was forwards is let pass in the
/// first hundred iterations, where the next step takes it back. Trials under joints are closed, and twice the pull is enough
/// (found by trying: chains of 50 links take 150 iterations, with half the pull a thousand).
double Relaxation::search() {
  const bool jointed = !mechanism_.islands.empty();
  const double enough = jointed ? 2 : report_.iterations <= 100 ? 100 : 0.5;
  constexpr int most_trials = 20;
  double low = 0, high = 0, low_pull = slope_, high_pull = 0;
  // A turn of a body by a radian, at most; half of one under joints, which have to be closed again.
  double alpha = 1;
  const double turn = jointed ? 0.5 : 1;
  for (int i = 0; i < model_.body_count(); ++i) alpha = std::min(alpha, turn / std::max(1e-300, d_.segment<3>(6 * i + 3).norm()));
  const double longest = 4 * alpha;
  for (int trial = 0; trial < most_trials; ++trial) {
    const double now = pull(alpha);
    if (std::isfinite(now) && std::abs(now) <= enough * slope_) return alpha;
    if (now > 0) {
      low = alpha;
      low_pull = now;
      if (high == 0 && 2 * alpha > longest) return alpha;
    } else {
      high = alpha;
      high_pull = std::isfinite(now) ? now : -infinity;
    }
    if (high == 0) {
      alpha *= 2;
    } else {
      const double secant = std::isfinite(high_pull) ? low + (high - low) * low_pull / (low_pull - high_pull) : low;
      alpha = std::clamp(secant, low + 0.1 * (high - low), high - 0.3 * (high - low));
    }
  }
  if (low == 0 && jointed)
    while (alpha > 1e-12 && !place(alpha)) alpha /= 4;
  return low > 0 ? low : alpha;
}

bool Relaxation::iterate() {
  if (!evaluated_) {
    mechanism_.begin_step(s_, t_);
    mechanism_.drives.decide(mechanism_, s_, t_);
    mechanism_.accelerations(t_, s_, udot_);
    ++report_.evaluations;
    evaluated_ = true;
  }
  times_mass(udot_, momentum_);
  report_.force = largest_force();
  report_.reached = report_.force <= settings_.force_tolerance;
  if (report_.reached) return true;

  ++report_.iterations;
  mechanism_.now.report = {};
  if (report_.iterations > plain_iterations && mechanism_.minimises()) {
    if (report_.iterations == plain_iterations + 1) h_ = settings_.step;
    fall_to_minimum();
    return false;
  }

  // Where to, and how far.
  mechanism_.linearise(t_, s_);
  if (!find_direction()) throw Error("relax", "found no way downhill; its forces may have no potential");
  trial_ = s_;
  const double alpha = search();
  report_.linear_iterations += mechanism_.now.report.iterations;
  if (alpha >= 1)
    h_ = std::min(2 * h_, 1e4);
  else if (alpha < 0.25)
    h_ /= 2;

  if (!place(alpha)) throw Error("relax", "its joints cannot be closed on the way to equilibrium");
  std::swap(s_, trial_);
  require_finite(model_, s_);
  evaluated_ = false;
  return false;
}

void Relaxation::fall_to_minimum() {
  sigma_.setZero(s_.u.size());
  d_.setZero(s_.u.size());
  const StageMinimum found = mechanism_.minimise(t_, s_, sigma_, d_, h_, StageSettings(), trial_, udot_);
  report_.linear_iterations += mechanism_.now.report.iterations;
  report_.evaluations += found.iterations;
  h_ = found.converged ? std::min(2 * h_, longest_fall) : h_ / 4;
  std::swap(s_, trial_);
  s_.u.setZero();
  require_finite(model_, s_);
  evaluated_ = false;
}

RelaxationReport relax(World& world, const RelaxationSettings& settings) {
  Relaxation relaxation(world, settings);
  for (int i = 0; i < settings.max_iterations && !relaxation.iterate(); ++i) Budget::listen();
  const State& s = relaxation.state();
  for (const BodyId body : world.bodies()) {
    const int i = implementation_of(world).body_slots.place(body);
    if (!implementation_of(world).model.movable(i)) continue;
    const Vec3 center = world.orientation(body).conjugate() * (world.center_of_mass(body) - world.position(body));
    world.set_pose(body, {s.p[i] - s.theta[i] * center, s.theta[i]});
    world.set_velocity(body, Vec3::Zero(), Vec3::Zero());
  }
  for (int k = 0; k < world.particles(); ++k)
    if (!world.particle_pinned(k)) world.set_particle(k, s.particle_position(k), Vec3::Zero());
  return relaxation.report();
}

}  // namespace rotule
