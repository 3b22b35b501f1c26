#pragma once
// The reference path: integrator x formulation x solver, all double. It is one of those behind Stepper (step/stepper.h).
#include <cstdint>
#include <memory>
#include <variant>

#include "integrate/adaptive/adaptive.h"
#include "integrate/adaptive/tableau_5.h"
#include "integrate/adaptive/tableau_8.h"
#include "integrate/methods.h"
#include "integrate/symplectic/rattle.h"
#include "mechanism/course.h"
#include "mechanism/driven_motion.h"
#include "mechanism/shock.h"
#include "step/checks.h"
#include "step/contact_finder.h"
#include "step/ledger.h"
#include "step/reference/close_positions.h"
#include "step/reference/impacts.h"
#include "step/reference/impulses.h"

namespace rotule {

class ReducedMotion;
class SoftMotion;
class TouchingMotion;

/// Every method, those included that want more of a mechanism than accelerations: error control, and RATTLE.
using ReferenceMethod = WithMore<AnyIntegrator<JointedMechanism>, Adaptive<Course, DormandPrince5>,
                                 Adaptive<Course, DormandPrince8>, Adaptive<Course, Radau5>, Rattle<JointedMechanism>>;

class ReferenceStepper {
 public:
  /// Throws Error where the recipe does not fit what the model has.
  ReferenceStepper(const Model& model, const Recipe& recipe);
  ReferenceStepper(const ReferenceStepper&) = delete;
  ReferenceStepper& operator=(const ReferenceStepper&) = delete;
  ~ReferenceStepper();

  /// Moves the state from t to t + h. Throws Error, naming the body, where a number is no longer finite.
  const StepReport& step(State& s, double t, double h);

  /// What is decided once for a state that somebody else made: before the first step, and after joints were closed by hand.
  void begin(const State& s, double t) { mechanism.begin_step(s, t); }
  /// Forgets what a method remembers of its past: whoever changes the state by hand says so here.
  void forget();
  void body_changed(int) { forget(); }
  /// Drops what a step that was broken off may have left half done: memory of solvers, and what is made when first asked for.
  void drop_work();

  // The model's last body or joint is new; one that had this number is no longer there (the body had no joints left); forces
  // came or went. All that has nothing to do with it stays as it is, warm starts included.
  void body_added();
  void joint_added();
  void body_removed(int body);
  void joint_removed(int number, const Joint& joint);
  void forces_changed();
  void drives_changed();
  /// What a method remembers of past accelerations is of another torque; steps by impulses remember none.
  void motors_told() {
    if (!by_impulses()) forget();
  }

  // By hand, joints holding.
  void strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at);
  double shock(State& s, double t, const ShockPoint& point);
  int project(const ProjectionSettings& settings, State& s, double t);

  void set_external(const VecX& external) { mechanism.external = external; }
  /// Accelerations of another force are no memory of this one.
  void force_changed(int, const VecX& external) {
    set_external(external);
    forget();
  }
  /// From this state on, unless they are open already.
  void keep_books(bool keep, const State& s, double t);
  /// Steps inside of methods with error control, written down to be made again; null: no longer.
  void keep_plan(StepPlan* plan);
  void keep_problems(bool keep) { mechanism.keep_problems = keep; }
  void carry_on(const StepTotals& so_far, std::int64_t evaluations) {
    totals = so_far;
    mechanism.evaluations = evaluations;
  }

