#pragma once
// Bodies under joints that touch each other, as integrators want to see them while nothing changes about how they touch. With
// J_i the rows in force - normals of contacts that push, rows of friction that sticks -
//   M u' = f + J_j^T lambda + sum B_i x_i,   J_i u' + gamma_i = 0,
// where B is J^T, and for a normal whose friction slips J_n^T - mu J_t^T t, t the direction of slip: Coulomb's law makes the
// system unsymmetric. It is solved densely, by least norm where more points touch than are needed. Which rows are in force is
// decided where a stretch of smooth motion begins (touch_modes.cpp) and kept until an event (touch_events.cpp):
//   a gap closes     impulses, Newton's restitution (touch_impacts.cpp)
//   N = 0            the contact opens
//   |x_t| = mu N     what stuck slips
//   w_t = 0          what slipped stops: it sticks, or slips the other way
#include "constraint/formulation/contact_formulation.h"
#include "mechanism/course.h"
#include "mechanism/touching/touch.h"

namespace rotule {

class TouchingMechanism {
 public:
  using State = rotule::State;

  /// Throws Error where the model has what this cannot do: soft contacts, walls, drives of joints that switch.
  explicit TouchingMechanism(JointedMechanism& mechanism);

  // What integrators ask for (integrate/mechanism.h).
  void accelerations(double t, const State& s, VecX& udot);
  void displace(const State& base, const VecX& sigma, State& out) const { mechanism_.displace(base, sigma, out); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { mechanism_.rate(sigma, u, out); }
  void difference(const State& q, const State& base, VecX& sigma) const { mechanism_.difference(q, base, sigma); }

  // Books: those of the mechanism, and what friction takes.
  using Flow = JointedMechanism::Flow;
  [[nodiscard]] bool keeps_books() const { return mechanism_.keeps_books(); }
  void flow(double t, const State& s, const VecX& udot, Flow& out);
  void flow_anew(double t, const State& s, Flow& out);
  void book(const Flow& flow, double times) { mechanism_.book(flow, times); }

  // What error control asks for (integrate/adaptive/adaptive.h).
  void set_course(Course* course) { course_ = course; }
  void begin_inner_step(const State& s, double t) { course_->begin_inner_step(s, t); }
  void reject_trial() { course_->reject_trial(); }
  void error_scale(const State& s, const VecX& acceleration, double t, Pace& pace) {
    course_->error_scale(s, acceleration, t, pace);
  }
  [[nodiscard]] double error_norm(const VecX& sigma, const VecX& u) const { return course_->error_norm(sigma, u); }
  [[nodiscard]] double longest_step(const State& s) const { return course_->longest_step(s); }
  void unconverged_step() { course_->unconverged_step(); }
  /// Joints closed, then gaps and velocities of the rows in force, as the recipe's correction says.
  void settle(State& s, double t);
  /// Velocities of the rows in force alone: what has just stopped stands still from here on.
  void close_velocities(State& s, double t);

  /// What touches at this state, and which rows are in force from here on. `ahead`: how long the stretch may last, s.
  void decide(const State& s, double t, double ahead);
  /// Impulses wherever surfaces that touch still approach each other. Whether there were any.
  bool strike(State& s, double t, bool bounce);

  /// What would change the rows in force: below zero where something has. `h` turns rates into lengths.
  enum class Cause : std::uint8_t { none, gap, force, slip };
  struct Event {
    double value = infinity;
    Cause cause = Cause::none;
    int touch = -1, group = -1;
  };
  Event event(const State& s, double t, double h);
  /// How fast the friction that caused an event slips at the state of the last evaluation, and whether that counts as at rest.
  [[nodiscard]] double slip_speed(const Event& event) const;
  [[nodiscard]] bool at_rest(double speed) const { return speed <= negligible_speed_; }

  /// Into how many pieces a stretch is to be cut so that no gap closes and opens again unseen, as far as speeds tell.
  [[nodiscard]] int pieces(const State& s, double h) const;

  /// The fastest that a point of contact has run over its bodies, rad/s or bodies' sizes per second, since this was set to zero.
  double fastest_rate = 0;

  /// Forces of the contacts at this state, and the contacts of `into` that they belong to.
  void finish(const State& s, double t, std::vector<Contact>& into);

  // Bodies and joints that come and go.
  void shapes_changed();

  [[nodiscard]] std::span<const Touch> touches() const { return touches_; }
  [[nodiscard]] JointedMechanism& jointed() { return mechanism_; }
  double standing_share = 1e-9;  // speeds that count as none, of the fastest
  double struck_energy = 0;      // J taken out by impacts of this step

 private:
  /// A row in force: of a touch, and whether the normal's.
  struct RowInForce {
    int touch, row;
  };
  void find(const State& s, double margin, std::vector<Touch>& out, double ahead = 0);
  /// Rows, velocities and, for accelerations, gamma of all touches; kinematics must be those of the state.
  void evaluate_touches(bool with_gamma);
  void add_force(const Touch& touch, const Vec6& x, VecX& forces) const;
  [[nodiscard]] double along(const Touch& touch, int row, const VecX& u) const;
  /// Columns of responses to the rows in force; where `slipping`, with the friction that comes with their normals.
  void respond_to_rows(bool slipping);
  /// x with J_i (sum x_k response_k) = rhs_i, of least norm.
  void solve_rows();
  void list_rows(bool sticking);
  /// Forces of the rows in force, with udot the accelerations without contacts; adds what they do.
  void solve_forces(VecX& udot);
  /// Largest violations of what the modes assume; false where the rows in force do not fit.
  bool drop_what_pulls();
  void solve_complementarity(const VecX& udot);
  /// w = A x - b over all rows of the touches given, as a problem for the solvers.
  void make_problem(std::span<Touch*> touches, bool undecided_only);
  void solve_problem(double tolerance);
  bool apply_impacts(State& s, std::vector<Touch*>& closing, bool bounce);

  JointedMechanism& mechanism_;
  Course* course_ = nullptr;
  ContactRules rules_;
  CollisionWorld world_;
  std::vector<int> proxy_of_, body_of_;
  std::vector<double> reach_;
  std::vector<Manifold> manifolds_;
  std::vector<Touch> touches_, found_;
  std::vector<Touch*> chosen_;

  // Scales of the present stretch of motion.
  double acceleration_scale_ = 1, speed_scale_ = 1, negligible_speed_ = 0, margin_ = 0;

  std::vector<RowInForce> rows_;
  std::vector<VecX> responses_;
  MatX matrix_;
  VecX rhs_, answer_, unit_, scratch_, free_;
  ConstraintProblem problem_;
  Workspace workspace_;
  SolveReport report_;
};

}  // namespace rotule
