#pragma once
// Rigid bodies under joints, as integrators want to see them (integrate/mechanism.h): forces and multipliers in, accelerations
// out; and the corrections of drift (A7).
#include <rotule/results.h>

#include <memory>
#include <optional>
#include <utility>

#include "base/gang.h"
#include "base/parallel.h"
#include "base/shares.h"
#include "base/stage_clock.h"
#include "constraint/formulation/formulations.h"
#include "constraint/tree_placement.h"
#include "dynamics/forces/force_set.h"
#include "dynamics/free_rotation.h"
#include "dynamics/kinematics.h"
#include "math/complex_vector.h"
#include "mechanism/attempt.h"
#include "mechanism/drive_laws.h"
#include "mechanism/island.h"

namespace rotule {

class ImplicitSystem;
class StageMinimiser;
struct StageMinimum;
struct StageSettings;

class JointedMechanism {
 public:
  using State = rotule::State;

  JointedMechanism(const Model& model, const Recipe& recipe);
  JointedMechanism(const JointedMechanism&) = delete;
  JointedMechanism& operator=(const JointedMechanism&) = delete;
  ~JointedMechanism();

  /// M u' = f + J^T lambda by the recipe's formulation and solver.
  void accelerations(double t, const State& s, VecX& udot);
  template <class Expression>
  void combine(VecX& out, const Expression& expression) const {
    share_numbers(gang_.get(), out, expression);
  }
  void displace(const State& base, const VecX& sigma, State& out) const { rotule::displace(base, sigma, out, gang_.get()); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { chart_rate(model.body_count(), sigma, u, out, gang_.get()); }
  void difference(const State& q, const State& base, VecX& sigma) const { rotule::difference(q, base, sigma); }

  /// All that acts but joints and the gyroscopic torque; kinematics are then those of the state. Valid until the next question.
  const VecX& applied_forces(double t, const State& s) {
    kinematics.update(model, s, t, gang_.get());
    sum_forces(t, s);
    return forces_;
  }

  /// While it lives, threads that help with large linkages are awake (A12); where there are none it does nothing.
  class Awake {
   public:
    explicit Awake(const JointedMechanism& mechanism) {
      if (mechanism.gang_) shift_.emplace(*mechanism.gang_);
    }

   private:
    std::optional<Gang::Shift> shift_;
  };

  /// How far any body is from the origin along any axis, m.
  [[nodiscard]] double furthest() const;
  /// Who they are; null where there are none.
  [[nodiscard]] Gang* helpers() const { return gang_.get(); }

  /// What is decided at the start of a step and kept through its stages: which redundant rows are set aside (redundant_rows.h;
  /// joints must be closed), and how hard stabilisation pulls.
  void begin_step(const State& s, double t);

  /// Drives of joints may have been changed since the last step: rows for those that are new.
  void look_at_drives();
  /// M^-1 times the forces, joints holding; rows must be those of the state that is meant.
  void respond(VecX& forces);

  /// Fills in the multipliers and residuals of this very state, and leaves no other trace: a query, not a step. At velocity
  /// level the step's own multipliers stay, and only the rows are evaluated anew.
  void refresh_forces(double t, const State& s);

  /// Velocities that forces alone would give after a step: where impulses start from. Kinematics are those of the state then.
  void free_velocities(const ImpulseFormulation& formulation, const State& s, double t, double h, VecX& free);

  /// The free rotation of a body over `step` seconds, energy and momentum kept.
  void glide(int body, Quat& theta, Vec3& omega, double step);

  // Books (integrate/mechanism.h): rates of work and momentum of the state whose accelerations were the last found, or of any
  // state; or of a step from it with these mean velocities.
  using Flow = rotule::Flow;
  [[nodiscard]] bool keeps_books() const { return books; }
  void flow(double t, const State& s, const VecX& udot, Flow& out) { flow_over(t, s, udot, s.u, out); }
  void flow_over(double t, const State& s, const VecX& udot, const VecX& u, Flow& out);
  void flow_anew(double t, const State& s, Flow& out);
  void book(const Flow& flow, double times) { now.flow.add(flow, times); }
  /// The momentum that shocks bring while this lives comes from what does not move.
  class Jump {
   public:
    Jump(JointedMechanism& mechanism, const State& s) : mechanism_(mechanism), s_(s) {
      if (mechanism.books) before_ = momentum_of(mechanism.model, s);
    }
    Jump(const Jump&) = delete;
    Jump& operator=(const Jump&) = delete;
    ~Jump() {
      if (mechanism_.books) mechanism_.book_jump(before_, s_);
    }

   private:
    JointedMechanism& mechanism_;
    const State& s_;
    MomentumRate before_{};
  };
  /// Questions asked while this lives leave no trace: neither in counts nor in where iterations start.
  class Untraced {
   public:
    explicit Untraced(JointedMechanism& mechanism)
        : mechanism_(mechanism),
          evaluations_(mechanism.evaluations),
          report_(mechanism.now.report),
          keep_(std::exchange(mechanism.keep_problems, false)),
          joints_(mechanism.now.joints) {}
    Untraced(const Untraced&) = delete;
    Untraced& operator=(const Untraced&) = delete;
    ~Untraced() {
      mechanism_.evaluations = evaluations_;
      mechanism_.now.report = report_;
      mechanism_.keep_problems = keep_;
      std::swap(mechanism_.now.joints, joints_);
    }

   private:
    JointedMechanism& mechanism_;
    std::int64_t evaluations_;
    StepReport report_;
    bool keep_;
    std::vector<JointAnswer> joints_;
  };
  /// The last found.
  [[nodiscard]] const VecX& last_accelerations() const { return last_accelerations_; }

  /// Whether nothing but weight and joints that know no time acts, so that energy cannot grow.
  [[nodiscard]] bool is_passive() const;
  /// For a step by impulses that gained energy: its stiffness will come from the forces of this very motion; or, where those were
  /// not enough either, from several times what the last attempt found.
  void stiffen(const State& s, double t, std::span<const JointAnswer> found);

  // Joints as coordinates in steps by impulses (reduced/linkage_tree.h): wanted or not; trees of this state, where there are none
  // yet, and the state closed where it opens their joints.
  void want_trees(bool wanted);
  [[nodiscard]] bool wants_trees() const { return wants_trees_; }
  /// Somebody else has changed the state.
  void unsettle_trees() { trees_settled_ = false; }
  void begin_trees(State& s, double t);
  /// Trees at the pose and velocities of the state.
  void place_trees(const State& s);
  /// Moves bodies by `motion`, joints of trees holding; velocities become those given, or the nearest ones that trees allow where
  /// they come to stand. The state's own velocities may be given.
  void move(const VecX& motion, const VecX& velocities, State& s);

  /// Closes positions, then velocities (A7 c, d); returns the Newton iterations.
  int project(const ProjectionSettings& settings, State& s, double t);
  /// A7 a, then d.
  void place(State& s, double t);
  /// Closes the joints in the way that the recipe says.
  void correct(State& s, double t);
  /// A7 d alone.
  void project_velocities(State& s, double t);

  // What RATTLE asks for (integrate/symplectic/rattle.h).
  void begin_drifts(const State& s, double t);
  void kick(State& s, double t, double step);
  void drift(State& s, double t, double step);
  void constrain_velocities(State& s, double t);

  /// From now on joints ask for J u + C_t = 0 at velocities u = u_0 + g u' in place of accelerations that fit (index 2 in place
  /// of 1), until `release_joints`: for stages of implicit methods, whose long steps turn J further than its derivative foresees.
  /// Formulations with an answer of their own to drift stay with it.
  void hold_joints(const VecX& u_0, double g);
  void release_joints() { held_g_ = 0; }

  /// Puts together what `solve_implicit` needs of this state: forces, rows, and the constraint forces that the last accelerations
  /// found (implicit_system.h).
  void linearise(double t, const State& s);
  /// (M - a D - b K) out = M r + J^T y with J out = J r, where linearised last.
  void solve_implicit(double a, double b, const VecX& r, VecX& out);

  /// The same in parts, for methods whose stages are solved together; `a` is about as large as those to come. The last
  /// accelerations must have been those of this state.
  void separate(double t, const State& s, double a);
  /// (M - a D - a^2 K) out = M r + J^T y with J out = J r, where separated last.
  void solve_separated(double a, const VecX& r, VecX& out);
  void solve_separated(std::complex<double> a, const VecXc& r, VecXc& out);

  /// Whether stages are minima (stage_minimiser.h), and the search for one.
  [[nodiscard]] bool minimises() const;
  StageMinimum minimise(double t, const State& base, const VecX& sigma_0, const VecX& u_0, double g,
                        const StageSettings& settings, State& stage, VecX& A);

  /// A7 d for one island of joints, once its rows are those of this state.
  void close_velocities(Island& island, State& s);

  /// Bodies, joints or forces of the model came or went: new numbers of those that were there (-1: it left), by old ones; empty
  /// where numbers stay. Linkages that are not concerned stay as they are. Throws Error where a joint does not fit the recipe.
  void model_changed(std::span<const int> body, std::span<const int> joint);
  /// Whether fluid couples other bodies than when linkages were last found.
  [[nodiscard]] bool coupled_otherwise() const { return coupled_ != model.added_mass.groups; }
  /// Drops what was made for the model's present shape when it was first asked for; the next question makes it anew.
  void forget_shape();

  /// Rows and masses of all islands at this state.
  void evaluate(const State& s, double t);

  const Model& model;
  const Recipe& recipe;
  std::vector<Linkage> linkages;
  std::vector<Island> islands;     // of joints alone, one per linkage
  std::vector<LinkageTree> trees;  // one per linkage, where joints are coordinates and steps are made by impulses
  DriveLaws drives;                // what acts on the joints' free axes
  Attempt now;                     // what the present step has come to
  Kinematics kinematics;
  VecX external;               // forces that a user set, laid out as u
  VecX contact_forces;         // of contacts by accelerations (touching/), likewise; empty without them
  double h = 0;                // the step being made: stabilisation terms are scaled with it
  bool books = false;          // whether work and impulses are counted
  bool keep_problems = false;  // whether islands keep a copy of what they solved
  std::int64_t evaluations = 0;
  double force_power = 0;    // W that kinematic bodies spend against forces, as of the last free velocities
  mutable StageClock clock;  // measuring changes nothing

 private:
  /// Large ones one after the other, each by all threads; then the others, each by one.
  template <class Work>
  void for_each_island(Work&& work) {
    for (const int i : large_) work(islands[i], linkages[i], now.joints[i]);
    const bool all = large_.empty();
    parallel_for(static_cast<int>(all ? islands.size() : small_.size()), recipe.threads, [&](int k) {
      const int i = all ? k : small_[k];
      work(islands[i], linkages[i], now.joints[i]);
    });
  }
  /// Which linkages are worth several threads by themselves, and who helps with them.
  void share_work();
  /// All that acts but joints and the gyroscopic torque, into forces_.
  void sum_forces(double t, const State& s);
  /// Overwrites forces with M^-1 times them; the kinematics must be those of the state.
  void divide_by_mass(VecX& forces) const;
  void divide_by_mass(const VecX& forces, VecX& out) const;
  void close_velocities(State& s);
  [[nodiscard]] bool by_impulses() const { return rotule::by_impulses(recipe.formulation); }
  void count_solves();

  /// Throws Error where solver or correction cannot do with loops that the model has.
  void look_at_loops();

  void make_rotors();
  /// A drift whose joints are closed by impulses along the rows of its start; false, and nothing done, where none do.
  bool drift_closed(State& s, double t, double step);
  /// One closed by projection, where nothing else does: the way to the joints becomes velocity.
  void drift_and_project(State& s, double t, double step);
  /// Every body from `from`, with the velocities of `s`, for `step` seconds without any force.
  void drift_freely(const State& from, State& s, double step) const;

  void book_jump(const MomentumRate& before, const State& s);
  void book_kick(const State& s, double t, double step);
  void book_drift();

  bool wants_trees_ = false, trees_settled_ = false;
  std::unique_ptr<Gang> gang_;             // where some linkage is large
  std::vector<int> large_, small_;         // linkages; none are listed where none is large
  std::vector<std::vector<int>> coupled_;  // by fluid, when linkages were found
  VecX forces_, sigma_;
  FlowScratch flow_scratch_;
  VecX mean_;          // velocities of a kick
  State struck_;       // the start of a drift, with the velocities that joints gave it
  State given_state_;  // the state with bodies of prescribed motion where they are at the time asked for
  ForceScratch force_scratch_;
  VecX last_accelerations_;
  VecX held_u_;  // of hold_joints; g is 0 where it is not in force
  double held_g_ = 0;
  std::unique_ptr<ImplicitSystem> implicit_;  // made when first asked for
  std::unique_ptr<StageMinimiser> minimiser_;
  std::vector<JointAnswer> answers_;  // put aside while a query solves
  std::vector<Placement> placements_;
  /// Of one island and drift: the rows at its start, and what the joints gave.
  struct Drift {
    ConstraintProblem problem;
    VecX impulse;
    VecX C_t;  // of its rows at the start
  };
  std::vector<Drift> drifts_;
  std::vector<FreeRotor> rotors_;
  State start_;
  std::unique_ptr<ImplicitSystem> separated_;  // of methods with coupled stages; made when first asked for
};

/// Throws where the state holds something that is not a number, with the body's name.
void require_finite(const Model& model, const State& s, Gang* gang = nullptr);

}  // namespace rotule
