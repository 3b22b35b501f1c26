#include "scenes/builders.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <array>
#include <charconv>
#include <utility>

namespace rotule::scenes {
namespace {

Scene named(Scene scene, const char* name) {
  scene.name = name;
  return scene;
}

using Builder = Scene (*)();
constexpr std::array<std::pair<std::string_view, Builder>, 45> shipped{{
    {"ball", soft_ball},
    {"block", [] { return named(block(4), "block"); }},
    {"bouncing_ball", bouncing_ball},
    {"bricard", bricard},
    {"brick_wall", brick_wall},
    {"bridge_truss", bridge_truss},
    {"card_house", card_house},
    {"chain_fall", chain_fall},
    {"chain_on_floor", chain_on_floor},
    {"cloth", [] { return named(cloth(20), "cloth"); }},
    {"disk", disk},
    {"domino_run", domino_run},
    {"double_pendulum", double_pendulum},
    {"dzhanibekov", dzhanibekov},
    {"flyball_governor", flyball_governor},
    {"four_bar", four_bar},
    {"gripper_pinch", gripper_pinch},
    {"gyroscope", gyroscope},
    {"hanging_chain_1000", [] { return hanging_chain(1000); }},
    {"heavy_on_light", [] { return heavy_on_light(); }},
    {"incline", [] { return incline(); }},
    {"kepler", kepler},
    {"ladder", ladder},
    {"mannequin", mannequin},
    {"mannequin_bounce", mannequin_bounce},
    {"marble_box", marble_box},
    {"masonry_arch", [] { return masonry_arch(); }},
    {"newton_cradle", newton_cradle},
    {"newton_cradle_joints", newton_cradle_joints},
    {"pendulum", pendulum},
    {"planets", planets},
    {"pyramid_40", [] { return pyramid(40); }},
    {"ragdoll_heap", ragdoll_heap},
    {"rock_pile", rock_pile},
    {"rod_pendulum", rod_pendulum},
    {"rolling_coin", rolling_coin},
    {"rolling_mill", rolling_mill},
    {"rope", rope},
    {"six_bar_loop", six_bar_loop},
    {"slide_to_roll", slide_to_roll},
    {"slider_crank", slider_crank},
    {"sliding_block", sliding_block},
    {"tower_50", [] { return tower(50); }},
    {"trapeze", trapeze},
    {"tripods", tripods},
}};

/// The number after `prefix`, where `name` is nothing but the two.
template <class Number>
std::optional<Number> number_after(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return {};
  const std::string_view digits = name.substr(prefix.size());
  Number value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) throw Error(std::string(name), "its number is out of range");
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  return value;
}

int in_range(std::string_view name, int value, int low, int high) {
  if (value < low || value > high) throw Error(std::string(name), fmt::format("its number must be from {} to {}", low, high));
  return value;
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const auto& [name, builder] : shipped) out.emplace_back(name);
  return out;
}

std::optional<Scene> build(std::string_view name) {
  for (const auto& [known, builder] : shipped)
    if (known == name) return builder();
  if (const auto links = number_after<int>("chain_", name)) return chain(*links);
  if (const auto weight = number_after<double>("hanging_chain_", name)) return hanging_chain(*weight);
  if (const auto floors = number_after<int>("tower_", name)) return tower(in_range(name, *floors, 1, 10'000));
  if (const auto base = number_after<int>("pyramid_", name)) return pyramid(in_range(name, *base, 1, 1'000));
  if (const auto loops = number_after<int>("n_four_bar_", name)) return n_four_bar(*loops);
  if (const auto side = number_after<int>("cloth_", name)) return cloth(*side);
  if (const auto side = number_after<int>("block_", name)) return block(*side);
  return {};
}

}  // namespace rotule::scenes
