#include "step/stepper.h"

#include "step/any_stepper.h"

namespace rotule {

Stepper::Stepper(const Model& model, const Recipe& recipe) {
  if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper))
    any_.reset(new Any{decltype(Any::one)(std::in_place_type<RealtimeStepper>, model, recipe)});
  else
    any_.reset(new Any{decltype(Any::one)(std::in_place_type<ReferenceStepper>, model, recipe)});
}

Stepper::~Stepper() = default;

const StepReport& Stepper::step(State& s, double t, double h) {
  return ask([&](auto& stepper) -> const StepReport& { return stepper.step(s, t, h); });
}

const StepReport& Stepper::last_report() const {
  return look([](const auto& stepper) -> const StepReport& { return stepper.report(); });
}

void Stepper::begin(const State& s, double t) {
  ask([&](auto& stepper) { stepper.begin(s, t); });
}

void Stepper::forget() {
  ask([](auto& stepper) { stepper.forget(); });
}

void Stepper::body_changed(int body) {
  ask([&](auto& stepper) { stepper.body_changed(body); });
}

void Stepper::drop_work() {
  ask([](auto& stepper) { stepper.drop_work(); });
}

void Stepper::body_added() {
  ask([](auto& stepper) { stepper.body_added(); });
}

void Stepper::body_removed(int body) {
  ask([&](auto& stepper) { stepper.body_removed(body); });
}

void Stepper::joint_added() {
  ask([](auto& stepper) { stepper.joint_added(); });
}

void Stepper::joint_removed(int number, const Joint& joint) {
  ask([&](auto& stepper) { stepper.joint_removed(number, joint); });
}

void Stepper::forces_changed() {
  ask([](auto& stepper) { stepper.forces_changed(); });
}

void Stepper::drives_changed() {
  ask([](auto& stepper) { stepper.drives_changed(); });
}

void Stepper::motors_told() {
  ask([](auto& stepper) { stepper.motors_told(); });
}

void Stepper::set_external(const VecX& external) {
  ask([&](auto& stepper) { stepper.set_external(external); });
}

void Stepper::force_changed(int body, const VecX& external) {
  ask([&](auto& stepper) { stepper.force_changed(body, external); });
}

void Stepper::keep_plan(StepPlan* plan) {
  ask([&](auto& stepper) { stepper.keep_plan(plan); });
}

void Stepper::keep_problems(bool keep) {
  ask([&](auto& stepper) { stepper.keep_problems(keep); });
}

void Stepper::time_stages(bool wanted) {
  ask([&](auto& stepper) { stepper.clock().wanted = wanted; });
}

const std::array<double, stage_count>& Stepper::stage_seconds() const {
  return look([](const auto& stepper) -> const std::array<double, stage_count>& { return stepper.clock().seconds(); });
}

void Stepper::strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at) {
  ask([&](auto& stepper) { stepper.strike(s, t, body, impulse, at); });
}

double Stepper::shock(State& s, double t, const ShockPoint& point) {
  return ask([&](auto& stepper) { return stepper.shock(s, t, point); });
}

int Stepper::project(const ProjectionSettings& settings, State& s, double t) {
  return ask([&](auto& stepper) { return stepper.project(settings, s, t); });
}

Diagnostics Stepper::diagnose(const State& s, double t, double h) {
  return ask([&](auto& stepper) { return stepper.diagnose(s, t, h); });
}

JointError Stepper::joint_error(int joint) const {
  return look([&](const auto& stepper) { return stepper.joint_error(joint); });
}

JointForce Stepper::last_joint_force(int joint) const {
  return look([&](const auto& stepper) { return stepper.last_joint_force(joint); });
}

JointForce Stepper::joint_force(const State& s, double t, int joint) {
  return ask([&](auto& stepper) { return stepper.joint_force(s, t, joint); });
}

std::vector<std::pair<int, int>> Stepper::redundant(const State& s, double t) {
  return ask([&](auto& stepper) { return stepper.redundant(s, t); });
}

std::span<const Contact> Stepper::contacts(const State& s, double h) {
  return ask([&](auto& stepper) { return stepper.contacts(s, h); });
}

double Stepper::per_second() const {
  return look([](const auto& stepper) { return stepper.per_second(); });
}

std::span<const Struck> Stepper::struck() const {
  return look([](const auto& stepper) { return std::span<const Struck>(stepper.struck()); });
}

JointMotion Stepper::joint_motion(const State& s, int joint) const {
  return look([&](const auto& stepper) { return stepper.joint_motion(s, joint); });
}

const VecX& Stepper::accelerations(const State& s, double t) {
  return ask([&](auto& stepper) -> const VecX& { return stepper.accelerations(s, t); });
}

void Stepper::keep_books(bool keep, const State& s, double t) {
  ask([&](auto& stepper) { stepper.keep_books(keep, s, t); });
}

void Stepper::worn(const Flow& flow, bool torn) {
  ask([&](auto& stepper) {
    Ledger::take_out(flow, stepper.totals);
    torn ? stepper.forces_changed() : stepper.forget();
  });
}

const TouchLog& Stepper::touches() const {
  return look([](const auto& stepper) -> const TouchLog& { return stepper.touches(); });
}

bool Stepper::touching(int a, int b) const {
  return look([&](const auto& stepper) { return stepper.touching(a, b); });
}

int Stepper::island_count() const {
  return look([](const auto& stepper) { return static_cast<int>(stepper.islands().size()); });
}

IslandView Stepper::island(int number) const {
  return look([&](const auto& stepper) -> IslandView {
    const Island& island = stepper.islands()[static_cast<std::size_t>(number)];
    return {island.bodies,
            island.kept_problem,
            {island.kept_x.data(), static_cast<std::size_t>(island.kept_x.size())},
            island.report};
  });
}

const StepTotals& Stepper::totals() const {
  return look([](const auto& stepper) -> const StepTotals& { return stepper.totals; });
}

std::int64_t Stepper::evaluations() const {
  return look([](const auto& stepper) { return stepper.evaluations(); });
}

bool Stepper::interruptible() const {
  return look([](const auto& stepper) { return stepper.interruptible(); });
}

std::string_view Stepper::coordinates() const {
  return look([](const auto& stepper) { return stepper.coordinates(); });
}

void Stepper::carry_on(const StepTotals& totals, std::int64_t evaluations) {
  ask([&](auto& stepper) { stepper.carry_on(totals, evaluations); });
}

const ReferenceStepper* Stepper::reference() const { return std::get_if<ReferenceStepper>(&any_->one); }

}  // namespace rotule
