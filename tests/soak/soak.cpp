// rotule_soak: random worlds for hours. Bodies, joints and forces come and go, forces and blows act, recipes change, snapshots
// are taken and gone back to. Whatever was done to a world is written down and done again to another one, which must come to the
// same bits; numbers stay finite; and the same piece of work, repeated all the while, takes the same time and the same memory.
//   rotule_soak [--seconds S] [--seed N] [--episodes N]    as long as both last; what breaks is told by its seed and gone on from
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/scene.h>
#include <rotule/world.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <limits>
#include <optional>
#include <variant>

#include "fuzz/fuzz.h"

namespace rotule::soak {
namespace {

using fuzz::Broken;
using fuzz::Random;

// What can be done to a world. Bodies, joints and forces by their place among those that are there.
struct Step {};
struct Spawn {
  BodyDef body;
};
struct Tie {
  std::size_t a = 0, b = 0;
  Vec3 at = Vec3::Zero();
};
struct Remove {
  std::size_t body = 0;
};
struct Untie {
  std::size_t joint = 0;
};
struct Push {
  std::size_t body = 0;
  Vec3 force = Vec3::Zero();
};
struct Blow {
  std::size_t body = 0;
  Vec3 impulse = Vec3::Zero();
};
struct Turn {
  Dial dial = Dial::balanced;
};
struct Save {};
struct Load {};
using Deed = std::variant<Step, Spawn, Tie, Remove, Untie, Push, Blow, Turn, Save, Load>;

double between(Random& random, double low, double high) { return std::uniform_real_distribution<>(low, high)(random); }
Vec3 any_vector(Random& random, double size) {
  return {between(random, -size, size), between(random, -size, size), between(random, -size, size)};
}

/// A world under such hands.
class Subject {
 public:
  Subject(const Scene& scene, const Recipe& recipe) : scene_(scene), world_(scene, recipe) {}

