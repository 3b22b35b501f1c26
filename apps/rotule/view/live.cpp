#include "live.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/inverse.h>
#include <rotule/state_space.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "json_numbers.h"
#include "record/scene_json.h"
#include "world/world_implementation.h"

namespace rotule::app {
namespace {

constexpr double pull_rate = 12;          // rad/s: how fast what is dragged follows
constexpr double most_acceleration = 30;  // m/s^2 that dragging gives to all that hangs together
constexpr int most_balls = 1000;

/// For every body, the mass of all that joints tie it to, itself included; fixed bodies tie nothing.
std::vector<double> joined_masses(const Model& model) {
  std::vector<int> root(static_cast<std::size_t>(model.partner_count()));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (const Joint& joint : model.joints) {
    const int first = model.movable(joint.a) ? joint.a : joint.b;
    for_each_partner(joint, [&](int partner) {
      if (model.movable(partner)) root[find(first)] = find(partner);
    });
  }
  std::vector<double> sum(root.size(), 0), out(model.bodies.size(), 0);
  for (int i = 0; i < model.partner_count(); ++i)
    if (model.movable(i)) sum[find(i)] += model.mass(i);
  for (int i = 0; i < model.body_count(); ++i) out[i] = sum[find(i)];
  return out;
}

/// The least mass that a point of a free body shows, over all directions: 1 over the largest eigenvalue of
/// 1/m - [r] I^-1 [r].
double least_mass(double mass, const Mat3& inverse_inertia, const Vec3& r) {
  Mat3 cross;
  cross << 0, -r.z(), r.y(), r.z(), 0, -r.x(), -r.y(), r.x(), 0;
  const Mat3 inverse = Mat3::Identity() / mass - cross * inverse_inertia * cross;
  return 1 / inverse.trace();  // the sum of eigenvalues bounds the largest
}

/// s, of a step.
double clock_budget(double dt) {
  constexpr double least = 0.004, most = 0.016;  // s
  return std::clamp(dt, least, most);
}

void put(std::vector<float>& out, const Vec3& v) {
  for (const double x : v) out.push_back(static_cast<float>(x));
}

}  // namespace

void keep_to_the_clock(Recipe& recipe) {
  // The real-time stepper does the same work in every step.
  if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper)) return;
  if (recipe.budget.seconds == 0) recipe.budget.seconds = clock_budget(recipe.dt);
}

bool watch_in_real_time(Scene& scene) {
  if (std::holds_alternative<NoContactSettings>(scene.recipe.contacts)) return false;
  // A few bodies that give blows back whole, as Newton's cradle: real time would lose most of what there is to see.
  constexpr double hard = 0.9;
  constexpr std::size_t few = 20;
  const bool bounces = std::any_of(scene.materials.begin(), scene.materials.end(),
                                   [](const Material& material) { return material.restitution >= hard; });
  if (bounces && scene.bodies.size() <= few) return false;
  Recipe recipe = recipe_for(scene, Dial::realtime);
  if (!std::holds_alternative<RealtimeStepperSettings>(recipe.stepper)) return false;
  scene.recipe = recipe;
  return true;
}

Live::Live(std::string name, Scene scene, std::uint16_t generation, std::size_t history_bytes)
    : name_(std::move(name)),
      scene_(std::move(scene)),
      world_(scene_),
      history_(history_bytes),
      bounds_(bounds_of(world_)),
      quanta_(quanta_for(bounds_)),
      generation_(generation) {
  if (world_.fluid() != nullptr) plane_ = middle_plane(world_.fluid()->def());
  describe();
  capture(~0u);
}

void Live::describe() {
  const Model& model = implementation_of(world_).model;
  joined_mass_ = joined_masses(model);
  centers_.clear();
  for (const Body& body : model.bodies) centers_.push_back(body.center_of_mass);
  const SceneMessage about{generation_,    true,  name_, scene_.recipe.duration, pace(), bounds_, quanta_,
                           live_numbers(), dial_, plane_};
  scenes_[generation_] = std::make_shared<const std::string>(scene_message(about, scene_, world_));
}

Live::~Live() {
  try {
    if (problems_) problems_->finish();
  } catch (const Error&) {
    // The file holds what was written before; there is nobody left to tell.
  }
}

