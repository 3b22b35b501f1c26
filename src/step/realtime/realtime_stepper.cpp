// The table of contents of a real-time step.
#include "step/realtime/realtime_stepper.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/budget.h"
#include "dynamics/forces/weight.h"
#include "math/rotation.h"
#include "model/given_motion.h"
#include "model/realtime_scope.h"
#include "step/realtime/articulations.h"
#include "step/realtime/records.h"
#include "step/realtime/soft/outer_forces.h"
#include "step/realtime/soft/soft_solids.h"

namespace rotule {

using namespace realtime;

namespace {

/// N, that any body may be taken to be squeezed with: wedges and levers make more of weights than they are, and motors press.
double most_load(const Model& model) {
  constexpr double leverage = 8;
  double most = 0;
  for (int body = 0; body < model.body_count(); ++body)
    if (model.movable(body)) most += leverage * model.bodies[body].mass * model.gravity.norm();
  for (const Joint& joint : model.joints)
    for (const auto& axis : joint.drives) most += axis.drive.motor_strength;
  return most;
}

constexpr int least_shared_rows = 8;  // of sixteen bodies: what several threads are worth waking for

}  // namespace

RealtimeStepper::RealtimeStepper(const Model& model, const Recipe& recipe)
    : model_(model),
      recipe_(recipe),
      settings_(std::get<RealtimeStepperSettings>(recipe.stepper)),
      rules_(model, recipe),
      stages_(recipe.threads),
      touches_(model, rules_.settings),
      spins_(model) {
  require_realtime(model);
  bodies_.resize(model.body_count());
  for (int i = 0; i < model.body_count(); ++i) {
    bodies_.set_mass(i, model);
    touches_.add_body(i, bodies_);
  }
  list_rows();
  size_ = touches_.smallest();
  most_load_ = most_load(model_);
  touches_.joints_changed();
  joints_ = std::make_unique<Articulations>(model);
  records_ = std::make_unique<Records>();
  soft_ = std::make_unique<SoftSolids>(model);
}

RealtimeStepper::~RealtimeStepper() = default;

void RealtimeStepper::load(const State& s) {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  wake_changed(s);
  if (!loaded_) {
    load_bodies(s, bodies_);
    joints_->forget();
  } else if (!changed_.empty()) {
    load_rows(s, rows_of(changed_), bodies_);
    if (std::any_of(changed_.begin(), changed_.end(), [&](int body) { return model_.bodies[body].fixed; })) joints_->forget();
  }
  loaded_ = true;
  pushed_ = false;
}

void RealtimeStepper::find(const State& s, double h) {
  load(s);
  touches_.find(s, bodies_, h, std::exchange(anew_, false), changed_, stages_);
  changed_.clear();
  take_in_woken(s);
  found_ = true;
}

const StepReport& RealtimeStepper::step(State& s, double t, double h) {
  Budget::listen();
  const StageClock::Run timed(clock_);
  report_ = {};
  ++evaluations_;
  // A list that nobody asks for any more would be as large as the contacts themselves.
  if (!std::exchange(listed_, false)) std::vector<Contact>().swap(contacts_);
  // A few bodies are moved sooner than workers wake.
  std::optional<Gang::Shift> shift;
  if (!stages_.alone() && static_cast<int>(bodies_.rows.size()) >= least_shared_rows) shift.emplace(stages_.gang);
  open_step(s, t);
  lead(s, t, h);
  {
    const StageClock::Scope stage(clock_, Stage::collide);
    find(s, h);
  }
  note_velocities(s);
  const int substeps = settings_.substeps;
  const double part = h / substeps;
  const VecX* forces = nullptr;
  {
    const StageClock::Scope stage(clock_, Stage::forces);
    bear_loads(h);
    let_go(touches_.slots, bodies_);
    joints_->look(s, t, h, substeps, last_h_ > 0 ? h / last_h_ : 1, settings_.push_speed, bodies_, stages_);
    report_.joints_open = joints_->most_open();
    stages_.over_rows(bodies_.rows, [&](std::span<const int> some) { note_energy(bodies_, some); });
    forces = &gather_forces(s, t, part);
    soft_->begin(s, t, part, substeps, *forces, stages_);
  }
  {
    const StageClock::Scope stage(clock_, Stage::solve);
    const double stiffest = 0.125 / part;  // Hz: faster springs than that would not settle
    SweepSettings sweep;
    sweep.h = static_cast<float>(part);
    sweep.moving = softness(std::min(settings_.contact_frequency, stiffest), settings_.contact_damping, part);
    sweep.fixed = softness(std::min(2 * settings_.contact_frequency, 2 * stiffest), 0.5 * settings_.contact_damping, part);
    sweep.push_speed = static_cast<float>(settings_.push_speed);
    sweep.impulse_scale = last_h_ > 0 ? static_cast<float>(h / last_h_) : 1;
    sweep.stick_speed = static_cast<float>(rules_.stick_speed(size_));
    sweep.restitution_speed = static_cast<float>(rules_.restitution_speed(size_));
    sweep.slop = static_cast<float>(rules_.slop(size_));

    if (records_->problems) records_->begin_problem(model_, s, t, h, *forces, rules_, size_, touches_, *joints_);
    const std::span<const int> rows = bodies_.rows;
    spins_.begin(s, h, bodies_, stages_);
    const auto pass = [&](Pass which) { stages_.sweep(which, touches_.slots, bodies_, sweep); };
    stages_.over_rows(rows, [&](std::span<const int> some) { begin_step(bodies_, some); });
    pass(Pass::prepare);
    joints_->prepare(bodies_, stages_);
    for (int k = 0; k < substeps; ++k) {
      if (k > 0) {
        stages_.over_rows(rows, [&](std::span<const int> some) { begin_substep(bodies_, some); });
        spins_.turn_on(part, bodies_, stages_);
      }
      soft_->substep(s, settings_.push_speed, stages_, bodies_);
      pass(Pass::push);
      joints_->hold(s, t, k, bodies_, stages_);
      stages_.over_rows(rows, [&](std::span<const int> some) { advance(bodies_, some, sweep.h); });
      pass(Pass::relax);
      book_part();
      if (records_->problems) records_->add_part(s, touches_, *joints_);
    }
    if (!records_->problems)
      report_.residual =
          std::max(stages_.judge(touches_.slots, bodies_, sweep.h, evaluations_), joints_->judge(bodies_, evaluations_));
    if (touches_.bouncy()) {
      const bool booked = records_->books || model_.has_kinematic();
      if (booked) mark(bodies_, rows);
      pass(Pass::bounce);
      if (booked) book_bounces();
    }
    spins_.settle(part, h, s, bodies_, stages_);
    joints_->close(s, t + h, bodies_, stages_);
  }
  keep_energy(s, *forces, h);
  hold_back(s, h);
  if (records_->books) book_forces(s, t, h);
  if (records_->problems) report_.residual = records_->close_problem(model_, t, h, rules_, *joints_);
  if (!stages_.finish(bodies_, static_cast<float>(h), s)) report_wild();
  soft_->finish(s, stages_);
  if (const double left = soft_->left(); left > 0) {
    report_.converged = false;
    report_.residual = std::max(report_.residual, left);
  }
  arrive(s, t, h);
  last_h_ = h;
  log_touches(s);
  fall_asleep(s, h);
  close_step(s, t + h);
  report_.solves = 1;
  report_.iterations = 2 * substeps;
  report_.contacts = touches_.points() + soft_->touching();
  report_.asleep = touches_.sleepers.count();
  return report_;
}

void RealtimeStepper::lead(State& s, double t, double h) {
  if (led_.empty()) return;
  head_for_given_motions(model_, t, h, s);
  for (Led& led : led_) led = {led.body, s.p[led.body], s.theta[led.body], s.u.segment<6>(6 * led.body)};
  if (loaded_ && !model_.motions.empty()) load_rows(s, led_rows_, bodies_);
}

void RealtimeStepper::arrive(State& s, double t, double h) {
  if (led_.empty()) return;
  // Lanes carried them along in floats, and rounded what they were told.
  for (const Led& led : led_) {
    s.u.segment<6>(6 * led.body) = led.u;
    s.p[led.body] = led.p + h * led.u.head<3>();
    s.theta[led.body] = turn(led.theta, Vec3(h * led.u.tail<3>()));
  }
  follow_given_motions(model_, t + h, s);
  load_rows(s, led_rows_, bodies_);
}

void RealtimeStepper::bear_loads(double h) {
  constexpr double slow = 3;  // steps of falling
  const double gravity = model_.gravity.norm();
  if (!(gravity > 0) || settings_.load_inertia == 0) return;
  if (weighing_.due(touches_.take_begun(), touches_.manifolds())) weighing_.weigh(touches_.slots, model_.gravity, bodies_);
  stages_.over_rows(bodies_.rows,
                    [&](std::span<const int> rows) { find_calm(bodies_, rows, static_cast<float>(slow * gravity * h)); });
  hand_on_motion(touches_.slots, static_cast<float>(h), bodies_);
  const Burdens burdens{static_cast<float>(settings_.load_inertia), static_cast<float>(gravity), static_cast<float>(most_load_)};
  stages_.over_rows(bodies_.rows, [&](std::span<const int> rows) { realtime::bear_loads(bodies_, rows, burdens); });
}

const VecX& RealtimeStepper::gather_forces(const State& s, double t, double h) {
  const bool pushed = forced_ && external_.size() == model_.velocity_count();
  const bool others = has_outer_forces(model_.forces) || joints_->has_torques(), weight_alone = !pushed && !others;
  forces_.resize(0);
  if (others) {
    forces_.setZero(model_.velocity_count());
    if (pushed) forces_ = external_;
    add_outer_forces(model_, s, t, recipe_.threads, scratch_, forces_);
    joints_->add_torques(forces_);
  }
  // What a user set is not copied: most of it may be on bodies that sleep.
  const VecX& forces = pushed && !others ? external_ : forces_;
  const Eigen::Vector3f fall = (h * model_.gravity).cast<float>();
  for_each_awake([&](int i) {
    const int line = line_of(i);
    const float mass_root = bodies_.mass_root[line / row_lanes].lane[line % row_lanes];
    // Forces are what they are; bodies that were given more inertia feel them less.
    const float root = mass_root * mass_root * bodies_.motion[line].at[6];
    float* kick = bodies_.kick[line].at;
    for (int k = 0; k < 3; ++k) {
      kick[k] = root * fall[k];
      kick[3 + k] = 0;
    }
    if (weight_alone) return;
    const float* pose = bodies_.pose[line].at;
    const Eigen::Vector3f force = (h / model_.bodies[i].mass * forces.segment<3>(6 * i)).cast<float>(),
                          torque = (h * forces.segment<3>(6 * i + 3)).cast<float>();
    Eigen::Matrix3f S;
    S << pose[10], pose[11], pose[12], pose[11], pose[13], pose[14], pose[12], pose[14], pose[15];
    const Eigen::Vector3f spin = S * torque;
    for (int k = 0; k < 3; ++k) {
      kick[k] += root * force[k];
      kick[3 + k] = spin[k];
    }
  });
  return forces;
}

void RealtimeStepper::force_changed(int body, const VecX& external) {
  if (forced_ && external_.size() == external.size())
    external_.segment<6>(6 * body) = external.segment<6>(6 * body);
  else
    set_external(external);
  body_changed(body);
}

void RealtimeStepper::note_velocities(const State& s) {
  if (start_u_.size() != s.u.size()) start_u_ = s.u;
  for_each_awake([&](int i) { start_u_.segment<6>(6 * i) = s.u.segment<6>(6 * i); });
  start_u_.tail(s.x.size()) = s.u.tail(s.x.size());  // wakes are refused: particles come last
}

void RealtimeStepper::report_wild() {
  loaded_ = false;  // lines are made of the state again
  for (int i = 0; i < model_.body_count(); ++i) {
    const Line& line = bodies_.motion[line_of(i)];
    const bool tame = std::all_of(std::begin(line.at), std::end(line.at), [](float x) { return std::abs(x) < 1e15F; });
    if (!tame)
      throw Error("body \"" + model_.bodies[i].name + "\"",
                  "its motion is no longer a number; take a smaller step or another method");
  }
  throw Error("step", "motion is no longer a number; take a smaller step or another method");
}

void RealtimeStepper::body_added() {
  const int body = model_.body_count() - 1;
  require_realtime(model_);
  bodies_.resize(model_.body_count());
  bodies_.set_mass(body, model_);
  touches_.add_body(body, bodies_);
  list_rows();
  size_ = touches_.smallest();
  most_load_ = most_load(model_);
  joints_->body_added();
  soft_->bodies_changed();
  forget();
}

void RealtimeStepper::body_removed(int body) {
  touches_.wake_around(body);
  take_in_woken_pairs();
  touches_.remove_body(body);
  for (const auto& [a, b] : touches_.ended) records_->counts.change(a, b, -1);
  touches_.ended.clear();
  records_->counts.body_removed(body);
  records_->log.body_removed(body);
  bodies_.erase(body);
  std::erase(changed_, body);
  for (int& other : changed_) other -= other > body;
  list_rows();
  joints_->body_removed(body, model_.body_count() + 1);
  touches_.joints_changed();
  soft_->bodies_changed();
  size_ = touches_.smallest();
  most_load_ = most_load(model_);
  forget();
}

void RealtimeStepper::motors_told() { most_load_ = most_load(model_); }

void RealtimeStepper::joint_added() {
  require_realtime(model_);
  wake_partners(model_.joints.back());
  joints_->rebuild();
  joints_->sleep_with(touches_.sleepers);
  touches_.joints_changed();
  most_load_ = most_load(model_);
  forget();
}

void RealtimeStepper::joint_removed(int number, const Joint& joint) {
  wake_partners(joint);
  joints_->joint_removed(number, static_cast<int>(model_.joints.size()) + 1);
  joints_->sleep_with(touches_.sleepers);
  touches_.joints_changed();
  most_load_ = most_load(model_);
  forget();
}

void RealtimeStepper::drives_changed() {
  wake_all();
  joints_->rebuild();
  most_load_ = most_load(model_);
}

void RealtimeStepper::forces_changed() {
  wake_all();  // nobody sleeps where there are forces besides weight
  forget();
}

}  // namespace rotule
