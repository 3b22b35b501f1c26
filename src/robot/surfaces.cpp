#include "robot/surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "model/names.h"

namespace rotule::robot {

namespace {

constexpr std::size_t most_robot_layers = 31;  // one of a world's 32 is that of no name
constexpr std::size_t most_groups = 600;       // beyond these, which groups behave alike is not looked for

/// Bodies that behave alike: masks, and with whom they touch or do not by name.
struct Behaviour {
  unsigned contype = 0, conaffinity = 0;
  std::string self;                                                       // whose, where somebody names it in particular
  friend auto operator<=>(const Behaviour&, const Behaviour&) = default;  // NOLINT(modernize-use-nullptr): its zeros are none
};

/// Whether the bodies of two groups meet. `any`: they cannot touch whatever is said, since a joint ties them, or there is one
/// body.
enum class Meets : char { no, yes, any };

bool agree(Meets a, Meets b) { return a == b || a == Meets::any || b == Meets::any; }
Meets both(Meets a, Meets b) { return a == Meets::any ? b : a; }

using NamePair = std::pair<std::string, std::string>;
NamePair sorted(const std::string& a, const std::string& b) { return std::minmax(a, b); }

class Layers {
 public:
  Layers(const Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded,
         const std::vector<TouchingPair>& pairs)
      : scene_(scene), surfaces_(surfaces) {
    for (const JointDef& joint : scene.joints) tied_.insert(sorted(between(joint)[0], between(joint)[1]));
    for (const Between& pair : excluded)
      if (pair[0] != pair[1] && !tied_.contains(sorted(pair[0], pair[1]))) say(pair, Meets::no);
    for (const TouchingPair& pair : pairs)
      if (!tied_.contains(sorted(pair.between[0], pair.between[1]))) say(pair.between, Meets::yes);
    std::map<Behaviour, std::size_t> known;
    group_of_.assign(surfaces.size(), 0);
    for (std::size_t i = 0; i < surfaces.size(); ++i) {
      if (!surfaces[i].touches) continue;
      const std::string& name = scene.bodies[i].name;
      const Behaviour own{surfaces[i].contype, surfaces[i].conaffinity, named_.contains(name) ? name : ""};
      const auto [at, is_new] = known.try_emplace(own, members_.size());
      if (is_new) members_.emplace_back();
      members_[at->second].push_back(i);
      group_of_[i] = at->second;
    }
    const std::size_t n = members_.size();
    merged_.resize(n);
    for (std::size_t g = 0; g < n; ++g) merged_[g] = g;
    if (n > most_groups) return;
    meets_.assign(n, std::vector<Meets>(n));
    for (std::size_t g = 0; g < n; ++g)
      for (std::size_t k = 0; k < n; ++k) meets_[g][k] = of_groups(g, k);
    share();
  }

  [[nodiscard]] std::size_t count() const { return std::set<std::size_t>(merged_.begin(), merged_.end()).size(); }
  [[nodiscard]] std::size_t layer_of(std::size_t body) const { return merged_[group_of_[body]]; }
  [[nodiscard]] bool meet(std::size_t a, std::size_t b) const { return meets_[a][b] != Meets::no; }
  /// Of the first body of the layer; empty where masks alone make it.
  [[nodiscard]] std::string named_after(std::size_t layer) const {
    const std::string& name = scene_.bodies[members_[layer].front()].name;
    return named_.contains(name) ? name : "";
  }

