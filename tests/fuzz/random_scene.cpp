// Scenes that make sense, at random, and what is promised of every run: numbers stay finite, joints stay closed and books
// balanced unless it is said that they are not, one thread or two, a scene or its text, with or without a snapshot: the same
// bits.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/scene.h>
#include <rotule/world.h>

#include <cmath>

#include "fuzz.h"

namespace rotule::fuzz {
namespace {

double between(Random& random, double low, double high) { return std::uniform_real_distribution<>(low, high)(random); }
double over_decades(Random& random, double low, double high) { return std::exp(between(random, std::log(low), std::log(high))); }
Vec3 any_vector(Random& random, double size) {
  return {between(random, -size, size), between(random, -size, size), between(random, -size, size)};
}
Vec3 any_direction(Random& random) {
  for (;;)
    if (const Vec3 v = any_vector(random, 1); v.norm() > 0.1 && v.norm() < 1) return v.normalized();
}
int any(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

Shape any_shape(Random& random) {
  const auto size = [&] { return over_decades(random, 0.05, 0.6); };
  switch (any(random, 7)) {
    case 0:
      return Box{{size(), size(), size()}};
    case 1:
      return Cylinder{size(), size()};
    case 2:
      return Capsule{size(), size()};
    case 3:
      return Cone{size(), size()};
    case 4:
      return Ellipsoid{{size(), size(), size()}};
    default:
      return Sphere{size()};
  }
}

JointDef any_joint(Random& random, const Between& pair, const Vec3& at) {
  const Vec3 axis = any_direction(random);
  switch (any(random, 8)) {
    case 0:
      return Hinge{.between = pair, .at = at, .axis = axis};
    case 1:
      return Slider{.between = pair, .at = at, .axis = axis};
    case 2:
      return Cylindrical{.between = pair, .at = at, .axis = axis};
    case 3:
      return Universal{.between = pair, .at = at, .axis_a = axis, .axis_b = axis.unitOrthogonal()};
    case 4:
      return Planar{.between = pair, .at = at, .normal = axis};
    case 5:
      return Weld{.between = pair, .at = at};
    case 6:
      return Rod{.between = pair, .from = at};
    default:
      return Ball{.between = pair, .at = at};
  }
}

constexpr int steps_of_trial = 20;

/// What the world says of itself that excuses open joints and unbalanced books.
bool says_so(const World& world) {
  for (const std::string& warning : world.warnings())
    for (const char* word : {"left joints open", "did not converge", "halved", "gained energy", "budget", "has added", "starts",
                             "start in each other", "broke", "located in time"})
      if (warning.find(word) != std::string::npos) return true;
  return false;
}
/// What every run begins with: springs and dampers that the step is too long for.
bool doctor_says_so(const Scene& scene, const Recipe& recipe) {
  Scene as_run = scene;
  as_run.recipe = recipe;
  as_run.dial.reset();
  for (const Remark& remark : examine(as_run).remarks)
    if (remark.text.find("too stiff") != std::string::npos) return true;
  return false;
}

/// J left over in a run, with a step of this share; steps of first order lose or gain in proportion to it.
double left_over(const Scene& scene, Recipe recipe, int parts) {
  recipe.dt /= parts;
  World world(scene, recipe);
  world.keep_books(true);
  for (int i = 0; i < parts * steps_of_trial; ++i) world.step();
  return std::abs(world.diagnostics().energy_balance.left_over);
}

struct Outcome {
  std::uint64_t hash = 0;
  std::string refused;  // why the run ended before its time
};

Outcome run_once(const Scene& scene, int threads, bool with_snapshot, bool judged) {
  Recipe recipe = recipe_of(scene);
  recipe.threads = threads;
  Outcome out;
  std::optional<World> world;
  try {
    world.emplace(scene, recipe);
    if (judged) world->keep_books(true);
    double largest_kinetic = 0, worst_open = 0;
    for (int i = 0; i < steps_of_trial; ++i) {
      if (with_snapshot && i == steps_of_trial / 2) {
        Snapshot bytes_alone;
        bytes_alone.bytes = world->save().bytes;
        World other(scene, recipe);
        if (judged) other.keep_books(true);
        other.load(bytes_alone);
        world.emplace(std::move(other));
      }
      world->step();
      for (const BodyId body : world->bodies())
        if (!world->position(body).allFinite() || !world->velocity(body).allFinite() ||
            !world->angular_velocity(body).allFinite())
          throw Broken(fmt::format("step {}: {} is not finite", i + 1, world->name(body)));
      if (!judged) continue;
      const Diagnostics now = world->diagnostics();
      largest_kinetic = std::max(largest_kinetic, now.kinetic_energy);
      worst_open = std::max(worst_open, now.joint_error.position);
    }
    out.hash = world->state_hash();
    if (!judged || says_so(*world)) return out;
    if (!(worst_open < 0.02) && !doctor_says_so(scene, recipe))
      throw Broken(fmt::format("joints were {:.3g} m open, and nothing says so", worst_open));
    const EnergyBalance books = world->diagnostics().energy_balance;
    const bool touches = !std::holds_alternative<NoContactSettings>(recipe.contacts);
    const double scale = std::max({largest_kinetic, std::abs(books.brought_in()), books.taken_out(), 1e-6});
    // Whatever the order of the method, less of the step leaves less over.
    if (books.kept && !touches && !(std::abs(books.left_over) < 0.05 * scale) && !doctor_says_so(scene, recipe) &&
        !(left_over(scene, recipe, 4) < 0.4 * std::abs(books.left_over)))
      throw Broken(fmt::format("{:.3g} J of {:.3g} are left over, and nothing says so", books.left_over, scale));
  } catch (const Error& error) {
    out.refused = error.what();
    if (out.refused.empty() || out.refused.find('\n') != std::string::npos) throw Broken("an error of no or many lines");
  }
  return out;
}

}  // namespace

std::string make_scene(Random& random) {
  Scene scene;
  scene.gravity = any(random, 4) == 0 ? Vec3(Vec3::Zero()) : Vec3(0, 0, -9.81);
  const bool touching = any(random, 2) == 0;
  if (touching) scene.add({.name = "floor", .fixed = true, .position = {0, 0, -3}, .shape = Plane{}});
  const int bodies = 1 + any(random, 8);
  std::vector<std::string> names{"world"};
  for (int k = 0; k < bodies; ++k) {
    BodyDef body{.name = fmt::format("b{}", k), .mass = over_decades(random, 0.1, 100)};
    body.position = any_vector(random, 2);
    const Vec3 turn = any_direction(random);
    body.orientation = Quat(Eigen::AngleAxisd(between(random, -3, 3), turn));
    body.velocity = any(random, 2) == 0 ? any_vector(random, 2) : Vec3(Vec3::Zero());
    body.angular_velocity = any(random, 2) == 0 ? any_vector(random, 3) : Vec3(Vec3::Zero());
    body.shape = any_shape(random);
    const Vec3 at = body.position + any_vector(random, 0.5);
    const std::string partner = names[static_cast<std::size_t>(any(random, static_cast<int>(names.size())))];
    names.push_back(body.name);
    scene.add(body);
    if (any(random, 5) > 0) {
      // Joints that begin with their velocities apart are an impact at once: let them rest.
      scene.bodies.back().velocity = scene.bodies.back().angular_velocity = Vec3::Zero();
      for (BodyDef& other : scene.bodies)
        if (other.name == partner) other.velocity = other.angular_velocity = Vec3::Zero();
      scene.add(any_joint(random, {partner, scene.bodies.back().name}, at));
    }
    if (any(random, 4) == 0)
      scene.add(ForceDef(
          Spring{.between = {names[static_cast<std::size_t>(any(random, static_cast<int>(names.size()) - 1))], body.name},
                 .from = Vec3(body.position + any_vector(random, 1)),
                 .to = body.position,
                 .stiffness = over_decades(random, 1, 1000),
                 .damping = any(random, 2) == 0 ? 0 : over_decades(random, 0.1, 10)}));
  }
  const Dial dials[] = {Dial::realtime, Dial::balanced, Dial::exact};
  scene.dial = dials[any(random, 3)];
  scene.recipe.dt = 0.005;
  scene.recipe.duration = 0.1;
  return to_json(scene);
}

void run_scene_with_promises(const std::string& text) {
  const Scene scene = parse_scene(text);
  const Outcome one = run_once(scene, 1, false, true);
  const auto expect = [&](const Outcome& other, const char* what) {
    if (one.hash != other.hash || one.refused != other.refused)
      throw Broken(fmt::format("{}: {:016x} and {:016x}; {} | {}", what, one.hash, other.hash, one.refused, other.refused));
  };
  expect(run_once(scene, 2, false, false), "one thread and two differ");
  expect(run_once(parse_scene(to_json(scene)), 1, false, false), "a scene and its text differ");
  if (one.refused.empty()) expect(run_once(scene, 1, true, false), "a run and its snapshot differ");
}

}  // namespace rotule::fuzz