  // What can be asked.
  [[nodiscard]] const StepReport& report() const { return mechanism.now.report; }
  [[nodiscard]] StageClock& clock() const { return mechanism.clock; }
  [[nodiscard]] std::int64_t evaluations() const { return mechanism.evaluations; }
  [[nodiscard]] static bool interruptible() { return true; }
  [[nodiscard]] std::string_view coordinates() const;
  Diagnostics diagnose(const State& s, double t, double h);
  /// Of the last diagnose.
  [[nodiscard]] JointError joint_error(int joint) const { return ledger.error(mechanism, joint); }
  JointForce joint_force(const State& s, double t, int joint);
  [[nodiscard]] JointForce last_joint_force(int joint) const;
  std::vector<std::pair<int, int>> redundant(const State& s, double t);
  /// Where bodies touch now, with the last step's impulses; `per_second` turns those into forces.
  std::span<const Contact> contacts(const State& s, double h);
  [[nodiscard]] double per_second() const { return last_h_ > 0 ? 1 / last_h_ : 0; }
  /// Blows of the last step, in impulses.
  [[nodiscard]] std::span<const Struck> struck() const { return mechanism.now.struck; }
  /// The joint's free axes, with what its drives exerted in the last step.
  [[nodiscard]] JointMotion joint_motion(const State& s, int joint) const;
  /// Of all bodies and particles, laid out as u: solved for at this state, or, at velocity level, the mean of the last step.
  const VecX& accelerations(const State& s, double t);
  [[nodiscard]] const TouchLog& touches() const { return touches_; }
  [[nodiscard]] bool touching(int a, int b) const { return touches_.touching(a, b); }
  /// Those of the last step; before the first, joints alone make islands.
  [[nodiscard]] std::span<const Island> islands() const;

  template <class Archive>
  void archive(Archive& io);

  JointedMechanism mechanism;
  ShockSolver shocks;
  ContactFinder finder;
  Ledger ledger;
  StepTotals totals;
  ReferenceMethod method;

 private:
  [[nodiscard]] bool by_impulses() const { return impulses_.has_value(); }
  /// Of a step by impulses: from its start, or from a blow that has its own time, to the next such blow or to its end.
  struct Part {
    Part(double t_, double h_) : begun(t_), whole(h_) {}
    [[nodiscard]] bool last_attempt() const { return !repeatable || tries == most_attempts; }
    /// What is left of the step becomes the next part.
    void end() {
      done = h < left ? done + h : whole;
      t = begun + done;
      left = whole - done;
      ++blows;
      tries = 1;
      failed = false;
    }

    static constexpr int most_attempts = 4;
    double begun, whole, done = 0;   // s: the step, and how much of it was made
    double t = begun, left = whole;  // where the part begins, and what is left there
    double h = 0;                    // how far it goes
    double blow = 0;                 // when it met the first blow within; h: none
    bool may_stop = false;           // there
    bool repeatable = false;         // whether attempts are looked at and made again
    bool failed = false;             // the last of them, altogether
    int blows = 0;                   // of the step, so far
    int tries = 1, round = 1;        // of attempts; of solutions, each with who is met on the way
    StepAudit audit;
  };

  // The lines of `step`, in their order.
  void open_step(const State& s, double t, double h);
  void begin_parts(double t, double h);
  /// Who touches at the part's start, and the blows of those that do; the value to which attempts go back.
  void collide(Part& part);
  /// What forces alone would give; how drives and contacts stand to that.
  void write_rows(Part& part);
  void look_at_contacts(double h);
  void find_islands();
  /// Each by itself, on all threads: act(ImpulseStep, number).
  template <class Do>
  void for_each_island(const Part& part, const Do& act);
  /// An island's answer, into first_ and after_; then what bounces makes of it, into after_.
  void keep(const ImpulseStep& step, int i);
  void keep_bounce(const ImpulseStep& step, int i, std::optional<double> bounced);
  /// Particles that touch have their turn (soft.cpp). Whether they gave bodies something new.
  bool exchange(const Part& part);
  /// Who is met on the way: up to the first blow, if it is to have its own time; what meets besides, in the pose in which it
  /// does. Whether there are contacts to solve for that were not there.
  bool meet(Part& part);
  void move(const Part& part);
  /// Joints and overlaps closed as the recipe says.
  void close(const Part& part);
  /// Takes an attempt back that ran into a blow, or that gained energy, left joints open or failed. Whether it did.
  bool again(Part& part);
  void end_part(Part& part);
  /// The contacts of the step's end.
  void end_parts(double t, double h);
  /// Walls, the ledger, the report.
  void close_step(State& s, double t);

