// Steps by an integrator, which asks for constrained accelerations as often as it likes; what steps by impulses share with them.
#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "base/shared_work.h"
#include "mechanism/reduced/reduced_motion.h"
#include "mechanism/soft/soft_motion.h"
#include "mechanism/touching/touching_motion.h"
#include "model/content.h"
#include "model/dial.h"
#include "step/checks.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

namespace {

/// Methods that want more of a mechanism than accelerations.
struct MoreMethods {
  ReferenceMethod operator()(const DormandPrinceSettings& s) const { return Adaptive<Course, DormandPrince5>(s); }
  ReferenceMethod operator()(const DormandPrince8Settings& s) const { return Adaptive<Course, DormandPrince8>(s); }
  ReferenceMethod operator()(const Radau5Settings& s) const { return Adaptive<Course, Radau5>(s); }
  template <class S>
  requires(S::traits.constrained) ReferenceMethod operator()(const S&) const { return Rattle<JointedMechanism>(S::traits.order); }
};

template <class Method>
constexpr bool has_error_control = requires(Method method) {
  method.control;
};
template <class Method>
constexpr bool closes_joints_itself = std::is_same_v<Method, Rattle<JointedMechanism>>;

}  // namespace

ReferenceStepper::ReferenceStepper(const Model& model, const Recipe& recipe)
    : mechanism(model, recipe),
      finder(model, recipe),
      ledger(mechanism),
      method(make_integrator<JointedMechanism, ReferenceMethod>(recipe.integrator, MoreMethods{})),
      impulses_(impulse_formulation(recipe.formulation)),
      rules_(model, recipe),
      cone_(!std::holds_alternative<BoxContactSettings>(recipe.contacts)) {
  look_for_bounces();
  check_drives(model, recipe);
  check_surroundings(model, recipe);
  if (!impulses_ && !std::holds_alternative<NoContactSettings>(recipe.contacts))
    touching_ = std::make_unique<TouchingMotion>(mechanism, recipe.integrator);
  look_at_coordinates();
  look_for_soft();
}

ReferenceStepper::~ReferenceStepper() = default;

void ReferenceStepper::look_at_coordinates() {
  const Recipe& recipe = mechanism.recipe;
  bool reduced = std::holds_alternative<ReducedCoordinatesSettings>(recipe.coordinates);
  if (std::holds_alternative<AutomaticCoordinatesSettings>(recipe.coordinates)) {
    Recipe trial = recipe;
    trial.coordinates = ReducedCoordinatesSettings{};
    const JointNeeds needs = needs_of(mechanism.model);
    reduced = misfit(trial, needs).empty() && ReducedMotion::fits(mechanism.model, by_impulses());
    reduced = reduced || (by_impulses() && needs.rotors);  // which go with trees alone there
  }
  if (by_impulses()) {
    if (reduced) require_trees(mechanism.model, true);
    mechanism.want_trees(reduced);
    impulses_ = impulse_formulation(recipe.formulation);
    if (reduced) impulses_->geometric_stiffness = false;  // joints that cannot open need none
    return;
  }
  if (!reduced)
    reduced_.reset();
  else if (reduced_)
    reduced_->model_changed();
  else
    reduced_ = std::make_unique<ReducedMotion>(mechanism, shocks, recipe.integrator);
}

std::string_view ReferenceStepper::coordinates() const {
  return reduced_ || mechanism.wants_trees() ? ReducedCoordinatesSettings::name : MaximalCoordinatesSettings::name;
}

void ReferenceStepper::step_with_touching(State& s, double t, double h) {
  touching_->advance(s, t, h);
  require_finite(mechanism.model, s, mechanism.helpers());
  finder.forget();
  finder.refresh(s, h, mechanism.now.contacts);
  touching_->finish(s, t + h, mechanism.now.contacts);
  mechanism.now.report.contacts = static_cast<int>(mechanism.now.contacts.size());
  totals.shock_energy += touching_->struck_energy();
  totals.push_energy += mechanism.now.push_energy;
  last_h_ = part_h_ = 1;  // contacts hold forces
}

