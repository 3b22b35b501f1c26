#pragma once
// Shocks (A8): a temporary constraint on a point of a body, solved together with all joints as one velocity correction and
// applied 1 + e times. Factor 1 absorbs, 2 is elastic. With D the correction for factor 1, the shock changes the energy by
// -(1 - e^2)/2 D^T M D: never up for e <= 1.
#include "mechanism/jointed_mechanism.h"
#include "model/support.h"

namespace rotule {

/// A point of a body to be stopped: along `direction`, or in all three where `sticking`.
struct ShockPoint {
  int body = 0;
  Vec3 at = Vec3::Zero();  // in the world
  Vec3 direction = Vec3::Zero();
  bool sticking = false;
  double restitution = 0;
};

class ShockSolver {
 public:
  /// Applies the shocks to the velocities; returns the kinetic energy taken out. Where `one_sided`, points that would be pulled
  /// along their direction are released, one after the other, the worst first.
  double apply(JointedMechanism& mechanism, State& s, double t, std::vector<ShockPoint>& points, bool one_sided);
  /// The points of bodies that are behind a wall, or less than `slack` metres before it, and still going further.
  void find(const Model& model, const State& s, std::vector<ShockPoint>& points, double slack = 0) const;
  /// visit(wall, body, normal, point, gap, rate of the gap) for every wall and every body's nearest point to it.
  template <class Visitor>
  static void for_each_gap(const Model& model, const State& s, Visitor&& visit) {
    for (const Wall& wall : model.walls) {
      const Vec3 n = wall.normal.normalized();
      for (int i = 0; i < model.body_count(); ++i) {
        if (!model.movable(i)) continue;
        const Vec3 r =
            s.theta[i] * (support(model.bodies[i].shape, s.theta[i].conjugate() * -n) - model.bodies[i].center_of_mass);
        const Vec3 at = s.p[i] + r;
        visit(wall, i, n, at, n.dot(at - wall.at), n.dot(s.v(i) + s.omega(i).cross(r)));
      }
    }
  }

 private:
  /// All points on one island's bodies (or, with no island, on one free body or those that fluid couples) at once.
  void apply_together(const Model& model, const Kinematics& kinematics, const Island* island, State& s,
                      std::vector<ShockPoint>& points, bool one_sided);
  ConstraintProblem problem_;
  SplitMass split_;
  Workspace workspace_;
  SolveReport report_;
  VecX x_, velocities_;
};

double kinetic_energy(const Model& model, const State& s);

}  // namespace rotule
