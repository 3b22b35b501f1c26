#pragma once
// The real-time path: fixed stages, few options, all numbers. A step of h is made of n substeps of h/n (docs/realtime.md):
//
//   collide                      once, what has moved; contacts keep their slots and impulses
//   prepare                      rows, and the last step's impulses given to the bodies
//   n times  v <- v + h/n M^-1 f  and the impulses of the last substep
//            particles                springs, elements, what they touch (soft/soft_solids.h)
//            push                one sweep; overlaps are springs, solved implicitly
//            hold                joints and their drives, each articulated group at once (articulations.h)
//            q <- q + h/n v
//            relax               one sweep without springs, with friction: overlaps leave no speed behind
//   bounce                       what arrived fast enough
//   hold back, guard             nothing passes what is fixed; nothing gains energy that nobody gave it
//   finish                       into the state
//
// (E. Catto, "Solver2D", 2024, whose soft step this is; M. Macklin et al., "Small steps in physics simulation", 2019.)
#include <rotule/recipe.h>
#include <rotule/results.h>

#include <memory>
#include <utility>

#include "base/stage_clock.h"
#include "base/union_find.h"
#include "constraint/formulation/contact_formulation.h"
#include "dynamics/forces/force_set.h"
#include "mechanism/island.h"
#include "mechanism/shock.h"
#include "step/ledger.h"
#include "step/realtime/spinning.h"
#include "step/realtime/touches.h"
#include "step/realtime/weighing.h"
#include "step/touch_log.h"

namespace rotule {

namespace realtime {
class Articulations;
struct Records;
class SoftSolids;
}  // namespace realtime
struct StepPlan;

class RealtimeStepper {
 public:
  /// Throws Error where the model has something that it does not know.
  RealtimeStepper(const Model& model, const Recipe& recipe);
  RealtimeStepper(const RealtimeStepper&) = delete;
  RealtimeStepper& operator=(const RealtimeStepper&) = delete;
  ~RealtimeStepper();

  /// Moves the state from t to t + h. Throws Error, naming the body, where a number is no longer finite.
  const StepReport& step(State& s, double t, double h);
  /// A step is never broken off halfway: it listens once, before it begins.
  [[nodiscard]] static bool interruptible() { return false; }
  [[nodiscard]] static std::string_view coordinates() { return MaximalCoordinatesSettings::name; }

  void begin(const State&, double) {
    loaded_ = false;
    anew_ = true;
  }
  void forget() {
    loaded_ = found_ = false;
    anew_ = true;
  }
  /// One body alone has another place or velocity; or, in the second, other forces on it.
  void body_changed(int body) {
    changed_.push_back(body);
    found_ = false;
  }
  void force_changed(int body, const VecX& external);
  /// How many bodies sleep.
  [[nodiscard]] int asleep() const { return touches_.sleepers.count(); }
  void drop_work() { forget(); }
  void body_added();
  void body_removed(int body);
  void joint_added();
  void joint_removed(int number, const Joint& joint);
  void forces_changed();
  void drives_changed();
  void motors_told();

  void strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at);
  double shock(State& s, double t, const ShockPoint& point);
  /// The reference's own: a mechanism is made for it and goes again.
  int project(const ProjectionSettings& settings, State& s, double t);

  void set_external(const VecX& external) {
    forced_ = external.size() > 0 && !external.isZero(0);
    if (forced_)
      external_ = external;
    else
      external_.resize(0);
    pushed_ = true;
  }
  /// All steps are of the same make: there is nothing to write down.
  void keep_plan(StepPlan*) {}
  void keep_problems(bool keep);
  void carry_on(const StepTotals& so_far, std::int64_t evaluations) {
    totals = so_far;
    evaluations_ = evaluations;
  }