  /// What the islands reached, and the work that was put in, into the report.
  void count_islands(double h);
  void look_for_soft();
  void begin_soft(double h);
  void add_push(VecX& u) const;
  void count_soft(StepReport& report) const;
  void book_soft();
  /// How far bodies go with that, and along which paths: move_ and passages_.
  void plan(double h);
  /// After the move: a body that turns on with the same angular velocity has another energy than before, since its axes have
  /// turned. The gyroscopic torque makes up for that to first order; what is gained beyond it is taken out.
  void hold_spin(State& s) const;
  /// When the first of the meetings is that bounces; h where none is.
  [[nodiscard]] double first_blow(double h) const;
  /// Contacts for those of the meetings that come first for their bodies.
  void add_meetings();
  /// Bounces of contacts that touch and close.
  void strike_contacts(double t);
  void step_by_method(State& s, double t, double h);
  /// A given motion that begins elsewhere than the state is followed from here on: the mechanism is brought onto it.
  void catch_up(State& s, double t);
  /// The same where bodies touch.
  void step_with_touching(State& s, double t, double h);
  /// Whether joints are integrated in place of bodies, as the recipe says and the model allows. Throws Error where it must and
  /// cannot.
  void look_at_coordinates();
  [[nodiscard]] bool joints_are_closed() const;  // whether the recipe says so at all
  /// Work and impulses of the step by impulses that is about to be made, bodies being where it starts.
  void book_impulses(double t, double h);
  void book_rows(const Island& island, double share, double h);
  /// What contacts gave in this part of the step beyond what they hold: bounces within it; all of it.
  void keep_bounces();
  void keep_contacts();
  /// The contacts of the step's end; where new ones overlap, which nobody could see ahead, those are taken apart too.
  void look_at_end(State& s, double t, double h);
  void bounce_off_walls(State& s, double t);
  void look_for_bounces();
  /// Who touches at the end of the step.
  void log_touches();
  /// What kinematic bodies and belts make of contacts, as the state has them.
  void refresh_given();
  [[nodiscard]] IslandParts parts();

  std::optional<ImpulseFormulation> impulses_;  // of the recipe, where steps are made by impulses
  std::unique_ptr<TouchingMotion> touching_;    // where contacts go by accelerations
  std::unique_ptr<ReducedMotion> reduced_;      // where joints are integrated
  std::unique_ptr<SoftMotion> soft_;            // where particles touch
  ContactRules rules_;
  bool cone_;
  std::vector<Island> islands_, late_, bouncing_;  // of the step; of overlaps found at its end; with the problems of bounces
  int island_count_ = 0;
  IslandSearch search_, late_search_;
  PositionClosing closing_;
  VecX before_, free_, first_, after_;  // velocities: at the start; that nothing holds; of the first solution; after bounces
  VecX move_;
  // Particles that touch: velocities of bodies that these leave alone; what islands add; what particles are told of bodies; their
  // answer; impulses of particles on bodies.
  VecX alone_, held_, given_, soft_u_, push_;
  StepReport soft_report_;
  int exchanges_ = 0;          // between bodies and particles, for the present contacts
  std::vector<char> touched_;  // bodies on which an impulse acts; contacts that touch
  std::vector<Passage> passages_;
  std::vector<Meeting> meetings_;
  std::vector<double> met_;  // per body, when it first meets another
  Impacts impacts_;
  bool bouncy_;  // whether anything may bounce
  Attempt start_;
  std::vector<JointAnswer> found_;                               // of an attempt that was not good enough
  std::int64_t exhausted_rows_ = 0;                              // of the step's solves that spent all of their work
  std::vector<double> bounce_shares_;                            // per island, of bouncing_ in the velocities
  VecX start_u_;                                                 // velocities at the start of a step by impulses
  VecX mean_, rate_, mean_local_, after_local_, accelerations_;  // for the books
  double last_h_ = 0;                                            // of the last step: over which contacts gave their impulses
  double part_h_ = 0;                                            // of its last part: over which drives gave theirs
  double end_ = 0;                                               // of the step, s
  TouchLog touches_;
  std::vector<TouchPair> touching_now_;
  std::vector<ShockPoint> points_;
  DrivenMotion driven_;
};

}  // namespace rotule