void ReferenceStepper::catch_up(State& s, double t) {
  DriveLaws& drives = mechanism.drives;
  const bool by_motors = drives.given_motions() && drives.off_course(mechanism, s, t);
  // What lets joints drift lets equations of the time, and stops, drift too.
  const bool closes = std::holds_alternative<ProjectionSettings>(mechanism.recipe.correction);
  constexpr double beyond = 1e-6;  // rad, m: what events leave is far less
  if (closes && drives.beyond_stops(mechanism, s, t, beyond)) {
    drives.decide(mechanism, s, t);
    drives.hold_crossed(mechanism, s, t);
    mechanism.project(ProjectionSettings{}, s, t);
    drives.leave_crossed(mechanism);
    forget();
  }
  if (!by_motors && !(closes && drives.off_time(mechanism, s, t))) return;
  const double before = mechanism.books ? ledger.energies(mechanism, s, t).sum() : 0;
  {
    const JointedMechanism::Jump jump(mechanism, s);
    mechanism.project(ProjectionSettings{}, s, t);
  }
  forget();
  // A blow by what is given, which bodies had not followed so far.
  if (!mechanism.books) return;
  mechanism.now.flow[by_motors ? Agent::motors : Agent::guides] += ledger.energies(mechanism, s, t).sum() - before;
}

void ReferenceStepper::step_by_method(State& s, double t, double h) {
  catch_up(s, t);
  if (touching_) return step_with_touching(s, t, h);
  if (reduced_) return reduced_->advance(s, t, h, driven_, totals.shock_energy);
  StepReport& report = mechanism.now.report;
  std::visit(
      [&]<class Method>(Method& chosen) {
        if constexpr (has_error_control<Method>) {
          Course course(mechanism, shocks, chosen.control, totals.shock_energy);
          if (chosen.memory.plan) course.settle_all_the_way();  // a closing that may stop early is no smooth function either
          if (mechanism.drives.switching()) {
            ControlledStretches stretches(chosen, course);
            driven_.advance(mechanism, stretches, s, t, h, totals.shock_energy);
            return;
          }
          const std::int64_t before = chosen.steps, iterations_before = chosen.iterations();
          chosen.advance(course, s, t, h);
          follow_given_motions(mechanism.model, t + h, s);
          report.inner_steps = static_cast<int>(chosen.steps - before);
          report.newton_iterations += static_cast<int>(chosen.iterations() - iterations_before);
        } else if (mechanism.drives.switching()) {
          FixedStretches stretches(chosen, mechanism, driven_.end, driven_.memory, closes_joints_itself<Method>);
          driven_.advance(mechanism, stretches, s, t, h, totals.shock_energy);
        } else {
          mechanism.begin_step(s, t);
          chosen.advance(mechanism, s, t, h);
          follow_given_motions(mechanism.model, t + h, s);
          if constexpr (requires { chosen.report; }) {
            report.newton_iterations += chosen.report.iterations;
            report.halvings += chosen.report.halvings;
            report.converged = report.converged && chosen.report.converged;
          }
          require_finite(mechanism.model, s, mechanism.helpers());
          if constexpr (!closes_joints_itself<Method>) mechanism.correct(s, t + h);
        }
      },
      method);
  require_finite(mechanism.model, s, mechanism.helpers());
  require_joined(mechanism.model, mechanism.linkages, mechanism.islands);
}

void ReferenceStepper::forget() {
  finder.forget();
  if (touching_) touching_->forget();
  if (reduced_) reduced_->forget();
  mechanism.unsettle_trees();
  std::visit(
      [](auto& chosen) {
        if constexpr (requires { chosen.memory; }) chosen.memory.forget();
      },
      method);
}

void ReferenceStepper::keep_plan(StepPlan* plan) {
  if (reduced_) return reduced_->keep_plan(plan);
  std::visit(
      [&](auto& chosen) {
        if constexpr (requires { chosen.memory.plan; }) chosen.memory.plan = plan;
      },
      method);
}