std::string Live::record_problems() {
  if (problems_) {
    problems_->finish();
    problems_.reset();
    world_.keep_problems(false);
    return fmt::format("recorded the problems of {} steps to {}", problems_count_, problems_file_);
  }
  // A name that is free: nothing that somebody has is written over.
  std::string stem = name_;
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  for (int number = 1;; ++number) {
    problems_file_ = fmt::format("{}-problems-{}.h5", stem, number);
    if (!std::filesystem::exists(problems_file_)) break;
  }
  std::vector<std::string> joints;
  for (const JointId joint : world_.joints()) joints.push_back(world_.name(joint));
  problems_.emplace(problems_file_, to_json(scene_), to_complete_json(world_.recipe()), joints);
  problems_count_ = 0;
  world_.keep_problems(true);
  return fmt::format("recording every step's problems to {}; the same key ends it", problems_file_);
}

void Live::set_bounds(const Bounds& bounds) {
  bounds_ = bounds;
  describe();
}

void Live::set_slice(int axis, double at) {
  if (world_.fluid() == nullptr) throw Error("slice", "there is no fluid in this scene");
  static_cast<void>(world_.fluid()->slice(axis, at));  // throws where there is no such plane
  plane_ = {axis, at};
  fluid_scale_ = {};
  describe();
}

void Live::step() {
  pull();
  // A budget that people gave is what they say; the viewer's own leaves other programs their share of the clock: a blow that is
  // not followed to its end for want of it has another speed, and nobody would see why.
  WorldImplementation& inside = implementation_of(world_);
  inside.budget_time = inside.recipe.budget.seconds == clock_budget(inside.recipe.dt) ? BudgetTime::processor : BudgetTime::clock;
  const auto before = std::chrono::steady_clock::now();
  StepDone done{.report = world_.step()};
  done.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  if (done.report.cut) {
    ++cuts_.steps;
    cuts_.residual = std::max(cuts_.residual, done.report.residual);
  }
  if (problems_) {
    for (int k = 0; k < world_.islands(); ++k)
      problems_->append(world_.steps(), world_.time(), k, world_.problem(k), world_.multipliers(k));
    ++problems_count_;
  }
  for (const Quantity& q : quantities)
    if (q.of_step != nullptr) step_sums_[index_of(q)] += q.of_step(done);
  ms_ += done.milliseconds;
  ++steps_;
}

void Live::pull() {
  if (grips_.empty() && pulled_.empty()) return;
  const auto& inside = implementation_of(world_);
  const double h = world_.recipe().dt;
  for (const int body : pulled_) world_.set_force(inside.body_slots.id(body), Vec3::Zero());
  pulled_.clear();
  // Two people may hold the same body: their forces add up.
  std::map<int, std::pair<Vec3, Vec3>> sums;
  for (const auto& [who, grip] : grips_) {
    const Body& body = inside.model.bodies[grip.body];
    const Quat& q = inside.state.theta[grip.body];
    const Vec3 r = q * (grip.at - body.center_of_mass);
    const Vec3 point = inside.state.p[grip.body] + r;
    const Vec3 velocity = inside.state.v(grip.body) + Vec3(inside.state.omega(grip.body)).cross(r);
    const Mat3 R = q.toRotationMatrix();
    const double m = least_mass(body.mass, R * inside.model.inverse_inertia[grip.body] * R.transpose(), r);
    const double all = joined_mass_[static_cast<std::size_t>(grip.body)];
    const double M = std::sqrt(body.mass * all);
    const double stiffness = std::min(M * pull_rate * pull_rate, 0.1 * m / (h * h));
    const double damping = std::min(2 * M * pull_rate, 0.5 * m / h);
    Vec3 force = stiffness * (grip.to - point) - damping * velocity;
    if (const double most = all * most_acceleration, size = force.norm(); size > most) force *= most / size;
    auto& [total, torque] = sums.try_emplace(grip.body, Vec3::Zero(), Vec3::Zero()).first->second;
    total += force;
    torque += r.cross(force);
  }
  for (const auto& [body, both] : sums) {
    world_.set_force(inside.body_slots.id(body), both.first, both.second);
    pulled_.push_back(body);
  }
}

