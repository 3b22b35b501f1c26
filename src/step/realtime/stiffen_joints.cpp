// Joint forces turn with the bodies they act on: where that is too stiff for a step, bodies get more inertia.
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "constraint/geometric_stiffness.h"
#include "math/symmetric3.h"
#include "step/realtime/articulations.h"

namespace rotule::realtime {

namespace {

/// h^2 K over inertia from which on stiffness is taken in. A step by itself stands 4; neighbours in a chain double it.
constexpr double least_stiffness = 0.25;

Vec3 position_of(const Line& pose) {
  const float* p = pose.at;
  return {double(p[0]) + double(p[3]), double(p[1]) + double(p[4]), double(p[2]) + double(p[5])};
}
Vec3 motion_of(const Line& motion, int first) { return {motion.at[first], motion.at[first + 1], motion.at[first + 2]}; }
void put_motion(Line& motion, int first, const Vec3& w) {
  for (int k = 0; k < 3; ++k) motion.at[first + k] = static_cast<float>(w[k]);
}

}  // namespace

Articulations::RigidMotion Articulations::motion_as_one(const Group& group, const BodyLines& bodies,
                                                        std::vector<Mat3>& inertia_roots) {
  inertia_roots.clear();
  RigidMotion out;
  Vec3 push = Vec3::Zero();
  for (const int line : group.lines) {
    const Line& motion = bodies.motion[line];
    const double root = 1 / double(motion.at[6]);
    out.mass += root * root;
    out.centre += root * root * position_of(bodies.pose[line]);
    push += root * motion_of(motion, 0);
  }
  out.centre /= out.mass;
  out.velocity = push / out.mass;
  Vec3 spin = Vec3::Zero();
  for (const int line : group.lines) {
    const Line& motion = bodies.motion[line];
    const double root = 1 / double(motion.at[6]);
    const Mat3& inertia_root = inertia_roots.emplace_back(inverse_inertia_root(bodies.pose[line].at).inverse());
    const Vec3 lever = position_of(bodies.pose[line]) - out.centre;
    out.inertia +=
        inertia_root * inertia_root + root * root * (lever.squaredNorm() * Mat3::Identity() - lever * lever.transpose());
    spin += inertia_root * motion_of(motion, 3) + root * lever.cross(motion_of(motion, 0));
  }
  out.spin = out.inertia.ldlt().solve(spin);
  return out;
}

void Articulations::estimate_stiffness(const Linkage& linkage, const VecX& x, Group& group) const {
  std::fill(group.stiffness.begin(), group.stiffness.end(), Mat3::Zero());
  std::fill(group.twist.begin(), group.twist.end(), 0.0);
  std::fill(group.pull.begin(), group.pull.end(), 0.0);
  if (group.balls) {
    // Of a point's rows the angular parts are rho x e_k on a, and minus that on b, as the force there is minus what it is on a.
    for (int k = 0; k < group.joints; ++k) {
      const ConstraintBlock& block = group.rows.blocks[k];
      const Vec3 f(x[block.first_row], x[block.first_row + 1], x[block.first_row + 2]);
      const auto add = [&](int body, const double* J) {
        if (body < 0) return;
        const Vec3 rho(J[6 + 5], J[12 + 3], J[4]);
        Mat3& K = group.stiffness[body];
        const double pull = f.dot(rho);
        for (int i = 0; i < 3; ++i) {
          K(i, i) += pull - f[i] * rho[i];
          for (int j = 0; j < i; ++j) {
            const double twisted = 0.5 * (f[i] * rho[j] + f[j] * rho[i]);
            K(i, j) -= twisted;
            K(j, i) -= twisted;
          }
        }
      };
      add(block.body_a, group.rows.J_a.data() + 6 * block.first_row);
      add(block.body_b, group.rows.J_b.data() + 6 * block.first_row);
    }
    return;
  }
  for (int k = 0; k < group.joints; ++k) {
    const ConstraintBlock& block = group.rows.blocks[k];
    const Joint& joint = model_.joints[block.source];
    const auto forces = x.segment(block.first_row, block.rows);
    const auto add = [&](int body, bool second) {
      if (body < 0) return;
      const JacobianRows& J = second ? group.rows.J_b : group.rows.J_a;
      const Vec3 rho = linkage.constraints.lever(k, kinematics_, second);
      Vec3 push = Vec3::Zero();
      for (int r = 0; r < block.rows; ++r) push += forces[r] * J.row(block.first_row + r).head<3>().transpose();
      const Mat3 twisted = push * rho.transpose();
      group.stiffness[body] += push.dot(rho) * Mat3::Identity() - 0.5 * (twisted + twisted.transpose());
      if (joint.locked[3] || joint.locked[4] || joint.locked[5]) group.twist[body] += forces.lpNorm<1>();
      if (joint.length > 0) group.pull[body] += forces.lpNorm<1>() / joint.length;
    };
    add(block.body_a, false);
    add(block.body_b, true);
  }
}

void Articulations::stiffen(const Linkage& linkage, const VecX& x, Group& group, BodyLines& bodies, Desk& desk) const {
  std::vector<int>& stiff = desk.stiff;
  // An estimate first, body by body, from what the joint's point does alone: K = +-((lambda . rho) 1 - (lambda rho^T + rho
  // lambda^T)/2), against the inertia; locked rotations by their torque, rods by force over length against the mass. Few come
  // near; where all joints are balls, it is no estimate, and those few are all that is looked at.
  estimate_stiffness(linkage, x, group);
  // Rows that follow the bodies turn their forces in each part of the step.
  const double span = group.quick ? part_ : step_, square = span * span;
  stiff.clear();
  for (std::size_t i = 0; i < group.lines.size(); ++i) {
    const float *pose = bodies.pose[group.lines[i]].at, light = bodies.motion[group.lines[i]].at[6];
    const Mat3 S = inverse_inertia_root(pose);
    const double size = S.squaredNorm(), least = least_stiffness * part_ / square;
    if (group.pull[i] * light * light <= least) {
      // A product of norms is never less, and most are sorted out by that.
      if (size * (group.stiffness[i].norm() + group.twist[i]) <= least) continue;
      if (most_eigenvalue(S * group.stiffness[i] * S) + group.twist[i] * size <= least) continue;
    }
    stiff.push_back(static_cast<int>(i));
  }
  if (stiff.empty()) return;

  LumpedStiffness& K = desk.lumped;
  if (!group.balls) {
    desk.lambda = x / part_;
    lump_stiffness(linkage.constraints, kinematics_, 0, desk.lambda, static_cast<int>(group.lines.size()), K);
    stiff.resize(group.lines.size());
    std::iota(stiff.begin(), stiff.end(), 0);
  }
  std::optional<RigidMotion> whole;  // where somebody needs it
  Vec3 push_lost = Vec3::Zero(), spin_lost = Vec3::Zero();
  for (const int i : stiff) {
    Line &motion = bodies.motion[group.lines[i]], &pose = bodies.pose[group.lines[i]];
    const Mat3 linear = group.balls ? Mat3(Mat3::Zero()) : K.linear[i],
               angular = group.balls ? without_negative(group.stiffness[i] / part_) : K.angular[i];
    const double mass_root = 1 / double(motion.at[6]);
    const Mat3 S = inverse_inertia_root(pose.at);
    const double turning = (S * angular * S).norm(), sliding = linear.norm() / (mass_root * mass_root);
    if (std::max(turning, sliding) * square < least_stiffness) continue;
    if (!whole) whole = motion_as_one(group, bodies, desk.inertia_roots);
    const RigidMotion& rigid = *whole;
    const double heavier = std::sqrt(mass_root * mass_root + square * linear.norm());
    Mat3& inertia_root = desk.inertia_roots[i];
    const Mat3 inertia = inertia_root * inertia_root;
    const auto [root, inverse_root] = square_roots(inertia + square * angular);
    // Momenta stay, as in an implicit step: what is too stiff to be followed is damped. But forces that turn along with all that
    // hangs together do not hold back its turning as a whole: of velocities, only what differs from that is damped.
    const Vec3 lever = position_of(pose) - rigid.centre;
    const Vec3 v = motion_of(motion, 0) / mass_root, omega = S * motion_of(motion, 3);
    const Vec3 v_whole = rigid.velocity + rigid.spin.cross(lever);
    const Vec3 v_new = v_whole + mass_root * mass_root / (heavier * heavier) * (v - v_whole),
               omega_new = rigid.spin + inverse_root * (inverse_root * (inertia * (omega - rigid.spin)));
    const Vec3 push = mass_root * mass_root * (v - v_new);
    push_lost += push;
    spin_lost += inertia * (omega - omega_new) + lever.cross(push);
    put_motion(motion, 0, heavier * v_new);
    put_motion(motion, 3, root * omega_new);
    inertia_root = root;
    motion.at[6] = static_cast<float>(1 / heavier);
    constexpr int at[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
    for (int k = 0; k < 6; ++k) pose.at[10 + k] = static_cast<float>(inverse_root(at[k][0], at[k][1]));
  }
  if (!group.free || !whole) return;
  const RigidMotion& rigid = *whole;
  // Nothing holds it from outside: what damping took from its momentum and angular momentum goes to all of it alike.
  const Vec3 faster = push_lost / rigid.mass, turning = rigid.inertia.ldlt().solve(spin_lost);
  for (std::size_t i = 0; i < group.lines.size(); ++i) {
    Line& motion = bodies.motion[group.lines[i]];
    const Vec3 v = faster + turning.cross(position_of(bodies.pose[group.lines[i]]) - rigid.centre);
    put_motion(motion, 0, motion_of(motion, 0) + v / motion.at[6]);
    put_motion(motion, 3, motion_of(motion, 3) + desk.inertia_roots[i] * turning);
  }
}

}  // namespace rotule::realtime
