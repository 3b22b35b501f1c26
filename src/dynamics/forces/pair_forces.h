#pragma once
// Forces between two partners whose laws are functions of both poses, differentiated automatically: torsion springs and whatever
// a user writes. Six numbers per partner; of a particle, which does not turn, the last three do not exist. A potential V in the
// chart of small motions has gradient g and symmetric second derivatives H. Forces live in world axes, which the small rotation
// leaves behind: the derivative of the torque tau = -g by rotations is -H - 1/2 [tau]x.
#include "dynamics/forces/end_point.h"

namespace rotule {

/// What a pair of partners feels, and how it changes.
struct PairForce {
  double energy = 0;  // of those that have a potential
  Vec12 value = Vec12::Zero();
  Mat12 position = Mat12::Zero(), velocity = Mat12::Zero();
};

/// What a torsion spring exerts, in closed form: with x the reference on a, y = axis x x, z the reference on b, the angle is
///   phi = atan2(y . z, x . z),   d phi / d phi_a = ((x . z) y x z - (y . z) x x z) / ((x . z)^2 + (y . z)^2) = -d phi / d phi_b.
struct TorsionTorque {
  double energy;
  Vec3 on_a;  // on b the opposite
};
TorsionTorque torsion_torque(const TorsionSpringForce& spring, const State& s);
/// The same with its derivatives, ten times as dear.
PairForce torsion_force(const TorsionSpringForce& spring, const State& s);
/// Derivatives only where asked for. Throws Error, with its name, where the user's function gives what is not a number.
PairForce user_force(const UserForceEntry& user, const State& s, double t, bool derivatives);

/// How fast a potential that the user wrote changes where everything stands still, W.
double potential_rate(const UserForceEntry& user, const State& s, double t);

void add_pair_forces(const Model& model, const State& s, double t, VecX& f);
double torsion_potential(const Model& model, const State& s);
double user_potential(const Model& model, const State& s, double t);
double pair_potential(const Model& model, const State& s, double t);

/// The triples of u that belong to the partner's two halves; -1 where there are none.
inline std::array<int, 2> triples_of(const ForceEnd& end, const State& s) {
  if (end.kind == ForceEnd::Kind::body) return {2 * end.index, 2 * end.index + 1};
  if (end.kind == ForceEnd::Kind::particle) return {particle_triple(s, end.index), -1};
  return {-1, -1};
}

template <class Sink>
void add_pair_derivatives(const Model& model, const State& s, double t, double a, double b, Sink& sink) {
  const auto put = [&](const ForceEnd& first, const ForceEnd& second, const PairForce& pair) {
    const auto of_a = triples_of(first, s), of_b = triples_of(second, s);
    const std::array<int, 4> triple{of_a[0], of_a[1], of_b[0], of_b[1]};
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j)
        if (triple[i] >= 0 && triple[j] >= 0)
          sink(triple[i], triple[j],
               Mat3(a * pair.velocity.block<3, 3>(3 * i, 3 * j) + b * pair.position.block<3, 3>(3 * i, 3 * j)));
  };
  for (const TorsionSpringForce& spring : model.forces.torsions) put(spring.a, spring.b, torsion_force(spring, s));
  for (const UserForceEntry& user : model.forces.users) put(user.a, user.b, user_force(user, s, t, true));
}

}  // namespace rotule
