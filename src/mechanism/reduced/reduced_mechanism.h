#pragma once
// The same mechanism in reduced coordinates (A15), as integrators want to see it: q, what the joints of its trees leave free, and
// rates u. Forces are summed over bodies as ever; articulated bodies turn them into accelerations, in time proportional to the
// number of links:
//   H u' + b = tau + G^T x,   G u' + gamma = 0.
// Rows G are those of joints outside the trees (loops, rods, gears, functions) and of axes that drives hold. Their problem
//   A = G H^-1 G^T
// is a ConstraintProblem with that matrix, column by column from the same factor. Rows that follow from others are set aside
// where a step begins, by elimination with pivoting, and stay so through its stages.
// Particles go along with their own coordinates.
#include "dynamics/tree/recursions.h"
#include "mechanism/jointed_mechanism.h"
#include "mechanism/reduced/dependent_rows.h"

namespace rotule {

/// Particles stand behind the joints in u.
struct ReducedState {
  VecX q;
  VecX x;  // particles
  VecX u;
};

/// Throws Error where the model has what trees do not know, with a remedy. Steps by impulses know of kinematic bodies.
void require_trees(const Model& model, bool by_impulses = false);
/// The same as a reason; empty where there is none.
std::string misfit_of_trees(const Model& model, bool by_impulses);

class ReducedMechanism {
 public:
  using State = ReducedState;
  using Flow = rotule::Flow;

  /// Trees stand on bodies that never move, as the first state has them. Throws Error where the model has what trees do not know.
  explicit ReducedMechanism(JointedMechanism& mechanism);

  // What integrators ask for.
  void accelerations(double t, const State& r, VecX& udot);
  void displace(const State& base, const VecX& sigma, State& out) const;
  void rate(const VecX& sigma, const VecX& u, VecX& out) const;
  void difference(const State& r, const State& base, VecX& sigma) const;
  [[nodiscard]] bool keeps_books() const { return bodies_.keeps_books(); }
  void flow(double t, const State& r, const VecX& udot, Flow& out);
  void flow_anew(double t, const State& r, Flow& out);
  void book(const Flow& flow, double times) { bodies_.book(flow, times); }

  /// The trees of the model as it is now.
  void find_trees(const rotule::State& s);
  [[nodiscard]] bool known(const rotule::State& s) const { return known_ && tree_.stands(s); }
  void forget_trees() { known_ = false; }
  /// Whether rows outside the trees, or held axes, are in force.
  [[nodiscard]] bool has_rows() const;
  /// What is kept through the stages of a step: which rows are redundant.
  void begin_step(const State& r, double t);

  /// Coordinates of a state; what opens joints of trees is lost.
  void read(const rotule::State& s, State& r) const;
  /// And back: poses and velocities of all bodies, those that never move left alone.
  void write(const State& r, rotule::State& s);
  /// By how much reading and writing would change the state: the largest of m, rad, and of m/s, rad/s.
  struct Opening {
    double position = 0, velocity = 0;
  };
  Opening opening(const rotule::State& s);
  /// Of links, as written last.
  [[nodiscard]] const LinkPoses& poses() const { return poses_; }
  /// Velocities of bodies and particles for rates, links standing there.
  void lift(const VecX& u, const LinkPoses& poses, VecX& out);
  /// Accelerations of bodies and particles, as found last.
  [[nodiscard]] const VecX& body_accelerations() const { return body_udot_; }

  JointedMechanism& mechanism() { return bodies_; }

 private:
  /// A row in force.
  struct Row {
    int island = 0, block = 0, row = 0;
  };
  void find_rows();
  void evaluate_rows(double t);
  /// The matrix of rows_.
  void respond(MatX& A);
  void push(const Row& row, double times, VecX& forces) const;
  [[nodiscard]] double along(const Row& row, const VecX& udot);
  /// Free accelerations under these forces on bodies, and body_udot_.
  void free_accelerations(const VecX& forces, const double* u, VecX& udot, VecX& body_udot);

  JointedMechanism& bodies_;
  Tree tree_;
  bool known_ = false;
  std::vector<char> outside_;  // per joint
  rotule::State s_, again_;
  State read_;
  LinkPoses poses_;
  LinkMotions motions_, lifted_;
  ArticulatedBodies articulated_;
  VecX forces_, body_udot_, response_, response_udot_, none_;
  std::vector<Row> all_, rows_;  // in force; of those, that are not set aside
  DependentRows dependent_;
  MatX A_, elimination_;
  ConstraintProblem problem_;
  VecX x_, free_;
  Workspace workspace_;
  SolveReport report_;
};

}  // namespace rotule
