// One step at velocity level: C1 with the geometric stiffness of F1. With K = -d(J^T lambda)/dq from the last step's forces,
//   (M + h^2 K) u* = M u + h f,   (J (M + h^2 K)^-1 J^T) x = -(J u* + C_t) - (beta/h) C,
//   u+ = u* + (M + h^2 K)^-1 J^T x,   q+ = q moved by h u+:
// implicit Euler in the directions in which constraint forces act as springs, so that no tension is too high for the step.
#include <Eigen/LU>
#include <algorithm>

#include "dynamics/forces/gyroscopic.h"
#include "dynamics/forces/weight.h"
#include "mechanism/jointed_mechanism.h"

namespace rotule {

void JointedMechanism::free_velocities(const VelocitySettings& settings, const State& s, double t, double step, VecX& free) {
  // Before the first step nobody knows the constraint forces yet: those of the same pose at rest will do. (Forces of the motion
  // itself may be enormous just after a blow, and would freeze what it set in motion.)
  const bool stiff = settings.geometric_stiffness;
  if (stiff && !islands.empty() && !islands.front().has_lambda) {
    State rest = s;
    rest.u.setZero();
    refresh_forces(t, rest);
  }

  ++evaluations;
  kinematics.update(model, s);

  // Free motion: M^-1 (M u + h f), with gyroscopic terms implicit.
  sum_forces(t, s);
  divide_by_mass(forces_);
  free = s.u + step * forces_;
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i))
      free.segment<3>(6 * i + 3) +=
          implicit_gyroscopic_step(model.inertia[i], kinematics.bodies[i].R, s.omega(i), step) - s.omega(i);

  const StageClock::Scope stage(clock, Stage::solve);
  for_each_island([&](Island& island) {
    island.evaluate(model, kinematics, t);
    island.gather(free, island.local);
    if (stiff) soften(island, t, step);
    formulate_velocity(island.values, island.local, settings.baumgarte / step, island.problem);
    island.problem.h = step;
  });
}

void JointedMechanism::velocity_step(const VelocitySettings& settings, State& s, double t, double step) {
  free_velocities(settings, s, t, step, sigma_);
  const StageClock::Scope stage(clock, Stage::solve);
  for_each_island([&](Island& island) {
    island.solve(recipe.solver, true);
    if (keep_problems) island.keep();
    island.judge();
    island.apply_impulses();
    island.scatter(sigma_);
    island.lambda = island.x / step;
    island.has_lambda = true;
  });
  count_solves();

  s.u = sigma_;
  sigma_ *= step;
  displace(s, sigma_, s);
}

bool JointedMechanism::is_passive() const {
  return external.isZero(0) && model.forces.empty() &&
         std::none_of(model.joints.begin(), model.joints.end(), [](const Joint& joint) { return joint.function != nullptr; });
}

void JointedMechanism::stiffen(const State& s, double t, double factor) {
  if (factor == 1) {
    for (Island& island : islands) island.has_lambda = false;
    refresh_forces(t, s);
    for (Island& island : islands) island.has_lambda = true;
  } else {
    for (Island& island : islands) island.lambda *= factor;
  }
}

void JointedMechanism::soften(Island& island, double t, double step) const {
  lump_stiffness(island.constraints, kinematics, t, island.lambda, static_cast<int>(island.bodies.size()), island.stiffness);
  for (std::size_t k = 0; k < island.bodies.size(); ++k) {
    const int body = island.bodies[k];
    const Mat3& R = kinematics.bodies[body].R;
    const double m = model.mass(body);
    // Particles do not turn; theirs is what Kinematics puts there.
    const Mat3 I = model.is_particle(body) ? Mat3(m * Mat3::Identity()) : Mat3(R * model.inertia[body] * R.transpose());
    const Mat3 mass = m * Mat3::Identity() + step * step * island.stiffness.linear[k];
    const Mat3 inertia = I + step * step * island.stiffness.angular[k];
    Mat6& W = island.problem.inverse_mass[k];
    W.topLeftCorner<3, 3>() = mass.inverse();
    W.bottomRightCorner<3, 3>() = inertia.inverse();
    // `local` holds M^-1 times the momentum; the softened mass divides the same momentum.
    auto v = island.local.segment<3>(6 * k);
    auto omega = island.local.segment<3>(6 * k + 3);
    v = W.topLeftCorner<3, 3>() * (m * Vec3(v));
    omega = W.bottomRightCorner<3, 3>() * (I * Vec3(omega));
  }
}

}  // namespace rotule