void Live::require_movable(const char* who, int body) const {
  const Model& model = implementation_of(world_).model;
  if (body < 0 || body >= model.body_count())
    throw Error(who, fmt::format("there is no body {}; there are {}", body, model.body_count()));
  if (model.bodies[body].fixed) throw Error(who, model.bodies[body].name + " is fixed");
}

void Live::drag(std::uint64_t who, const Grip& grip) {
  require_movable("drag", grip.body);
  grips_[who] = grip;
}

void Live::pose(const Grip& grip) {
  require_movable("pose", grip.body);
  // A hand comes again at once: near enough is enough.
  constexpr int most_iterations = 40;
  const double near_enough = 1e-6 * std::max((bounds_.high - bounds_.low).norm(), 1e-3);
  const PointTarget target{.body = implementation_of(world_).model.bodies[grip.body].name, .at = grip.at, .to = grip.to};
  inverse_kinematics(world_, std::array<Target, 1>{target},
                     {.method = InverseMethod::damped, .tolerance = near_enough, .max_iterations = most_iterations});
  const auto& inside = implementation_of(world_);
  for (int i = 0; i < inside.model.body_count(); ++i)
    if (inside.model.movable(i)) world_.set_velocity(inside.body_slots.id(i), Vec3::Zero(), Vec3::Zero());
}

Json Live::modes(std::optional<int> shape) const {
  constexpr Eigen::Index most_unknowns = 900;  // dense matrices, while people wait
  const Model& model = implementation_of(world_).model;
  if (6 * static_cast<Eigen::Index>(model.body_count()) + 3 * static_cast<Eigen::Index>(model.particle_count()) > most_unknowns)
    throw Error("modes", "there are too many bodies for modes while it runs; rotule modes has no such limit");
  const Linearisation l = linearise(world_);
  const std::vector<DampedMode> all = damped_modes(l);
  if (!shape) {
    Json list = Json::array();
    for (const DampedMode& mode : all)
      list.push_back({{"frequency", mode.frequency},
                      {"damping_ratio", mode.damping_ratio},
                      {"real", mode.eigenvalue.real()},
                      {"imaginary", mode.eigenvalue.imag()}});
    return {{"say", "modes"}, {"unbalance", l.unbalance}, {"modes", list}};
  }
  if (*shape >= static_cast<int>(all.size()))
    throw Error("modes", fmt::format("there is no mode {}; there are {}", *shape, all.size()));
  const DampedMode& mode = all[static_cast<std::size_t>(*shape)];
  // Six numbers per body and three per particle, each as cosine and sine part; zero for those that cannot move.
  std::vector<double> bodies(12 * static_cast<std::size_t>(model.body_count()), 0);
  std::vector<double> particles(6 * static_cast<std::size_t>(model.particle_count()), 0);
  const auto copy = [&](Eigen::Index from, std::size_t count, double* to) {
    for (std::size_t k = 0; k < count; ++k) {
      const std::complex<double> x = mode.shape[from + static_cast<Eigen::Index>(k)];
      to[2 * k] = x.real();
      to[2 * k + 1] = x.imag();
    }
  };
  const auto& inside = implementation_of(world_);
  Eigen::Index column = 0;
  for (const BodyId body : l.bodies) {
    copy(column, 6, &bodies[12 * static_cast<std::size_t>(inside.body_slots.place(body))]);
    column += 6;
  }
  for (const int particle : l.particles) {
    copy(column, 3, &particles[6 * static_cast<std::size_t>(particle)]);
    column += 3;
  }
  return {{"say", "mode"},    {"mode", *shape},        {"frequency", mode.frequency}, {"damping_ratio", mode.damping_ratio},
          {"bodies", bodies}, {"particles", particles}};
}

void Live::release(std::uint64_t who) { grips_.erase(who); }

void Live::throw_ball(const Vec3& from, const Vec3& velocity, double radius, double mass) {
  if (balls_ >= most_balls) throw Error("throw", fmt::format("{} balls are the most; restart to begin anew", most_balls));
  const auto& names = implementation_of(world_).body_of_name;
  std::string name;
  do name = fmt::format("ball_{}", ++balls_);
  while (names.contains(name));
  world_.add(BodyDef{.name = name, .mass = mass, .position = from, .velocity = velocity, .shape = Sphere{radius}});
  ++generation_;
  describe();
}

