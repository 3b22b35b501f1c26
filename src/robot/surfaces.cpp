#include "robot/surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace rotule::robot {

namespace {

constexpr std::size_t most_robot_layers = 31;  // one of a world's 32 is that of no name

/// Bodies that behave alike: masks, and with whom they do not touch.
struct Behaviour {
  unsigned contype = 0, conaffinity = 0;
  std::set<std::string> apart;  // bodies
  std::string self;             // whose, where somebody names it in particular
  friend auto operator<=>(const Behaviour&, const Behaviour&) = default;
};

bool meet(const Behaviour& a, const Behaviour& b) {
  if ((a.contype & b.conaffinity) == 0 && (b.contype & a.conaffinity) == 0) return false;
  return !a.apart.contains(b.self) && !b.apart.contains(a.self);
}

void set_layers(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded, Remarks& remarks) {
  std::map<std::string, std::set<std::string>> apart;
  for (const Between& pair : excluded) {
    if (pair[0] == pair[1]) continue;
    apart[pair[0]].insert(pair[1]);
    apart[pair[1]].insert(pair[0]);
  }
  const auto behaviour = [&](std::size_t i, bool with_pairs) {
    Behaviour out{surfaces[i].contype, surfaces[i].conaffinity, {}, {}};
    if (const auto found = apart.find(scene.bodies[i].name); with_pairs && found != apart.end()) {
      out.apart = found->second;
      out.self = found->first;
    }
    return out;
  };
  for (const bool with_pairs : {true, false}) {
    std::map<Behaviour, std::string> layers;
    for (std::size_t i = 0; i < surfaces.size(); ++i)
      if (surfaces[i].touches) layers.try_emplace(behaviour(i, with_pairs), "");
    if (layers.size() > most_robot_layers) {
      remarks.add("", 0, with_pairs ? "contact exclude" : "geom@contype",
                  fmt::format("would take {} layers, and a world has 32: left out", layers.size()));
      continue;
    }
    const bool all_meet = std::all_of(layers.begin(), layers.end(), [&](const auto& a) {
      return std::all_of(layers.begin(), layers.end(), [&](const auto& b) { return meet(a.first, b.first); });
    });
    if (all_meet) return;
    std::size_t number = 0;
    for (auto& [key, name] : layers) name = key.self.empty() ? fmt::format("layer_{}", number++) : key.self;
    for (std::size_t i = 0; i < surfaces.size(); ++i) {
      if (!surfaces[i].touches) continue;
      const Behaviour own = behaviour(i, with_pairs);
      scene.bodies[i].layer = layers[own];
      std::vector<std::string>& meets = scene.bodies[i].meets.emplace();
      for (const auto& [other, name] : layers)
        if (meet(own, other)) meets.push_back(name);
    }
    return;
  }
}

}  // namespace

void say_who_touches(Scene& scene, const std::vector<Surface>& surfaces, const std::vector<Between>& excluded, bool largest,
                     Remarks& remarks) {
  set_layers(scene, surfaces, excluded, remarks);
  std::map<std::array<double, 3>, std::string> materials;
  for (std::size_t i = 0; i < surfaces.size(); ++i) {
    if (!surfaces[i].touches) continue;
    const auto& f = surfaces[i].friction;
    const auto [at, is_new] = materials.try_emplace(f, "");
    if (is_new) {
      at->second = fmt::format("surface_{}", materials.size() - 1);
      scene.materials.push_back({.name = at->second, .friction = f[0], .rolling_friction = f[2], .torsional_friction = f[1]});
    }
    scene.bodies[i].material = at->second;
  }
  if (!largest) return;
  // Of two materials the geometric mean holds, unless the pair says otherwise.
  for (std::size_t i = 0; i < scene.materials.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const Material &a = scene.materials[i], &b = scene.materials[j];
      if (a.friction != b.friction)
        scene.material_pairs.push_back({.between = {b.name, a.name}, .friction = std::max(a.friction, b.friction)});
    }
}

}  // namespace rotule::robot