  /// Returns what was refused; empty where it was done.
  std::string take(const Deed& deed) {
    try {
      std::visit([&](const auto& what) { apply(what); }, deed);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::uint64_t hash() const { return world_.state_hash(); }
  [[nodiscard]] std::size_t bodies() const { return world_.bodies().size(); }
  void require_finite() const {
    for (const BodyId body : world_.bodies())
      if (!world_.position(body).allFinite() || !world_.velocity(body).allFinite())
        throw Broken(fmt::format("step {}: {} is not finite", world_.steps(), world_.name(body)));
  }

 private:
  [[nodiscard]] BodyId body(std::size_t k) const {
    const std::vector<BodyId> all = world_.bodies();
    if (all.empty()) throw Error("there is no body");
    return all[k % all.size()];
  }
  void apply(const Step&) { world_.step(); }
  void apply(const Spawn& what) { world_.add(what.body); }
  void apply(const Tie& what) {
    const std::string a = world_.name(body(what.a)), b = world_.name(body(what.b));
    world_.add(JointDef(Ball{.between = {a, b}, .at = what.at}));
  }
  void apply(const Remove& what) { world_.remove(body(what.body)); }
  void apply(const Untie& what) {
    const std::vector<JointId> all = world_.joints();
    if (!all.empty()) world_.remove(all[what.joint % all.size()]);
  }
  void apply(const Push& what) { world_.set_force(body(what.body), what.force); }
  void apply(const Blow& what) {
    const BodyId hit = body(what.body);
    world_.apply_impulse(hit, what.impulse, world_.center_of_mass(hit));
  }
  void apply(const Turn& what) {
    Recipe recipe = recipe_for(scene_, what.dial);
    recipe.threads = world_.recipe().threads;
    world_.set_recipe(recipe);
    saved_.reset();  // which is of another method
  }
  void apply(const Save&) { saved_ = world_.save(); }
  void apply(const Load&) {
    if (saved_) world_.load(*saved_);
  }

  Scene scene_;
  World world_;
  std::optional<Snapshot> saved_;
};

Deed any_deed(Random& random, std::size_t bodies, int number) {
  const auto place = [&] { return static_cast<std::size_t>(random() % 1000); };
  switch (random() % 40) {
    case 0:
    case 1: {
      if (bodies > 30) return Remove{place()};
      BodyDef body{.name = fmt::format("new{}", number), .mass = between(random, 0.1, 10)};
      body.position = any_vector(random, 3) + Vec3(0, 0, 4);
      body.velocity = any_vector(random, 2);
      if (random() % 2 == 0)
        body.shape = Box{{0.3, 0.2, 0.4}};
      else
        body.shape = Sphere{0.2};
      return Spawn{body};
    }
    case 2:
      return Remove{place()};
    case 3:
      return Tie{place(), place(), any_vector(random, 2)};
    case 4:
      return Untie{place()};
    case 5:
      return Push{place(), any_vector(random, 20)};
    case 6:
      return Blow{place(), any_vector(random, 2)};
    case 7:
      return random() % 8 == 0 ? Deed(Turn{random() % 2 == 0 ? Dial::balanced : Dial::realtime}) : Deed(Step{});
    case 8:
      return Save{};
    case 9:
      return Load{};
    default:
      return Step{};
  }
}

struct Episode {
  std::uint64_t deeds = 0, steps = 0, refused = 0, hash = 0;
};

/// Does it all, then once more from what was written down, on two threads.
Episode episode(std::uint64_t seed, int deeds) {
  Random random(seed);
  const Scene scene = parse_scene(fuzz::make_scene(random));
  Recipe recipe = recipe_for(scene, random() % 2 == 0 ? Dial::balanced : Dial::realtime);
  recipe.threads = 1;
  recipe.dt = 1.0 / 120;
  Episode out;
  std::vector<std::pair<Deed, std::string>> log;
  {
    Subject subject(scene, recipe);
    for (int k = 0; k < deeds; ++k) {
      const Deed deed = any_deed(random, subject.bodies(), k);
      std::string refused = subject.take(deed);
      subject.require_finite();
      out.steps += std::holds_alternative<Step>(deed);
      out.refused += !refused.empty();
      const bool over = std::holds_alternative<Step>(deed) && !refused.empty();
      log.emplace_back(deed, std::move(refused));
      if (over) break;  // said, and at an end
    }
    out.deeds = log.size();
    out.hash = subject.hash();
  }
  recipe.threads = 2;
  Subject again(scene, recipe);
  for (std::size_t k = 0; k < log.size(); ++k)
    if (again.take(log[k].first) != log[k].second) throw Broken(fmt::format("deed {} is refused otherwise when done again", k));
  if (again.hash() != out.hash) throw Broken("done again, it comes to other bits");
  return out;
}

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2), x.end());
  return x[x.size() / 2];
}

int run(double seconds, std::uint64_t seed, std::uint64_t most_episodes) {
  constexpr int deeds = 400, between_measurements = 20, least_measurements = 8, most_findings = 20;
  const std::uint64_t measured = 12345;  // the episode that is repeated
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  Episode sum;
  std::uint64_t episodes = 0;
  int findings = 0;
  const std::uint64_t expected = episode(measured, deeds).hash;
  std::vector<double> times, memory;
  double told = 0;
  for (; passed() < seconds && episodes < most_episodes && findings < most_findings; ++episodes) {
    Episode one;
    try {
      one = episode(seed + episodes, deeds);
    } catch (const std::exception& broken) {
      ++findings;
      fmt::print("seed {}: {}\n", seed + episodes, broken.what());
      std::fflush(stdout);
      continue;
    }
    sum.deeds += one.deeds;
    sum.steps += one.steps;
    sum.refused += one.refused;
    if (episodes % between_measurements != 0) continue;
    const double before = processor_seconds();
    if (episode(measured, deeds).hash != expected) throw Broken("the same episode came to other bits");
    times.push_back(processor_seconds() - before);
    memory.push_back(resident_megabytes());
    if (passed() - told < 60) continue;
    told = passed();
    fmt::print("{:>7.0f} s  {} episodes, {} deeds, {} steps; the same piece of work {:.1f} ms; {:.1f} MB\n", told, episodes,
               sum.deeds, sum.steps, 1000 * times.back(), memory.back());
    std::fflush(stdout);
  }
  fmt::print("{} episodes, {} deeds ({} refused by name), {} steps, each done twice to the same bits; {:.0f} s of processor\n",
             episodes, sum.deeds, sum.refused, sum.steps, processor_seconds());
  if (findings > 0) throw Broken(fmt::format("{} episodes broke a promise", findings));
  if (times.size() < least_measurements) return 0;
  // The first quarter against the last: caches and the allocator's own stock fill up at the start.
  const auto quarter = static_cast<std::ptrdiff_t>(times.size() / 4);
  const auto part = [&](const std::vector<double>& x, bool last) {
    return median(last ? std::vector<double>(x.end() - quarter, x.end())
                       : std::vector<double>(x.begin() + quarter, x.begin() + 2 * quarter));
  };
  const double slower = part(times, true) / part(times, false), more = part(memory, true) - part(memory, false);
  fmt::print("last quarter against the second: {:.2f} of the time, {:+.1f} MB\n", slower, more);
  if (slower > 1.5) throw Broken("the same work takes longer and longer");
  if (more > 0.1 * part(memory, false) + 10) throw Broken("memory grows");
  return 0;
}

}  // namespace
}  // namespace rotule::soak

int main(int count, char** words) {
  try {
    double seconds = 60;
    std::uint64_t seed = 1, episodes = std::numeric_limits<std::uint64_t>::max();
    for (int i = 1; i + 1 < count; i += 2) {
      if (std::string(words[i]) == "--seconds") seconds = std::stod(words[i + 1]);
      if (std::string(words[i]) == "--seed") seed = std::stoull(words[i + 1]);
      if (std::string(words[i]) == "--episodes") episodes = std::stoull(words[i + 1]);
    }
    return rotule::soak::run(seconds, seed, episodes);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rotule_soak: {}\n", error.what());
    return 1;
  }
}
