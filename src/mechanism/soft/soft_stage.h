#pragma once
// A step of particles that touch, as a minimum. With U the velocities at its end, U* those that weight and loads alone give, and
// V the potential of springs and elements, a step of implicit Euler is where
//   E(U) = 1/2 |U - U*|^2_M + V(x + h U)
// is least, under w_n >= 0 for all contacts, w = J U + (gap/h, 0, 0). Impulses x come as multipliers (augmented Lagrangian; M. R.
// Hestenes, M. J. D. Powell 1969; with friction P. Alart, A. Curnier 1991): E + sum |P(x - rho w)|^2 / (2 rho) is minimised, P
// the projection on the cylinder x_n >= 0, |x_t| <= mu x_n with the radius held; then x becomes P(x - rho w), until it no longer
// changes: what the judge of contact problems asks, x = P_cone(x - rho w) (problem/judge.h). Bodies that particles touch, or that
// springs tie to them, take part with their inertia.
//
// Newton's method with a line search, as for stages without contact (mechanism/stage_minimiser.h): exact second derivatives by
// conjugate gradients that end where E does not curve upwards, preconditioned by a factor of the positive matrix, which has the
// contacts in it. Nothing is kept from step to step.
#include <rotule/recipe.h>
#include <rotule/results.h>

#include <span>
#include <vector>

#include "dynamics/forces/force_set.h"
#include "linalg/truncated_gradients.h"
#include "mechanism/soft/soft_contact.h"

namespace rotule {

class SoftStage {
 public:
  SoftStage(const Model& model, const Recipe& recipe);

  struct Report {
    bool converged = true;
    double residual = 0;  // of impulses, relative to the largest; and of forces
    int newton_iterations = 0;
  };

  /// From `start` at t, over h. `free`: velocities that bodies would have without particles, laid out as u; U: in, of particles a
  /// guess; out, of all particles, and of the bodies that take part. `push`: the impulses on bodies, laid out as u.
  Report solve(double t, const State& start, double h, const VecX& external, const VecX& free, std::span<SoftContact> contacts,
               VecX& U, VecX& push, StepReport& report);

  /// The forces of springs that tie particles to bodies that move, on those bodies; laid out as u.
  void add_ties(const State& s, VecX& f) const;

 private:
  /// A place on the way.
  struct Point {
    VecX U, f, loss;  // forces on particles and of ties on bodies; loss: of those, what has no potential
    double energy = 0, size = 0;
  };
  void choose_places(std::span<const SoftContact> contacts);
  void find_pattern(std::span<const SoftContact> contacts);
  void choose_penalties(std::span<const SoftContact> contacts);
  void evaluate(Point& at, std::span<const SoftContact> contacts);
  void assemble(bool positive, std::span<const SoftContact> contacts, Block3Matrix& S);
  void residual(const Point& at, std::span<const SoftContact> contacts, VecX& r) const;
  [[nodiscard]] double change(const Point& a, const Point& b) const;
  bool go_down(std::span<const SoftContact> contacts, bool curved, double& part);
  /// w of a contact, along its frame.
  [[nodiscard]] Vec3 velocity(const SoftContact& c, const VecX& U) const;
  /// What it would exert there, x - rho w on the cylinder.
  [[nodiscard]] Vec3 exerted(const SoftContact& c, std::size_t number, const Vec3& w, double radius) const;
  [[nodiscard]] Mat3 curvature(const SoftContact& c, std::size_t number, const Vec3& w, double radius) const;
  void hold_radii(const Point& at, std::span<const SoftContact> contacts);
  template <class Visit>
  void visit_sides(const SoftContact& c, const Visit& visit) const;
  void place_state(const VecX& U);
  [[nodiscard]] bool direct() const;

  const Model& model_;
  const Recipe& recipe_;
  std::vector<SpringForce> ties_;
  bool lossy_ = false;
  std::vector<std::array<int, 2>> own_pairs_;  // that forces couple, in triples of u
  std::vector<std::array<int, 2>> pairs_, known_pairs_;
  std::vector<int> place_;         // of each triple of u among those that are solved for, or -1
  std::vector<int> triple_;        // and back
  std::vector<int> known_triple_;  // of the pattern at hand
  Block3Matrix H_, P_;
  TruncatedGradients gradients_;
  std::vector<RankOne> ranks_;  // of gases, beside H

  // The step at work.
  State now_, still_state_;
  State const* start_ = nullptr;
  double t_ = 0, h_ = 0;
  std::vector<Mat3> mass_;  // of each triple that is solved for
  VecX free_, dead_, still_;
  std::vector<double> rho_, radius_, stiffness_;
  std::vector<Vec3> used_;  // impulses in the balance of the last point
  Point here_, there_, further_;
  VecX r_, local_r_, local_d_, d_;
};

}  // namespace rotule
