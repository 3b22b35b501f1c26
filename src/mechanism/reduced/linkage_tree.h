#pragma once
// A linkage by what its joints leave free (A15), for steps by impulses: velocities of bodies are v = L u with rates u, and what
// answers an impulse on bodies is
//   P = L H^-1 L^T
// in the place of M^-1. Joints of the trees have no rows then, and cannot open; those outside (loops, rods, gears, functions)
// keep theirs. Forces, velocities and impulses stay what they are for all others: six numbers per body.
//
// A step keeps momentum as bodies have it and asks for what joints allow where they have come to stand: velocities there are the
// nearest ones, in the metric of the masses, u' = H'^-1 L'^T M v, which is Coriolis' force and cannot gain energy, however fast
// the motion. The energy that this loses, of second order in the step, is given back by one factor; a bar on a hinge then turns
// on for ever.
#include "dynamics/tree/recursions.h"
#include "mechanism/linkage.h"

namespace rotule {

class LinkageTree {
 public:
  /// Bodies that never move stand as the state has them.
  LinkageTree(const Model& model, const State& s, const Linkage& linkage);

  /// Whether the joint is one of the tree.
  [[nodiscard]] bool holds(int joint) const;
  /// Rates.
  [[nodiscard]] int width() const { return tree_.velocities; }
  /// Whether bodies that it stands on are where they were.
  [[nodiscard]] bool stands(const State& s) const { return tree_.stands(s); }
  /// Whether joints are left outside.
  [[nodiscard]] bool has_outside() const { return !tree_.outside.empty(); }

  // What follows is for the pose and velocities of the state that was placed last; `place` in the linkage says which body is
  // meant.

  void place(const Model& model, const State& s);
  /// By how much the state opens joints of the tree: the largest of m, rad, and of m/s, rad/s.
  struct Opening {
    double position = 0, velocity = 0;
  };
  Opening opening(const Model& model, const State& s);

  /// The nearest velocities, in the metric of the masses, that joints allow, in the place of those of the model's bodies.
  void project(VecX& velocities);
  /// Forces on the model's bodies, for `joint_impulses`.
  void take_forces(const VecX& forces);
  /// The rate that an axis of a joint is, if it is one by itself; else -1.
  [[nodiscard]] int rate_of(int joint, int axis) const;
  /// From here to the next `place`, H + W is what `innovate` and `give_way` mean by H: W is a diagonal by rates, or empty for
  /// none.
  void weigh_axes(const VecX& weights);
  /// Rates (H + W)^-1 (tau + L^T impulses), whose velocities of bodies are written for all that the tree has.
  const VecX& give_way(const VecX& tau, std::span<const double> impulses, std::span<double> velocities);
  /// Adds what an impulse on a body leaves for the joints (ArticulatedBodies::innovate); false, and nothing done, where the
  /// tree does not have the body.
  bool innovate(int place, const Vec6& impulse, double* y, double* Dy) const;
  /// velocities += P impulses, six numbers per body of the linkage; particles are not the tree's.
  void respond(std::span<const double> impulses, std::span<double> velocities);
  [[nodiscard]] bool has(int place) const { return local_.link_of[static_cast<std::size_t>(place)] >= 0; }

  /// What joints of the tree exert over h seconds, velocities being those of the state at first, under the forces taken last and
  /// these impulses on bodies: for each joint, rising, its child, by place, and the impulse on that, at its centre of mass.
  struct Through {
    int joint, place;
    Vec6 impulse;
  };
  std::span<const Through> joint_impulses(std::span<const double> impulses, double h);

  /// Moves the state by a field of small motions that joints of the tree allow; velocities become the nearest ones to those given
  /// that joints allow there, with the same energy. Fields are laid out as velocities of the state. In two parts, for what the
  /// state has at first is asked for.
  void take(const Model& model, const State& s, const VecX& motion, const VecX& velocities);
  void move(State& s);

 private:
  /// H^-1 (L^T M v + spins of rotors), for v_ in the pose that the articulated bodies are of.
  void find_rates(const LinkPoses& poses, VecX& u);
  /// Of v_, less the motion of the whole where it floats.
  [[nodiscard]] double kinetic_energy(const LinkPoses& poses) const;
  void write_velocities(const LinkPoses& poses);
  /// Momenta that rotors have at these rates, into spins_.
  void take_spins(const VecX& u);
  [[nodiscard]] double rotor_energy(const VecX& u) const;

  Tree tree_, local_;  // bodies by their numbers; by their places in the linkage
  bool floats_ = true, geared_ = false;
  double mass_ = 0;
  VecX q_, u_, sigma_, q_next_, u_next_, forces_, udot_, response_udot_, response_;
  VecX v_, momentum_;  // of bodies, by place
  VecX spins_;         // momenta of rotors, by rates
  double energy_ = 0;  // of v_ and rotors where they were taken
  std::vector<double> summed_;
  LinkPoses poses_, poses_next_;
  LinkMotions motions_;
  ArticulatedBodies articulated_, weighed_;
  bool has_weights_ = false;
  std::vector<int> by_number_;  // joints of the tree
  std::vector<Through> through_;
  State again_;
};

/// The trees of a mechanism's linkages, one each.
std::vector<LinkageTree> find_trees(const Model& model, const State& s, std::span<const Linkage> linkages);

}  // namespace rotule