void Live::change_recipe(const std::vector<std::pair<std::string, std::string>>& changes) {
  Recipe recipe = world_.recipe();
  for (const auto& [key, value] : changes) set(recipe, key, value);
  world_.set_recipe(recipe);
  scene_.recipe = recipe;
  dial_ = {};
  remark_.clear();
  describe();
}

void Live::note_dial(const Turned& wish) {
  dial_ = wish;
  describe();
}

void Live::note_real_time() {
  note_dial({.setting = std::string(name_of(Dial::realtime)), .accuracy = {}});
  remark_ = "shown in real time, not by the scene's own recipe: for numbers turn the dial to balanced or exact, or give --recipe";
}

void Live::turn_dial(const Turned& wish) {
  // A budget that the clock gave is nobody's wish.
  if (scene_.recipe.budget.seconds == clock_budget(scene_.recipe.dt)) scene_.recipe.budget.seconds = 0;
  Recipe recipe = wish.accuracy ? recipe_for(scene_, *wish.accuracy) : recipe_for(scene_, dial_named(wish.setting));
  keep_to_the_clock(recipe);
  world_.set_recipe(recipe);
  scene_.recipe = recipe;
  dial_ = wish;
  remark_.clear();
  describe();
}

// Where the ledger takes long against the steps, as it does for thousands of bodies, not every frame has a new one.
void Live::keep_books(unsigned parts) {
  constexpr double most_share = 0.02, short_enough = 0.2;  // of the steps' time; ms
  constexpr int most_frames = 6;
  const bool due = ledger_ms_ < short_enough || stepped_ms_ * most_share > ledger_ms_ || ++frames_without_ledger_ >= most_frames;
  if (!due && !(parts & (view_forces | view_loads)) && ledger_generation_ == generation_ && implementation_of(world_).stepper)
    return;
  const auto before = std::chrono::steady_clock::now();
  ledger_ = world_.diagnostics();
  ledger_ms_ = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  ledger_generation_ = generation_;
  stepped_ms_ = 0;
  frames_without_ledger_ = 0;
}

void Live::capture(unsigned parts) {
  keep_books(parts);
  const Diagnostics& ledger = ledger_;
  const auto& inside = implementation_of(world_);
  const auto count = static_cast<std::size_t>(inside.model.body_count());
  auto out = std::make_shared<ViewFrame>();
  out->generation = generation_;
  out->time = world_.time();
  out->step = static_cast<std::uint32_t>(world_.steps());

  positions_.resize(3 * count);
  orientations_.resize(4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Quat& q = inside.state.theta[i];
    Eigen::Map<Vec3>(positions_.data() + 3 * i) = inside.state.p[i] - q * centers_[i];
    Eigen::Map<Eigen::Vector4d>(orientations_.data() + 4 * i) << q.w(), q.x(), q.y(), q.z();
  }
  out->set_bodies(positions_, orientations_, quanta_);
  out->set_particles(world_.particle_positions(), quanta_);

  const double per_step = steps_ > 0 ? 1.0 / steps_ : std::numeric_limits<double>::quiet_NaN();
  for (const Quantity* q : live_numbers())
    out->numbers.push_back(q->of_step != nullptr ? per_step * step_sums_[index_of(*q)] : q->of_ledger(ledger));
  stepped_ms_ += ms_;
  step_sums_.fill(0);
  ms_ = 0;
  steps_ = 0;

  out->parts = parts & (view_contacts | view_forces | view_velocities | view_islands | view_loads);
  contacts_ = world_.contacts();
  if (parts & view_contacts) out->set_contacts(contacts_);
  if (parts & view_forces)
    for (std::size_t j = 0; j < inside.model.joints.size(); ++j) {  // the ledger has just been brought up to this state
      const Joint& joint = inside.model.joints[j];
      put(out->forces, point_of(inside.model, inside.state, joint.b, joint.X_B.position));
      put(out->forces, inside.stepper->last_joint_force(static_cast<int>(j)).force);
    }
  if (parts & view_velocities)
    for (std::size_t i = 0; i < count; ++i) put(out->velocities, inside.state.v(static_cast<int>(i)));
  if (parts & view_islands) {
    out->islands.assign(count, 0xffff);
    for (int k = 0; k < inside.stepper->island_count(); ++k)
      for (const int body : inside.stepper->island(k).bodies)
        if (!inside.model.is_particle(body))
          out->islands[static_cast<std::size_t>(body)] = static_cast<std::uint16_t>(k % 0xffff);
  }
  if (parts & view_loads) add_loads(*out);
  if ((parts & view_fluid) && world_.fluid() != nullptr) {
    out->parts |= view_fluid;
    out->fluid = view_of(world_.fluid()->slice(plane_.axis, plane_.at), fluid_scale_);
    fluid_scale_ = out->fluid.scale;
  }
  history_.push(*out);
  // Generations count round: those between the oldest frame's and the present one are still needed.
  const std::uint16_t oldest = history_.first_generation();
  std::erase_if(scenes_, [&](const auto& s) {
    return static_cast<std::uint16_t>(s.first - oldest) > static_cast<std::uint16_t>(generation_ - oldest);
  });
  newest_ = std::move(out);
}

