#include "equilibrium_watch.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/printable.h"

namespace rotule::app {

EquilibriumWatch::EquilibriumWatch(const World& world, const Scene& scene, const RunOptions& options) {
  // A ten-thousandth of the heaviest weight, or a micronewton where nothing weighs.
  double heaviest = 0;
  for (const BodyId body : world.bodies()) heaviest = std::max(heaviest, world.mass(body));
  for (int k = 0; k < world.particles(); ++k) heaviest = std::max(heaviest, world.particle_mass(k));
  const double weight = heaviest * scene.gravity.norm();
  force_ = options.force_tolerance.value_or(weight > 0 ? 1e-4 * weight : 1e-6);
  speed_ = options.speed_tolerance.value_or(1e-4);
  hold_ = options.hold.value_or(0.1);
  for (const auto& [name, value] : {std::pair("force-tolerance", force_), {"speed-tolerance", speed_}, {"hold", hold_}})
    if (!(value > 0) || !std::isfinite(value)) throw Error(fmt::format("--{}: must be greater than 0, is {}", name, value));
}

bool EquilibriumWatch::at(const World& world) {
  now_ = world.balance(force_, speed_);
  if (!now_.reached())
    since_.reset();
  else if (!since_)
    since_ = world.time();
  return since_ && world.time() - *since_ >= hold_ * (1 - 1e-12);
}

Json EquilibriumWatch::save() const { return since_ ? Json(*since_) : Json(nullptr); }
void EquilibriumWatch::load(const Json& saved) {
  if (!saved.is_null()) since_ = saved.get<double>();
}

Json EquilibriumWatch::result(bool reached) const {
  Json moving = Json::array();
  for (const Restless& r : now_.restless)
    moving.push_back(
        {{"name", r.name}, {"force", r.force}, {"torque", r.torque}, {"speed", r.speed}, {"angular_speed", r.angular_speed}});
  return {{"reached", reached},
          {"time", reached ? Json(*since_) : Json(nullptr)},
          {"force", now_.force},
          {"torque", now_.torque},
          {"speed", now_.speed},
          {"angular_speed", now_.angular_speed},
          {"force_tolerance", force_},
          {"speed_tolerance", speed_},
          {"hold", hold_},
          {"moving_count", now_.restless_count},
          {"moving", std::move(moving)}};
}

std::string equilibrium_text(const Json& e) {
  if (e["reached"].get<bool>())
    return fmt::format("  equilibrium   since {:.6g} s: {:.3g} N and {:.3g} m/s are left\n", e["time"].get<double>(),
                       e["force"].get<double>(), e["speed"].get<double>());
  std::string out = fmt::format("  equilibrium   not reached; {} still moving{}\n", e["moving_count"].get<int>(),
                                e["moving"].empty() ? ", but it did not last" : ":");
  for (const Json& m : e["moving"])
    out += fmt::format("    {:<16}  {:.3g} m/s, {:.3g} N left\n", shown(m["name"].get<std::string>()),
                       std::max(m["speed"].get<double>(), m["angular_speed"].get<double>()),
                       std::max(m["force"].get<double>(), m["torque"].get<double>()));
  return out;
}

}  // namespace rotule::app
