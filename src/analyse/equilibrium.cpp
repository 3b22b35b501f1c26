// Equilibrium (B3): what is left of the sum of all forces on every body and particle, and how fast each moves.

#include <algorithm>

#include "dynamics/forces/added_mass.h"
#include "mechanism/jointed_mechanism.h"
#include "model/solver_list.h"
#include "world/world_implementation.h"

namespace rotule {

struct WorldImplementation::Judge {
  Judge(const Model& model, const Recipe& r) : recipe(r), mechanism(model, recipe) {}
  Recipe recipe;
  JointedMechanism mechanism;
  VecX udot;
};

Balance World::balance(double force_tolerance, double speed_tolerance) const {
  WorldImplementation& w = *implementation_;
  w.ready();
  const Model& model = w.model;
  const State& s = w.state;
  if (!w.judge) {
    Recipe recipe = w.recipe;
    recipe.formulation = AccelerationSettings{};
    recipe.correction = NoCorrectionSettings{};
    recipe.solver = solver_named("ldlt");
    w.judge = std::make_shared<WorldImplementation::Judge>(model, recipe);
  }
  JointedMechanism& mechanism = w.judge->mechanism;
  mechanism.external = w.external;
  mechanism.begin_step(s, w.time);
  // Stops, dry friction and constraints of one side carry what rests on them.
  mechanism.drives.decide(mechanism, s, w.time);
  const VecX& udot = w.judge->udot;
  mechanism.accelerations(w.time, s, w.judge->udot);

  Balance out;
  constexpr std::size_t most = 10;
  const auto measure = [&](const Restless& r) {
    return std::max(
        {r.force / force_tolerance, r.torque / force_tolerance, r.speed / speed_tolerance, r.angular_speed / speed_tolerance});
  };
  const auto look = [&](Restless one, auto&& name) {
    out.force = std::max(out.force, one.force);
    out.torque = std::max(out.torque, one.torque);
    out.speed = std::max(out.speed, one.speed);
    out.angular_speed = std::max(out.angular_speed, one.angular_speed);
    const double far = measure(one);
    if (!(far > 1)) return;
    ++out.restless_count;
    if (out.restless.size() == most && far <= measure(out.restless.back())) return;
    one.name = name();
    out.restless.insert(std::upper_bound(out.restless.begin(), out.restless.end(), far,
                                         [&](double value, const Restless& other) { return value > measure(other); }),
                        std::move(one));
    if (out.restless.size() > most) out.restless.pop_back();
  };
  VecX of_fluid = VecX::Zero(s.u.size());
  if (model.has_added_mass()) {
    add_added_gyroscopic(model, motion_of(s), of_fluid);
    of_fluid = -of_fluid;
    add_added_momentum(model, motion_of(s), udot, 1, of_fluid);
  }
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    const Quat to_body = s.theta[i].conjugate();
    // The torque that is left is I alpha + omega x I omega: d'Alembert counts the gyroscopic one among the forces of inertia.
    const Vec3 omega = to_body * Vec3(s.omega(i)), alpha = to_body * Vec3(udot.segment<3>(6 * i + 3));
    Vec3 force = model.bodies[i].mass * udot.segment<3>(6 * i);
    Vec3 torque = model.inertia[i] * alpha + omega.cross(model.inertia[i] * omega);
    if (model.has_added_mass()) {
      force += of_fluid.segment<3>(6 * i);
      torque += to_body * Vec3(of_fluid.segment<3>(6 * i + 3));
    }
    look({{}, force.norm(), torque.norm(), s.v(i).norm(), omega.norm()}, [&] { return model.bodies[i].name; });
  }
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    look({{}, model.particles.mass[k] * udot.segment<3>(s.first(k)).norm(), 0, s.particle_velocity(k).norm(), 0},
         [&] { return model.particles.name(k); });
  }
  return out;
}

}  // namespace rotule