  [[nodiscard]] const StepReport& report() const { return report_; }
  [[nodiscard]] StageClock& clock() const { return clock_; }
  /// The threads that share its stages.
  [[nodiscard]] Gang& gang() { return stages_.gang; }
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }
  Diagnostics diagnose(const State& s, double t, double h);
  /// As of the last state diagnosed.
  [[nodiscard]] JointError joint_error(int joint) const;
  [[nodiscard]] JointForce last_joint_force(int joint) const;
  JointForce joint_force(const State&, double, int joint) { return last_joint_force(joint); }
  std::vector<std::pair<int, int>> redundant(const State& s, double t);
  /// Where bodies touch, with the last step's impulses.
  std::span<const Contact> contacts(const State& s, double h);
  [[nodiscard]] double per_second() const { return last_h_ > 0 ? 1 / last_h_ : 0; }
  /// Of the last step, where problems are kept.
  [[nodiscard]] std::span<const Island> islands() const;
  /// Blows within a step are not told apart.
  [[nodiscard]] static std::span<const Struck> struck() { return {}; }
  [[nodiscard]] JointMotion joint_motion(const State& s, int joint) const;
  [[nodiscard]] const TouchLog& touches() const;
  [[nodiscard]] bool touching(int a, int b) const;
  void keep_books(bool keep, const State& s, double t);
  /// The mean ones of the last step.
  const VecX& accelerations(const State& s, double);

  template <class Archive>
  void archive(Archive& io);

  StepTotals totals;

 private:
  void load(const State& s);
  /// Contacts for a step of h.
  void find(const State& s, double h);
  /// work(body) for all that move and are awake, on several threads.
  template <class Work>
  void for_each_awake(const Work& work) {
    stages_.over_rows(bodies_.rows, [&](std::span<const int> rows) {
      for (const int row : rows)
        for (int line = row * realtime::row_lanes; line < (row + 1) * realtime::row_lanes; ++line)
          if (bodies_.moves(line)) work(realtime::body_of(line));
    });
  }
  void note_velocities(const State& s);
  /// Stops bodies that went further than they are thick where they met what does not move (continuous.cpp).
  void hold_back(const State& s, double h);
  /// Slows what hangs together, and has gained more energy of motion than forces gave it on its way (guarding.cpp).
  void keep_energy(const State& s, const VecX& forces, double h);
  /// What it meets on its way in this step.
  [[nodiscard]] realtime::Touches::Meeting first_meeting(int line, const State& s, double h) const;
  [[nodiscard]] Vec3 swerve_of(int line, const State& s, double h) const;
  /// Inertias for a step of h (kernels.h).
  void bear_loads(double h);
  /// What forces add to velocities in one substep; those besides weight, laid out as u, or none.
  const VecX& gather_forces(const State& s, double t, double h);
  /// Who has begun to touch whom, and who has ceased to.
  void log_touches(const State& s);
  /// Whether what sensors tell has changed.
  bool look_at_sensors(const State& s);
  /// Kinematic bodies: with the velocities that bring them to where their motion says by the end of a step; and there.
  void lead(State& s, double t, double h);
  void arrive(State& s, double t, double h);
  [[noreturn]] void report_wild();

  // The books (balance.cpp).
  double energy_of(const State& s, double t);
  /// u of a line's body, of whitened velocities with its inertia as it is.
  [[nodiscard]] Vec6 velocity_of(int line, const float* w) const;
  void open_step(const State& s, double t);
  void book_part();
  void book_bounces();
  void book_forces(const State& s, double t, double h);
  void close_step(const State& s, double t);

  // Sleeping (sleeping.cpp).
  void list_rows();
  /// Of the lines of these, each once.
  std::span<const int> rows_of(std::span<const int> bodies);
  void wake_all();
  void wake_partners(const Joint& joint);
  /// Who was moved, is pushed, or lies on what was moved.
  void wake_changed(const State& s);
  /// Joints, pairs and lines of those who woke since the last time.
  void take_in_woken(const State& s);
  void take_in_woken_pairs();
  /// Those who have lain still for long enough.
  void fall_asleep(State& s, double h);
  /// Numbers of awake bodies that hang together, in sets by their root.
  void find_islands();

  const Model& model_;
  const Recipe& recipe_;
  RealtimeStepperSettings settings_;
  ContactRules rules_;
  realtime::Stages stages_;
  realtime::BodyLines bodies_;
  realtime::Touches touches_;
  realtime::Weighing weighing_;
  realtime::Spins spins_;
  bool loaded_ = false;       // whether the lines are those of the state
  bool found_ = false;        // whether contacts were looked for since somebody changed it
  bool anew_ = true;          // whether somebody else changed the state since then
  bool forced_ = false;       // whether some of these forces are not zero
  bool pushed_ = false;       // whether somebody set forces since the last step
  std::vector<int> changed_;  // bodies that somebody changed since the lines were those of the state, or set forces on
  int since_looked_ = 0;      // steps since islands were looked for that may sleep
  double last_h_ = 0;         // of the last step
  double size_ = 0;           // of the smallest part that moves, m
  double most_load_ = 0;      // N, that counts for a body's inertia (bear_loads)
  VecX start_u_, accelerations_;
  std::unique_ptr<realtime::Articulations> joints_;
  std::unique_ptr<realtime::Records> records_;
  std::unique_ptr<realtime::SoftSolids> soft_;
  VecX external_, forces_;
  // Of the search for islands: awake bodies, places of lines among them, and what is known of each set.
  std::vector<int> awake_, place_, island_first_, island_bodies_, island_touches_;
  std::vector<std::pair<int, int>> rooted_;  // root, touch
  std::vector<char> restless_;
  UnionFind hang_together_;
  /// A kinematic body as it is at the start of a step.
  struct Led {
    int body;
    Vec3 p;
    Quat theta;
    Vec6 u;
  };
  std::vector<Led> led_;
  std::vector<int> led_rows_, fast_, some_rows_, gaining_;
  /// What hangs together, by the root: its energy of motion as the step began and now, and the work of forces (keep_energy).
  struct Gain {
    double before = 0, now = 0, work = 0;
    bool watched = false, tied = false, held = false;  // tied: by a contact or joint; held: by something fixed
    int whole = -1;                                    // of what nothing fixed holds, among those
  };
  /// The motion as one of what nothing fixed holds: the rigid one that has its momentum and its angular momentum.
  struct Whole {
    Vec3 from;  // what it is seen from
    double mass = 0;
    Vec3 moment = Vec3::Zero(), push = Vec3::Zero(), spin = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();
    void add(double m, const Mat3& own, const Vec3& p, const Vec6& u);
    /// Of a body whose centre is there.
    [[nodiscard]] Vec6 velocity_at(const Vec3& p) const;
    [[nodiscard]] double energy() const;
  };
  std::vector<Gain> gains_;
  std::vector<Whole> wholes_;
  std::vector<realtime::Touches::Meeting> meetings_;  // of the fast ones
  std::vector<Vec3> swerves_;                         // of a group of joints
  std::vector<int> group_first_;  // by group of joints: the fast one that meets something first; -1: none does
  ForceScratch scratch_;
  std::vector<Contact> contacts_;
  bool listed_ = false;  // whether they were asked for since the last step
  StepReport report_;
  std::int64_t evaluations_ = 0;
  mutable StageClock clock_;
};

}  // namespace rotule
