// A truss bridge: straight steel bars joined at their ends by ball joints, in space.
#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {
namespace {

enum Chord { bottom, top };
enum Side { left, right };
using Node = std::tuple<Chord, int, Side>;  // the int counts panels along the bridge

constexpr double panel = 2, height = 2, half_width = 1;
constexpr int panels = 4;

Vec3 place(const Node& node) {
  const auto& [chord, i, side] = node;
  return {panel * (i - panels / 2.0), side == left ? half_width : -half_width, chord == top ? height : 0};
}

std::string label(const Node& node) {
  const auto& [chord, i, side] = node;
  return fmt::format("{}{}{}", chord == top ? "top" : "bottom", i, side == left ? "l" : "r");
}

/// Adds bars, and at each of their ends a ball joint to the first bar that came there.
struct TrussBuilder {
  Scene& scene;
  std::map<Node, std::string> first_bar = {};

  void add(const Node& a, const Node& b) {
    const std::string name = fmt::format("{}_{}", label(a), label(b));
    scene.add(bar(name, place(a), place(b), 0.03, "steel"));
    for (const Node& node : {a, b})
      if (const auto [known, is_new] = first_bar.try_emplace(node, name); !is_new)
        scene.add(Ball{.name = fmt::format("{}.{}", name, label(node)), .between = {known->second, name}, .at = place(node)});
  }
};

}  // namespace

Scene bridge_truss() {
  Scene scene;
  scene.name = "bridge_truss";
  scene.description =
      "A truss bridge of 8 m span: 47 steel bars on ball joints, braced more than it needs, pinned at four corners, with a "
      "weight of 2 t hung "
      "from the middle beam; it stands still.";
  scene.materials = {steel};
  TrussBuilder truss{scene};
  for (const Side s : {left, right}) {
    for (int i = 0; i < panels; ++i) truss.add({bottom, i, s}, {bottom, i + 1, s});
    for (int i = 1; i + 1 < panels; ++i) truss.add({top, i, s}, {top, i + 1, s});
    for (int i = 1; i < panels; ++i) truss.add({bottom, i, s}, {top, i, s});
    truss.add({bottom, 0, s}, {top, 1, s});
    truss.add({bottom, panels, s}, {top, panels - 1, s});
    for (int i = 1; i + 1 < panels; ++i) {  // both diagonals of the inner panels
      truss.add({bottom, i, s}, {top, i + 1, s});
      truss.add({bottom, i + 1, s}, {top, i, s});
    }
  }
  for (int i = 0; i <= panels; ++i) truss.add({bottom, i, left}, {bottom, i, right});
  for (int i = 1; i < panels; ++i) truss.add({top, i, left}, {top, i, right});
  for (int i = 0; i < panels; ++i) truss.add({bottom, i, left}, {bottom, i + 1, right});
  for (int i = 1; i + 1 < panels; ++i) truss.add({top, i, left}, {top, i + 1, right});
  for (int i = 1; i < panels; ++i) truss.add({bottom, i, left}, {top, i, right});

  for (const int i : {0, panels})
    for (const Side s : {left, right}) {
      const Node node{bottom, i, s};
      scene.add(Ball{
          .name = fmt::format("support_{}", label(node)), .between = {"world", truss.first_bar.at(node)}, .at = place(node)});
    }

  const Node middle{bottom, panels / 2, left}, opposite{bottom, panels / 2, right};
  const Vec3 hook = 0.5 * (place(middle) + place(opposite));
  scene.add({.name = "weight", .mass = 2000.0, .position = hook - Vec3(0, 0, 0.5), .shape = Box{Vec3(0.6, 0.6, 0.7)}});
  scene.add(Ball{.name = "hook", .between = {fmt::format("{}_{}", label(middle), label(opposite)), "weight"}, .at = hook});
  scene.recipe = {.dt = 1e-3, .duration = 1};
  return scene;
}

}  // namespace rotule::scenes