// What a body bears: forces that hold each other in balance count all the same.
void Live::add_loads(ViewFrame& out) {
  const auto& inside = implementation_of(world_);
  loads_.assign(inside.model.bodies.size(), 0);
  const auto add = [&](int body, double force) {
    if (body >= 0 && !inside.model.is_particle(body)) loads_[static_cast<std::size_t>(body)] += force;
  };
  for (const ContactResult& c : contacts_)
    for (const BodyId id : {c.body_a, c.body_b}) add(inside.body_slots.place(id), c.force.norm());
  for (int j = 0; j < static_cast<int>(inside.model.joints.size()); ++j) {
    const double force = inside.stepper->last_joint_force(j).force.norm();
    for (const int partner : {inside.model.joints[j].a, inside.model.joints[j].b}) add(partner, force);
  }
  out.loads.assign(loads_.begin(), loads_.end());
}

std::shared_ptr<const ViewFrame> Live::frame(std::int64_t frame) { return frame == last() ? newest_ : history_.frame(frame); }

std::shared_ptr<const std::string> Live::scene(std::uint16_t generation) const {
  const auto found = scenes_.find(generation);
  return found == scenes_.end() ? scenes_.at(generation_) : found->second;
}

int Live::bodies() const { return implementation_of(world_).model.body_count(); }

Json Live::body(int body, std::int64_t frame) {
  if (frame != last() || body < 0 || body >= bodies()) return nullptr;
  const auto& inside = implementation_of(world_);
  const Model& model = inside.model;
  const Pose pose = body_frame(model, inside.state, body);
  const Body& about = model.bodies[body];
  const Vec3 v = inside.state.v(body), omega = inside.state.omega(body);
  const Quat& q = pose.orientation;
  const Vec3 spin = q.conjugate() * omega;
  Vec3 force = Vec3::Zero();
  int touching = 0;
  const BodyId id = inside.body_slots.id(body);
  for (const ContactResult& c : contacts_) {
    if (c.body_a != id && c.body_b != id) continue;
    force += c.body_b == id ? c.force : Vec3(-c.force);
    touching += c.force.squaredNorm() > 0;
  }
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (model.joints[j].a != body && model.joints[j].b != body) continue;
    const Vec3 on_b = inside.stepper->last_joint_force(j).force;
    force += model.joints[j].b == body ? on_b : Vec3(-on_b);
  }
  const double energy = about.fixed ? 0
                                    : 0.5 * about.mass * v.squaredNorm() + 0.5 * spin.dot(about.inertia * spin) -
                                          about.mass * model.gravity.dot(inside.state.p[body]);
  return {{"say", "body"},
          {"body", body},
          {"name", about.name},
          {"position", numbers(pose.position)},
          {"orientation", {q.w(), q.x(), q.y(), q.z()}},
          {"velocity", numbers(v)},
          {"angular_velocity", numbers(omega)},
          {"mass", about.fixed ? 0 : about.mass},
          {"energy", energy},
          {"contacts", touching},
          {"force", numbers(force)}};
}

}  // namespace rotule::app