  /// Two layers as one until few are left, at the least harm: where they disagree, bodies pass through each other. Pairs of which
  /// that is true and was not asked for are told.
  std::vector<NamePair> squeeze() {
    std::vector<NamePair> lost;
    std::vector<std::size_t> left;
    for (std::size_t g = 0; g < members_.size(); ++g)
      if (merged_[g] == g) left.push_back(g);
    while (left.size() > most_robot_layers) {
      const std::size_t b = left.back();
      left.pop_back();
      merge(*std::min_element(left.begin(), left.end(), [&](std::size_t p, std::size_t q) { return harm(p, b) < harm(q, b); }),
            b);
    }
    for (std::size_t i = 0; i < surfaces_.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (surfaces_[i].touches && surfaces_[j].touches && of_bodies(i, j) == Meets::yes && !meet(layer_of(i), layer_of(j)))
          lost.emplace_back(scene_.bodies[j].name, scene_.bodies[i].name);
    return lost;
  }

  /// Where there are, nothing else can be asked.
  [[nodiscard]] bool too_many() const { return members_.size() > most_groups; }

 private:
  void say(const Between& pair, Meets how) {
    said_[sorted(pair[0], pair[1])] = how;
    named_.insert(pair[0]);
    named_.insert(pair[1]);
  }

  [[nodiscard]] Meets of_bodies(std::size_t i, std::size_t j) const {
    if (i == j || (scene_.bodies[i].immovable() && scene_.bodies[j].immovable())) return Meets::any;
    const NamePair names = sorted(scene_.bodies[i].name, scene_.bodies[j].name);
    if (tied_.contains(names)) return Meets::any;
    if (const auto found = said_.find(names); found != said_.end()) return found->second;
    const Surface &a = surfaces_[i], &b = surfaces_[j];
    return (a.contype & b.conaffinity) != 0 || (b.contype & a.conaffinity) != 0 ? Meets::yes : Meets::no;
  }

  /// Groups of several bodies have nobody who is named, so that their masks say all.
  [[nodiscard]] Meets of_groups(std::size_t g, std::size_t k) const {
    if (members_[g].size() == 1 && members_[k].size() == 1) return of_bodies(members_[g][0], members_[k][0]);
    for (const std::size_t i : members_[g])
      for (const std::size_t j : members_[k])
        if (const Meets found = of_bodies(i, j); found != Meets::any) return found;
    return Meets::any;
  }

  void share() {
    for (std::size_t b = 1; b < members_.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (merged_[a] == a && fit(a, b)) {
          merge(a, b);
          break;
        }
  }
  [[nodiscard]] bool fit_inside(std::size_t a, std::size_t b) const {
    return agree(meets_[a][a], meets_[b][b]) && agree(meets_[a][b], both(meets_[a][a], meets_[b][b]));
  }
  [[nodiscard]] bool fit(std::size_t a, std::size_t b) const {
    if (!fit_inside(a, b)) return false;
    for (std::size_t k = 0; k < members_.size(); ++k)
      if (k != a && k != b && merged_[k] == k && !agree(meets_[a][k], meets_[b][k])) return false;
    return true;
  }
  void merge(std::size_t a, std::size_t b) {
    // Where they disagree nobody touches: what overlaps and is pushed apart is worse than what passes through.
    const auto one = [](Meets p, Meets q) { return agree(p, q) ? both(p, q) : Meets::no; };
    const Meets inside = one(one(meets_[a][a], meets_[b][b]), meets_[a][b]);
    for (std::size_t k = 0; k < members_.size(); ++k) meets_[a][k] = meets_[k][a] = one(meets_[a][k], meets_[b][k]);
    meets_[a][a] = inside;
    for (std::size_t& m : merged_)
      if (m == b) m = a;
  }
  /// How many would lose a partner; where one of the two stands still, such as the floor, that counts for all others.
  [[nodiscard]] std::size_t harm(std::size_t a, std::size_t b) const {
    const auto still = [&](std::size_t g) { return scene_.bodies[members_[g].front()].immovable(); };
    const auto cost = [&](bool grave) { return grave ? surfaces_.size() : 1; };
    std::size_t sum = fit_inside(a, b) ? 0 : cost(still(a) || still(b));
    for (std::size_t k = 0; k < members_.size(); ++k)
      if (k != a && k != b && merged_[k] == k && !agree(meets_[a][k], meets_[b][k]))
        sum += cost(still(a) || still(b) || still(k));
    return sum;
  }

  const Scene& scene_;
  const std::vector<Surface>& surfaces_;
  std::set<NamePair> tied_;
  std::map<NamePair, Meets> said_;
  std::set<std::string> named_;
  std::vector<std::vector<std::size_t>> members_;  // of groups
  std::vector<std::size_t> group_of_, merged_;     // of bodies; of groups, into which
  std::vector<std::vector<Meets>> meets_;
};

std::string list_of(const std::vector<NamePair>& pairs) {
  constexpr std::size_t most_told = 12;
  std::string out;
  for (std::size_t k = 0; k < std::min(most_told, pairs.size()); ++k)
    out += fmt::format("{}{} and {}", k > 0 ? "; " : "", in_quotes(pairs[k].first), in_quotes(pairs[k].second));
  return pairs.size() > most_told ? fmt::format("{}; and {} more", out, pairs.size() - most_told) : out;
}

void set_layers(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded,
                const std::vector<TouchingPair>& pairs, Remarks& remarks) {
  std::optional<Layers> layers(std::in_place, scene, surfaces, excluded, pairs);
  if (layers->too_many()) {
    remarks.add("", 0, "contact exclude and pair",
                fmt::format("name more than {} bodies: left out, masks alone count", most_groups));
    layers.emplace(scene, surfaces, std::vector<Between>{}, std::vector<TouchingPair>{});
    if (layers->too_many()) {
      remarks.add("", 0, "geom@contype", fmt::format("takes more than {} masks: left out, all touch each other", most_groups));
      return;
    }
  }
  if (layers->count() > most_robot_layers) {
    const std::vector<NamePair> lost = layers->squeeze();
    if (!lost.empty())
      remarks.add(
          "", 0, "contact exclude and pair",
          fmt::format(
              "take more layers than a world has: besides those that the file tells to, {} pair{} pass through each other: {}",
              lost.size(), lost.size() == 1 ? "" : "s", list_of(lost)));
  }
  std::map<std::size_t, std::string> names;
  for (std::size_t i = 0; i < surfaces.size(); ++i)
    if (surfaces[i].touches) names.try_emplace(layers->layer_of(i));
  const bool all_meet = std::all_of(names.begin(), names.end(), [&](const auto& a) {
    return std::all_of(names.begin(), names.end(), [&](const auto& b) { return layers->meet(a.first, b.first); });
  });
  if (all_meet) return;
  std::size_t number = 0;
  for (auto& [layer, name] : names) {
    name = layers->named_after(layer);
    if (name.empty()) name = fmt::format("layer_{}", number++);
  }
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    if (!surfaces[i].touches) continue;
    const std::size_t own = layers->layer_of(i);
    scene.bodies[i].layer = names[own];
    std::vector<std::string>& meets = scene.bodies[i].meets.emplace();
    for (const auto& [other, name] : names)
      if (layers->meet(own, other)) meets.push_back(name);
  }
}

/// Bodies of which a pair says how they slide have a material of their own.
struct SurfaceKey {
  std::array<double, 3> friction;
  bool slides_freely;
  double priority;
  std::string self;
  friend auto operator<=>(const SurfaceKey&, const SurfaceKey&) = default;  // NOLINT(modernize-use-nullptr): likewise
};

/// MJCF's rule: the one of higher priority alone, else the larger coefficient, unless both slide freely.
double sliding(const SurfaceKey& a, const SurfaceKey& b) {
  if (a.priority != b.priority) {
    const SurfaceKey& says = a.priority > b.priority ? a : b;
    return says.slides_freely ? 0 : says.friction[0];
  }
  return a.slides_freely && b.slides_freely ? 0 : std::max(a.friction[0], b.friction[0]);
}

}  // namespace

void say_who_touches(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded,
                     const std::vector<TouchingPair>& pairs, bool largest, Remarks& remarks) {
  set_layers(scene, surfaces, excluded, pairs, remarks);
  std::set<std::string> own_material;
  for (const TouchingPair& pair : pairs)
    if (pair.friction) own_material.insert({pair.between[0], pair.between[1]});
  std::map<SurfaceKey, std::size_t> materials;
  std::vector<SurfaceKey> keys;
  std::unordered_map<std::string, std::size_t> of_body;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    const Surface& s = surfaces[i];
    if (!s.touches) continue;
    BodyDef& body = scene.bodies[i];
    const SurfaceKey key{s.friction, s.slides_freely, s.priority, own_material.contains(body.name) ? body.name : ""};
    const auto [at, is_new] = materials.try_emplace(key, keys.size());
    if (is_new) {
      keys.push_back(key);
      scene.materials.push_back({.name = fmt::format("surface_{}", at->second),
                                 .friction = s.slides_freely ? 0 : s.friction[0],
                                 .rolling_friction = s.friction[2],
                                 .torsional_friction = s.friction[1]});
    }
    body.material = scene.materials[at->second].name;
    of_body[body.name] = at->second;
  }
  if (!largest) return;
  std::map<std::pair<std::size_t, std::size_t>, double> said;
  for (const TouchingPair& pair : pairs)
    if (pair.friction && of_body.contains(pair.between[0]) && of_body.contains(pair.between[1]))
      said[std::minmax(of_body[pair.between[0]], of_body[pair.between[1]])] = *pair.friction;
  // Of two materials the geometric mean holds, unless the pair says otherwise.
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Material &a = scene.materials[j], &b = scene.materials[i];
      const auto found = said.find({j, i});
      const double wanted = found != said.end() ? found->second : sliding(keys[j], keys[i]);
      if (a.friction != b.friction || a.friction != wanted)
        scene.material_pairs.push_back({.between = {a.name, b.name}, .friction = wanted});
    }
}

}  // namespace rotule::robot
