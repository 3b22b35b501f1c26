#include "model/equations.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <array>
#include <cmath>
#include <random>

#include "model/model.h"
#include "model/parameter_table.h"

namespace rotule {

MovingBody moving_body(const Model& model, int partner) {
  MovingBody out;
  out.turns = partner != world_body && !model.is_particle(partner);
  if (out.turns) out.offset = -model.bodies[partner].center_of_mass;
  return out;
}

std::shared_ptr<const Equations> compile_equations(Equations equations, const Model& model, const State& state,
                                                   const Joint& joint, const std::string& place) {
  const int count = equations.function.equations, parameters = static_cast<int>(equations.parameters.size());
  if (count < 1 || count > Equations::most)
    throw Error(place, fmt::format("has {} equations; there can be 1 to {}", count, Equations::most));
  if (parameters > Moving::most_parameters)
    throw Error(place + "/parameters", fmt::format("there can be at most {}", Moving::most_parameters));
  if (parameters >= count)
    throw Error(place + "/parameters",
                fmt::format("{} of them take away as many equations, and there are only {}", parameters, count));

  std::vector<MovingBody> bodies;
  for_each_partner(joint, [&](int partner) {
    MovingBody body = moving_body(model, partner);
    if (partner != world_body) {
      const Vec3 center = point_of(model, state, partner, Vec3::Zero());
      body.p = center;
      if (body.turns) body.R = state.theta[partner].toRotationMatrix();
    }
    body.index = static_cast<int>(bodies.size()) - (equations.function.single ? 1 : 0);
    body.by_motion = body.by_velocity = partner != world_body && (model.movable(partner) || model.kinematic(partner));
    bodies.push_back(body);
  });
  if (equations.function.single) bodies.erase(bodies.begin());
  std::vector<Moving> s(static_cast<std::size_t>(parameters));
  for (int k = 0; k < parameters; ++k) {
    s[k] = Moving(0.5 * (equations.parameters[k].from + equations.parameters[k].to));
    s[k].by_parameter[static_cast<std::size_t>(k)] = 1;
  }
  Moving t(0.0);
  t.of_time = true;

  // Velocities drawn by lot: what is linear in them doubles with them.
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same every time
  const auto draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<std::array<Vec3, 2>> velocity;
  for (const MovingBody& body : bodies) {
    velocity.push_back({Vec3(draw(), draw(), draw()), body.turns ? Vec3(draw(), draw(), draw()) : Vec3(Vec3::Zero())});
  }
  std::array<std::array<Moving, Equations::most>, 3> at;
  for (int times = 0; times < 3; ++times) {
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      bodies[b].v = times * velocity[b][0];
      bodies[b].omega = times * velocity[b][1];
    }
    equations.function.evaluate(bodies, t, s, {at[times].data(), static_cast<std::size_t>(count)});
  }
  const auto still = [](const Moving& value) {
    double size = 0;
    for (const double by : value.by_parameter) size += std::abs(by);
    for (int b = 0; b < value.bodies; ++b)
      for (const double by : value.by_body[b]) size += std::abs(by);
    return size == 0;
  };
  // A pose may be one where nothing changes (x^2 at x = 0); poses drawn by lot are not.
  const auto stays_still = [&](int k) {
    std::vector<MovingBody> displaced = bodies;
    for (MovingBody& body : displaced) {
      body.p += Vec3(draw(), draw(), draw());
      if (body.turns) body.R = Quat(2, draw(), draw(), draw()).normalized().toRotationMatrix() * body.R;
    }
    std::array<Moving, Equations::most> there;
    equations.function.evaluate(displaced, t, s, {there.data(), static_cast<std::size_t>(count)});
    return still(there[k]);
  };
  const auto called = [&](int k) { return count == 1 ? std::string() : fmt::format("equation {}: ", k); };
  for (int k = 0; k < count; ++k) {
    const Moving& now = at[0][k];
    const bool rate = now.of_velocities;
    equations.on_velocities.push_back(rate ? 1 : 0);
    (rate ? equations.velocities : equations.positions) = true;
    equations.knows_time = equations.knows_time || now.of_time;
    if (!std::isfinite(now.value) || !std::isfinite(at[1][k].value))
      throw Error(place, called(k) + "is not a finite number where its bodies stand");
    if (still(now) && stays_still(k))
      throw Error(place, called(k) + "depends on none of its bodies: whatever they do, it stays what it is");
    const double bend = at[2][k].value - 2 * at[1][k].value + now.value;
    const double size = std::abs(at[2][k].value) + 2 * std::abs(at[1][k].value) + std::abs(now.value);
    if (rate && std::abs(bend) > 1e-9 * size)
      throw Error(place, called(k) + "is not linear in velocities; rolling, blades and given rates are");
    // The row would be empty, and hold nothing, although its equation changes nearby.
    if (still(now) && !equations.one_sided)
      throw Error(place,
                  called(k) + (rate ? "asks nothing of velocities where its bodies stand, as what they are multiplied by is zero "
                                      "there: such an equation holds nothing; start a little off"
                                    : "does not change to first order where its bodies stand, as a square where it is zero: such "
                                      "an equation holds nothing; write it without the square (|x| - 1, not (|x| - 1)^2), or "
                                      "start a little off"));
  }
  if (parameters > 0 && equations.velocities)
    throw Error(place + "/parameters", "are for equations of positions; these are on velocities");
  if (equations.one_sided && parameters > 0) throw Error(place, "one that may not be less or more has no parameters");
  if (equations.velocities && equations.restitution > 0)
    throw Error(place + "/restitution", "is of positions; what bounds a velocity has nothing to bounce off");
  if (parameters > 0) {
    for (MovingBody& body : bodies) body.v = body.omega = Vec3::Zero();
    equations.table = parameter_table(equations, bodies);
  }
  return std::make_shared<const Equations>(std::move(equations));
}

}  // namespace rotule
