#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/budget.h"
#include "base/text.h"
#include "constraint/pool/contact.h"
#include "dynamics/forces/fluid.h"
#include "mechanism/attempt.h"
#include "mechanism/jointed_mechanism.h"
#include "mechanism/shock.h"
#include "model/content.h"
#include "model/names.h"
#include "model/particle_surface.h"
#include "model/planar_scene.h"
#include "model/realtime_scope.h"
#include "model/solid_surface.h"
#include "model/validate.h"
#include "model/wear.h"
#include "world/fluid_coupling.h"
#include "world/moving_meshes.h"
#include "world/world_implementation.h"

namespace rotule {

Stepper& WorldImplementation::ready() {
  if (!stepper) {
    model.settle_point_masses();
    take_in_meshes(0);
    stepper.emplace(model, recipe);
    stepper->set_external(external);
    stepper->keep_problems(keep_problems);
    stepper->carry_on(totals_before, evaluations_before);
    stepper->begin(state, time);
    if (keep_books) stepper->keep_books(true, state, time);
  }
  return *stepper;
}

void WorldImplementation::take_in_meshes(int first) {
  if (std::holds_alternative<NoContactSettings>(recipe.contacts)) return;
  for (int i = first; i < model.body_count(); ++i)
    if (std::string remark = cut_moving_mesh(model, i); !remark.empty()) mesh_remarks.push_back(std::move(remark));
}

void WorldImplementation::recipe_changed() {
  ++revision;
  shape.reset();
  judge.reset();
  if (!stepper) return;
  evaluations_before = stepper->evaluations();
  totals_before = stepper->totals();
  stepper.reset();
}

void WorldImplementation::model_changed() {
  ++revision;
  shape.reset();
  events.clear();
  judge.reset();
  model.settle_point_masses();
  if (!stepper) return;
  stepper->set_external(external);
  stepper->begin(state, time);
}

void WorldImplementation::resize_state(int bodies) {
  state.p.resize(bodies, Vec3::Zero());
  state.theta.resize(bodies, Quat::Identity());
  const Eigen::Index behind = state.x.size() + 3 * model.forces.wakes;
  for (VecX* v : {&state.u, &external}) {
    const VecX others = v->tail(std::min(v->size(), behind));  // they stay behind the bodies
    v->conservativeResizeLike(VecX::Zero(6 * bodies + behind));
    v->tail(others.size()) = others;
  }
}

void WorldImplementation::sections_changed() {
  const Eigen::Index first = 6 * static_cast<Eigen::Index>(state.bodies()) + state.x.size();
  const std::vector<int> were = model.forces.settle_wakes();
  const VecX u = state.u;
  state.u.conservativeResize(first + 3 * model.forces.wakes);
  settle_wakes(model, time, state);
  for (int k = 0; k < model.forces.wakes; ++k)
    if (were[static_cast<std::size_t>(k)] >= 0)
      state.u.segment<3>(first + 3 * k) = u.segment<3>(first + 3 * were[static_cast<std::size_t>(k)]);
  external.conservativeResizeLike(VecX::Zero(state.u.size()));
}

void WorldImplementation::add_body(const BodyDef& def, const std::string& place) {
  const int i = model.body_count();
  Body body = compile_body(def, materials, place);
  body.layer = model.layer_bit(def.layer);
  if (def.meets) {
    body.meets = 0;
    for (const std::string& layer : *def.meets) body.meets |= model.layer_bit(layer);
  }
  if (def.motion) model.motions.push_back(compile_motion(def, i, place));
  if (state.bodies() == i) resize_state(i + 1);
  model.add(std::move(body));
  place_body(model, state, i, {def.position, def.orientation});
  if (!def.fixed) state.u.segment<6>(6 * i) << def.velocity, def.angular_velocity;
  body_of_name.emplace(def.name, i);
  body_slots.add();
}

int WorldImplementation::find_body(std::string_view name) const {
  if (name == "world") return world_body;
  if (const auto found = body_of_name.find(std::string(name)); found != body_of_name.end()) return found->second;
  std::vector<std::string> known;
  for (const Body& body : model.bodies) known.push_back(body.name);
  throw Error(fmt::format("body {}", in_quotes(name)), "there is no such body; " + suggestion(name, known));
}

ForceEnd WorldImplementation::find_end(const std::string& name) const {
  if (name == "world") return {};
  if (const int particle = model.particles.find(name); particle >= 0) return {ForceEnd::Kind::particle, particle};
  return {ForceEnd::Kind::body, find_body(name)};
}

void WorldImplementation::add_joint(const JointDef& def, const std::string& place) {
  const auto find = [&](const std::string& name) {
    const ForceEnd end = find_end(name);
    if (end.kind != ForceEnd::Kind::particle) return end.index;
    if (!model.particles.movable(end.index))
      throw Error(place + "/between", fmt::format("particle {} is pinned; name \"world\" in its place", in_quotes(name)));
    return model.join(end.index);
  };
  model.add(compile_joint(def, place, model, state, find));
  joint_slots.add();
}

void WorldImplementation::impulse(int body, const Vec3& impulse, const Vec3& at) {
  ready().strike(state, time, body, impulse, at);
}

void WorldImplementation::look_at_start() {
  if (model.sensor_count > 0 && std::holds_alternative<NoContactSettings>(recipe.contacts))
    start_warnings.emplace_back("there are sensors, and the recipe has no contacts: they will sense nothing");
  std::uint32_t taken = 0;
  for (const Body& body : model.bodies) taken |= body.layer;
  for (const Body& body : model.bodies)
    for (std::size_t k = 1; k < model.layers.size(); ++k)
      if (body.meets != ~0u && (body.meets >> k & 1) != 0 && (taken >> k & 1) == 0)
        start_warnings.push_back(
            fmt::format("body \"{}\" meets layer \"{}\", on which there is no body", body.name, model.layers[k]));
  ready().diagnose(state, time, recipe.dt);
  require_finite(model, state);
  const double speed = state.u.size() ? state.u.cwiseAbs().maxCoeff() : 0;
  for (int j = 0; j < joint_slots.count(); ++j) {
    const JointError error = stepper->joint_error(j);
    if (error.velocity > 1e-9 * std::max(1.0, speed))
      start_warnings.push_back(fmt::format("joint \"{}\" starts with its velocities {:.3g} m/s (or rad/s) apart",
                                           model.joints[j].name, error.velocity));
    if (error.position > 1e-9)
      start_warnings.push_back(fmt::format("joint \"{}\" starts {:.3g} m (or rad) open", model.joints[j].name, error.position));
  }
  const Contact* deepest = nullptr;
  for (const Contact& c : stepper->contacts(state, recipe.dt))
    if (!deepest || c.gap < deepest->gap) deepest = &c;
  if (deepest && deepest->gap < -1e-4)
    start_warnings.push_back(
        fmt::format("bodies start in each other, \"{}\" and \"{}\" the deepest, by {:.3g} m: they are moved "
                    "apart, where joints let them, which adds energy",
                    model.bodies[deepest->a].name, model.bodies[deepest->b].name, -deepest->gap));
}

namespace {

void require_fluid_runs(const std::optional<FluidDef>& fluid, const Recipe& recipe) {
  if (fluid && std::holds_alternative<RealtimeStepperSettings>(recipe.stepper))
    throw Error("recipe/stepper", "the real-time stepper does not know fluids yet; --set stepper=reference runs it");
}

}  // namespace

World::World(const Scene& scene) : World(scene, recipe_of(scene)) {
  if (scene.dial != Dial::realtime) return;
  if (std::string why = why_not_realtime(scene, implementation_->recipe); !why.empty())
    implementation_->start_warnings.push_back(std::move(why));
}

World::World(const Scene& scene, const Recipe& recipe) : implementation_(std::make_unique<WorldImplementation>()) {
  Scene named = scene;
  named.recipe = recipe;
  name_unnamed(named);
  validate(named);
  hold_in_plane(named);
  check_combination(recipe, needs_of(named));
  require_fluid_runs(named.fluid, recipe);
  WorldImplementation& w = *implementation_;
  w.recipe = recipe;
  w.materials = named.materials;
  w.model.gravity = named.gravity;
  w.model.walls = named.walls;
  const auto material = [&](const std::string& name) {
    const auto found =
        std::find_if(named.materials.begin(), named.materials.end(), [&](const auto& m) { return m.name == name; });
    return static_cast<int>(found - named.materials.begin());
  };
  for (const MaterialPair& pair : named.material_pairs) {
    const int a = material(pair.between[0]), b = material(pair.between[1]);
    w.model.surface_pairs.push_back({std::min(a, b), std::max(a, b), pair.friction, pair.static_friction, pair.restitution});
  }
  w.resize_state(static_cast<int>(named.bodies.size()));
  // Exactly: large worlds would keep up to twice of what they need.
  w.model.bodies.reserve(named.bodies.size());
  w.model.inverse_mass.reserve(named.bodies.size());
  w.model.inertia.reserve(named.bodies.size());
  w.model.inverse_inertia.reserve(named.bodies.size());
  for (std::size_t i = 0; i < named.bodies.size(); ++i) w.add_body(named.bodies[i], fmt::format("/bodies/{}", i));
  const auto add_group = [&](const ParticleGroup& group, std::span<const std::array<int, 3>> outside) {
    add_particle_surface(group, outside, named.materials, w.model);
    add_particles(group, w.model, w.state, outside);
  };
  for (const ParticleGroup& group : named.particles) add_group(group, {});
  for (const SolidDef& solid : named.solids) add_group(build(solid), surface_triangles(solid));
  w.external.setZero(w.model.velocity_count());
  for (std::size_t i = 0; i < named.joints.size(); ++i)
    w.add_joint(named.joints[i], fmt::format("/joints/{}/{}", i, kind_of(named.joints[i])));
  for (std::size_t i = 0; i < named.flows.size(); ++i)
    w.model.add(named.flows[i], fmt::format("/flows/{}/{}", i, kind_of(named.flows[i])));
  for (std::size_t i = 0; i < named.forces.size(); ++i)
    w.add_force(named.forces[i], fmt::format("/forces/{}/{}", i, kind_of(named.forces[i])));
  begin_wear(w.model);
  follow_given_motions(w.model, 0, w.state);
  w.sections_changed();
  for (const ImpulseDef& blow : named.impulses) {
    const int body = w.find_body(blow.body);
    w.impulse(body, blow.impulse, blow.at.value_or(w.state.p[body]));
  }
  if (named.fluid) w.fluid = std::make_shared<FluidCoupling>(*named.fluid, w.model, w.state, recipe.threads);
  w.look_at_start();
}

World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

namespace {

/// Takes away joints that exert more than they bear, now that a step has ended.
const StepReport& break_joints(const World& world, WorldImplementation& w, const StepReport& report) {
  constexpr int most_told = 10;
  w.broken.clear();
  for (int j = static_cast<int>(w.model.joints.size()) - 1; j >= 0; --j) {
    const Breaking& breaks = w.model.joints[j].breaks;
    if (!breaks.force && !breaks.torque) continue;
    const JointForce exerted = world.joint_force(w.joint_slots.id(j));
    const double force = exerted.force.norm(), torque = exerted.torque.norm();
    if (!(breaks.force && force > *breaks.force) && !(breaks.torque && torque > *breaks.torque)) continue;
    w.broken.push_back({w.model.joints[j].name, w.time, force, torque});
  }
  if (w.broken.empty()) return report;
  // The stepper's own report may change with its joints.
  w.report_of_breaking = report;
  w.report_of_breaking.broken = static_cast<int>(w.broken.size());
  std::reverse(w.broken.begin(), w.broken.end());
  for (const BrokenJoint& broken : w.broken)
    for (int j = static_cast<int>(w.model.joints.size()) - 1; j >= 0; --j)
      if (w.model.joints[j].name == broken.joint) w.remove_joint(j);
  for (const BrokenJoint& broken : w.broken)
    if (++w.broken_joints <= most_told)
      w.start_warnings.push_back(fmt::format("joint {} broke at {:.6g} s{}", in_quotes(broken.joint), broken.time,
                                             w.broken_joints == most_told ? "; others that break are not told" : ""));
  std::vector<ContactEvent> events = std::move(w.events);  // of the step, whatever broke at its end
  w.model_changed();
  w.events = std::move(events);
  return w.report_of_breaking;
}

}  // namespace

std::span<const BrokenJoint> World::broken() const { return implementation_->broken; }

const StepReport& World::step(double h) {
  WorldImplementation& w = *implementation_;
  if (!(h > 0) || !std::isfinite(h)) throw Error("step", fmt::format("must be a positive number of seconds, is {}", h));
  ++w.revision;
  w.ready();
  const bool halfway = w.stepper->interruptible() || w.fluid;
  const std::int64_t number = w.steps + 1;
  if (halfway) w.remember();
  try {
    const Budget budget(w.bell, w.recipe.budget.seconds, w.recipe.budget.iterations,
                        w.recipe.threads == 1 ? w.budget_time : BudgetTime::clock);
    const StepReport& report = w.fluid ? w.fluid->step(w, h) : w.stepper->step(w.state, w.time, h);
    // Time from the count where the step is constant, so that it does not drift by rounding.
    w.time = h == w.recipe.dt && w.time == static_cast<double>(w.steps) * h ? static_cast<double>(w.steps + 1) * h : w.time + h;
    ++w.steps;
    if (!w.fluid) w.take_events();
    w.unconverged_steps += !report.converged;
    w.late_steps += report.late_shocks > 0;
    w.halved_steps += report.halvings > 0;
    w.repeated_steps += report.attempts > 1;
    w.gaining_steps += report.energy_gained > 0;
    w.open_steps += report.joints_open > 0;
    w.most_gained = std::max(w.most_gained, report.energy_gained);
    w.most_open = std::max(w.most_open, report.joints_open);
    w.held_steps += report.held_overlap > 0;
    w.most_held = std::max(w.most_held, report.held_overlap);
    w.slowed_steps += report.slowed > 0;
    w.energy_taken += report.energy_taken;
    w.most_taken = std::max(w.most_taken, report.energy_taken);
    w.stopped_steps += report.stopped_along > 0 || report.stopping_energy > 0;
    w.stopping_energy += report.stopping_energy;
    if (report.cut) {
      ++w.cut_steps;
      w.worst_cut = std::max(w.worst_cut, report.residual);
    }
    return break_joints(*this, w, w.wear_elements(report));
  } catch (const Interrupted&) {
    if (halfway) w.go_back();
    w.bell.silence();
    throw;
  } catch (const Error& error) {
    if (halfway) w.go_back();
    throw Error(fmt::format("step {}", number), error.what());
  }
}

void World::interrupt() noexcept { implementation_->bell.ring(); }

double World::time() const { return implementation_->time; }
std::int64_t World::steps() const { return implementation_->steps; }
const Recipe& World::recipe() const { return implementation_->recipe; }

void World::set_recipe(const Recipe& recipe) {
  WorldImplementation& w = *implementation_;
  validate(recipe, Place(""));
  check_combination(recipe, needs_of(w.model));
  if (w.fluid) require_fluid_runs(w.fluid->grid().def(), recipe);
  const Recipe before = std::exchange(w.recipe, recipe);
  w.recipe_changed();
  try {
    w.ready();
  } catch (const Error&) {
    w.recipe = before;
    w.recipe_changed();
    throw;
  }
}
const Vec3& World::gravity() const { return implementation_->model.gravity; }

BodyId World::body(std::string_view name) const {
  const int i = implementation_->find_body(name);
  if (i == world_body) throw Error("body \"world\"", "is not a body: it has no state");
  return implementation_->body_slots.id(i);
}

JointId World::joint(std::string_view name) const {
  const WorldImplementation& w = *implementation_;
  std::vector<std::string> known;
  for (int j = 0; j < w.joint_slots.count(); ++j) {
    if (w.model.joints[j].name == name) return w.joint_slots.id(j);
    known.push_back(w.model.joints[j].name);
  }
  throw Error(fmt::format("joint {}", in_quotes(name)), "there is no such joint; " + suggestion(name, known));
}

std::vector<BodyId> World::bodies() const {
  std::vector<BodyId> out;
  for (int i = 0; i < implementation_->body_slots.count(); ++i) out.push_back(implementation_->body_slots.id(i));
  return out;
}

std::vector<JointId> World::joints() const {
  std::vector<JointId> out;
  for (int j = 0; j < implementation_->joint_slots.count(); ++j) out.push_back(implementation_->joint_slots.id(j));
  return out;
}

const std::string& World::name(BodyId body) const {
  return implementation_->model.bodies[implementation_->body_slots.place(body)].name;
}
const std::string& World::name(JointId joint) const {
  return implementation_->model.joints[implementation_->joint_slots.place(joint)].name;
}
bool World::contains(BodyId body) const { return implementation_->body_slots.contains(body); }
bool World::contains(JointId joint) const { return implementation_->joint_slots.contains(joint); }

Vec3 World::position(BodyId body) const {
  const WorldImplementation& w = *implementation_;
  return body_frame(w.model, w.state, w.body_slots.place(body)).position;
}
Quat World::orientation(BodyId body) const { return implementation_->state.theta[implementation_->body_slots.place(body)]; }
Vec3 World::center_of_mass(BodyId body) const { return implementation_->state.p[implementation_->body_slots.place(body)]; }
Vec3 World::velocity(BodyId body) const { return implementation_->state.v(implementation_->body_slots.place(body)); }
Vec3 World::angular_velocity(BodyId body) const { return implementation_->state.omega(implementation_->body_slots.place(body)); }
double World::mass(BodyId body) const { return implementation_->model.bodies[implementation_->body_slots.place(body)].mass; }
Mat3 World::inertia(BodyId body) const {
  implementation_->ready();
  return implementation_->model.inertia[implementation_->body_slots.place(body)];
}

void World::apply_impulse(BodyId body, const Vec3& impulse, const Vec3& at) {
  if (!impulse.allFinite() || !at.allFinite()) throw Error("apply_impulse", "needs a finite impulse and point");
  implementation_->impulse(implementation_->body_slots.place(body), impulse, at);
}

double World::shock(BodyId body, const Vec3& at, double restitution, const Vec3& direction) {
  WorldImplementation& w = *implementation_;
  if (!(restitution >= 0 && restitution <= 1))
    throw Error("shock", fmt::format("restitution must be from 0 to 1, is {}", restitution));
  if (!at.allFinite() || !direction.allFinite()) throw Error("shock", "needs a finite point and direction");
  return w.ready().shock(w.state, w.time, {w.body_slots.place(body), at, direction, direction.squaredNorm() == 0, restitution});
}

int World::project() {
  WorldImplementation& w = *implementation_;
  ProjectionSettings settings;
  if (const auto* chosen = std::get_if<ProjectionSettings>(&w.recipe.correction)) settings = *chosen;
  ++w.revision;
  return w.ready().project(settings, w.state, w.time);
}

Diagnostics World::diagnostics() const {
  WorldImplementation& w = *implementation_;
  try {
    return w.ready().diagnose(w.state, w.time, w.recipe.dt);
  } catch (const Error& error) {
    throw Error(fmt::format("after step {}", w.steps), error.what());
  }
}

void WorldImplementation::find_contacts(std::vector<ContactResult>& out) {
  Stepper& now = ready();
  out.clear();
  for (const Contact& c : now.contacts(state, recipe.dt))
    out.push_back({body_slots.id(c.a), body_slots.id(c.b), c.point, c.normal, c.gap, now.per_second() * c.impulse()});
  // A blow within the step belongs to the nearest point of the same two; where they have parted, it stands for itself.
  for (const Struck& blow : now.struck()) {
    const BodyId a = body_slots.id(blow.a), b = body_slots.id(blow.b);
    ContactResult* nearest = nullptr;
    for (ContactResult& c : out)
      if (c.body_a == a && c.body_b == b &&
          (!nearest || (c.point - blow.point).squaredNorm() < (nearest->point - blow.point).squaredNorm()))
        nearest = &c;
    if (!nearest) nearest = &out.emplace_back(ContactResult{a, b, blow.point, blow.normal, 0, Vec3::Zero()});
    nearest->force += now.per_second() * blow.impulse;
  }
}

std::vector<ContactResult> World::contacts() const {
  std::vector<ContactResult> out;
  implementation_->find_contacts(out);
  return out;
}

Vec3 World::acceleration(BodyId body) const {
  WorldImplementation& w = *implementation_;
  return w.ready().accelerations(w.state, w.time).segment<3>(6 * w.body_slots.place(body));
}
Vec3 World::angular_acceleration(BodyId body) const {
  WorldImplementation& w = *implementation_;
  return w.ready().accelerations(w.state, w.time).segment<3>(6 * w.body_slots.place(body) + 3);
}

void World::keep_books(bool keep) {
  WorldImplementation& w = *implementation_;
  w.keep_books = keep;
  w.ready().keep_books(keep, w.state, w.time);
  if (w.fluid) w.fluid->keep_books(keep);
}

JointMotion World::joint_motion(JointId joint) const {
  WorldImplementation& w = *implementation_;
  return w.ready().joint_motion(w.state, w.joint_slots.place(joint));
}

JointError World::joint_error(JointId joint) const {
  WorldImplementation& w = *implementation_;
  w.ready().diagnose(w.state, w.time, w.recipe.dt);
  return w.stepper->joint_error(w.joint_slots.place(joint));
}

JointForce World::joint_force(JointId joint) const {
  WorldImplementation& w = *implementation_;
  return w.ready().joint_force(w.state, w.time, w.joint_slots.place(joint));
}

std::vector<Redundancy> World::redundancies() const {
  WorldImplementation& w = *implementation_;
  std::vector<Redundancy> out;
  for (const auto& [joint, rows] : w.ready().redundant(w.state, w.time)) out.push_back({w.model.joints[joint].name, rows});
  return out;
}

std::uint64_t World::state_hash() const {
  // FNV-1a over the bits, eight bytes at a time, with a final mix so that every bit counts.
  std::uint64_t hash = 0xcbf29ce484222325ull;
  const auto mix = [&hash](const double* data, Eigen::Index count) {
    for (Eigen::Index i = 0; i < count; ++i) {
      std::uint64_t word;
      std::memcpy(&word, data + i, sizeof word);
      hash = (hash ^ word) * 0x100000001b3ull;
      hash ^= hash >> 29;
    }
  };
  const State& s = implementation_->state;
  for (int i = 0; i < s.bodies(); ++i) {
    mix(s.p[i].data(), 3);
    mix(s.theta[i].coeffs().data(), 4);
  }
  mix(s.x.data(), s.x.size());
  mix(s.u.data(), s.u.size());
  if (implementation_->fluid)
    for (int c = 0; c < 3; ++c) {
      const std::span<const double> field = implementation_->fluid->velocities(c);
      mix(field.data(), static_cast<Eigen::Index>(field.size()));
    }
  return hash;
}

std::int64_t World::evaluations() const { return implementation_->ready().evaluations(); }
int World::islands() const { return implementation_->ready().island_count(); }
std::string_view World::coordinates() const { return implementation_->ready().coordinates(); }

std::vector<std::string> World::warnings() const {
  WorldImplementation& w = *implementation_;
  std::vector<std::string> out = w.start_warnings;
  out.insert(out.end(), w.mesh_remarks.begin(), w.mesh_remarks.end());
  if (w.fluid) out.insert(out.end(), w.fluid->remarks().begin(), w.fluid->remarks().end());
  const std::vector<Redundancy> redundant = redundancies();
  if (!redundant.empty()) {
    constexpr std::size_t most_named = 6;
    std::string names;
    for (const Redundancy& r : std::span(redundant).first(std::min(redundant.size(), most_named)))
      names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", r.joint, r.rows);
    if (const std::size_t others = redundant.size() - std::min(redundant.size(), most_named); others > 0)
      names += fmt::format(" and {} other joint{}", others, others == 1 ? "" : "s");
    out.push_back("redundant constraints, so that joint forces are not unique (motion is): " + names);
  }
  if (const int torn = torn_elements(w.model))
    out.push_back(fmt::format("{} elastic element{} torn", torn, torn == 1 ? " has" : "s have"));
  const StepTotals& totals = w.ready().totals();
  if (totals.push_energy > 1e-6)
    out.push_back(fmt::format("{} has added {:.3g} J",
                              std::holds_alternative<NoContactSettings>(w.recipe.contacts) ? "closing joints and limits"
                                                                                           : "moving bodies out of each other",
                              totals.push_energy));
  if (w.cut_steps)
    out.push_back(fmt::format("the budget ended {} steps before their solvers were done, at residuals up to {:.3g}", w.cut_steps,
                              w.worst_cut));
  if (w.unconverged_steps) out.push_back(fmt::format("{} steps did not converge to their tolerance", w.unconverged_steps));
  if (w.late_steps)
    out.push_back(
        fmt::format("in {} steps shocks followed too fast to be located in time, and were left to the step's end", w.late_steps));
  if (w.halved_steps)
    out.push_back(
        fmt::format("{} steps were halved: their equations were not solved otherwise; take a smaller step", w.halved_steps));
  if (w.gaining_steps)
    out.push_back(
        fmt::format("{} steps gained energy though nothing drives the mechanism, up to {:.3g} J, however often they were "
                    "made again; take a smaller step",
                    w.gaining_steps, w.most_gained));
  if (w.open_steps)
    out.push_back(
        fmt::format("{} steps left joints open, up to {:.3g} m (or rad); take a smaller step", w.open_steps, w.most_open));
  if (w.held_steps)
    out.push_back(
        fmt::format("{} steps left bodies in each other by up to {:.3g} m, where joints or given motions hold them; move "
                    "them apart in the scene, or put them on layers that do not meet",
                    w.held_steps, w.most_held));
  if (w.slowed_steps)
    out.push_back(fmt::format(
        "in {} step{} bodies had gained energy that nobody gave them, and were slowed: {:.3g} J were taken from their motion, "
        "{:.3g} J at most in one step; take a smaller step or more substeps",
        w.slowed_steps, w.slowed_steps == 1 ? "" : "s", w.energy_taken, w.most_taken));
  if (w.stopped_steps)
    out.push_back(fmt::format(
        "in {} step{} what joints tie together was stopped on its way, as a part of it would have gone through what does not "
        "move: {:.3g} J were lost in that; take a smaller step",
        w.stopped_steps, w.stopped_steps == 1 ? "" : "s", w.stopping_energy));
  return out;
}

void World::keep_problems(bool keep) {
  implementation_->keep_problems = keep;
  implementation_->ready().keep_problems(keep);
}

const ConstraintProblem& World::problem(int island) const {
  if (island < 0 || island >= islands()) throw Error("problem", fmt::format("there is no island {}", island));
  return implementation_->stepper->island(island).problem;
}

std::span<const double> World::multipliers(int island) const {
  if (island < 0 || island >= islands()) throw Error("multipliers", fmt::format("there is no island {}", island));
  return implementation_->stepper->island(island).x;
}

}  // namespace rotule