void ReferenceStepper::drop_work() {
  for (std::vector<Island>* islands : {&mechanism.islands, &islands_, &late_, &bouncing_})
    for (Island& island : *islands) {
      island.workspace = {};
      island.gang = nullptr;
    }
  closing_ = {};
  shocks = {};
  mechanism.forget_shape();
  mechanism.release_joints();
}

bool ReferenceStepper::joints_are_closed() const {
  return !std::holds_alternative<NoCorrectionSettings>(mechanism.recipe.correction);
}

void ReferenceStepper::close(const Part& part) {
  State& s = mechanism.now.state;
  const double t = part.t + part.h;
  if (const auto* projection = std::get_if<ProjectionSettings>(&mechanism.recipe.correction))
    closing_.close(*projection, rules_, mechanism, islands(), search_, s, t, part.h);
  else
    mechanism.correct(s, t);
  require_finite(mechanism.model, s, mechanism.helpers());
}

void ReferenceStepper::look_at_end(State& s, double t, double h) {
  const StageClock::Scope stage(mechanism.clock, Stage::collide);
  Attempt& now = mechanism.now;
  finder.forget();
  finder.refresh(s, h, now.contacts, mechanism.helpers());
  const auto* projection = std::get_if<ProjectionSettings>(&mechanism.recipe.correction);
  // Taking some apart may push others together: a few rounds, and more where they are deep in each other, unless nothing helps.
  constexpr int few_rounds = 4, most_rounds = 20, most_idle = 4;
  constexpr double deep = 1e-3, helped = 1e-3;
  const auto deepest = [&] {  // over the smaller body's size
    double depth = 0;
    for (const Contact& c : now.contacts)
      if (finder.overlaps(c)) depth = std::max(depth, -c.gap / c.size);
    return depth;
  };
  double last = infinity;
  for (int round = 0, idle = 0; projection && round < most_rounds; ++round) {
    const double depth = deepest();
    if (depth == 0) break;
    idle = std::abs(depth - last) < helped * last ? idle + 1 : 0;
    if (round >= few_rounds && (depth < deep || idle > most_idle || Budget::spent() || SharedWork::current()->spent())) break;
    last = depth;
    const int count = split_into_islands(mechanism.model, parts(), late_, late_search_);
    const std::span<const Island> late{late_.data(), static_cast<std::size_t>(count)};
    const LeastMove least = round == 0 ? LeastMove::by_mass : LeastMove::by_length;
    if (!closing_.close(*projection, rules_, mechanism, late, late_search_, s, t, h, least)) break;
    finder.forget();
    finder.refresh(s, h, now.contacts, mechanism.helpers());
  }
  now.report.contacts = static_cast<int>(now.contacts.size()) + (soft_ ? soft_->touching() : 0);
}

void ReferenceStepper::log_touches() {
  touching_now_.clear();
  for (const Contact& c : mechanism.now.contacts)
    if (finder.touching(c)) touching_now_.push_back({std::min(c.a, c.b), std::max(c.a, c.b)});
  touching_now_.insert(touching_now_.end(), finder.sensed().begin(), finder.sensed().end());
  touches_.end_step(touching_now_);
}

void ReferenceStepper::refresh_given() {
  const Model& model = mechanism.model;
  if (!model.has_kinematic() && model.belt_count == 0) return;
  mechanism.kinematics.update(model, mechanism.now.state);
  for (Contact& c : mechanism.now.contacts) write_given(model, mechanism.kinematics, c);
}

void ReferenceStepper::bounce_off_walls(State& s, double t) {
  points_.clear();
  shocks.find(mechanism.model, s, points_);
  if (points_.empty()) return;
  const JointedMechanism::Jump jump(mechanism, s);
  mechanism.now.report.shocks += static_cast<int>(points_.size());
  totals.shock_energy += shocks.apply(mechanism, s, t, points_, true);
  forget();
}

}  // namespace rotule
