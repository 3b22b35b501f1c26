#pragma once
// What acts on the free axes of joints, for methods of accelerations. With q the axis' coordinate and J its gradient:
//   springs, dampers, torques   forces along J^T like any others, tau = torque + clamp(k (rest - q) - d dq/dt),
//   motor of strength S         tau in -S Sgn(dq/dt - speed),
//   dry friction F              tau in -F Sgn(dq/dt),
//   stops                       tau >= 0 at the lower one, complementary to the room that is left.
// Where the last three leave the force open, they hold the axis: its row is in force, q'' = 0, and its multiplier is what they
// exert together, between the bounds that they give. Elsewhere they exert constants. Which axes are held is decided where a
// stretch of smooth motion begins and kept until an event:
//   the multiplier leaves its bounds      the axis is let go,
//   the rate comes to zero, or to the motor's speed    it is held there, or passes through,
//   a stop is met                         an impulse, joints and given motions holding through it, with Newton's restitution,
//   a spring comes to the end of its strength, or back.
// It is decided from the state alone, by the complementarity problem of the accelerations, so that snapshots need not know of it.
// Constraints that are at least zero (constraint/pool/function.h) are stops of the same kind, with C for q. Those on velocities,
// w at least zero, have no q: they are met where w comes to zero. Where several axes are held that cannot move without each
// other, those that follow from the rest keep the force that they had.
#include <rotule/results.h>

#include <optional>
#include <span>
#include <vector>

#include "base/workspace.h"
#include "constraint/pool/drive.h"
#include "dynamics/flow.h"
#include "dynamics/kinematics.h"
#include "math/rotation.h"
#include "mechanism/linkage.h"

namespace rotule {

class JointedMechanism;

/// One driven axis, and how it stands.
struct DriveLaw {
  int joint = 0, drive = 0;                // whose, and which of its drives
  int linkage = -1, block = -1, row = -1;  // its row, where it has one
  bool given = false;                      // whether that is a given motion
  bool one_sided = false;                  // whether it is a constraint's row, `drive` being its number, with a stop at zero
  bool on_rate = false;                    // whether such a one bounds a velocity, and has no room to cross
  int stop = -1;                           // of such a one, among all

  // The present stretch of motion.
  bool held = false, tied = false;        // held by its row; by those of others
  bool crossed = false;                   // held by its row for having gone through its stop
  double push = 0;                        // what the laws that switch exert besides the row
  double low = 0, high = 0;               // between which the row's multiplier may be
  int way_of_zero = 0, way_of_motor = 0;  // on which side of each the rate is, where that matters
  bool from_rest = false;
  int saturated = 0;                     // at which end of its strength the spring is
  double force_unit = 1, rate_unit = 1;  // what counts as large
};

class DriveLaws {
 public:
  /// Of the model's joints, whose linkages are these. `switching`: whether laws that switch are followed here, and not by
  /// impulses.
  void find(const Model& model, std::span<Linkage> linkages, bool switching);
  /// Whether somebody has changed what acts, so that rows are to be found anew.
  [[nodiscard]] bool outdated(const Model& model, std::span<const Linkage> linkages) const;

  [[nodiscard]] bool any() const { return !laws_.empty(); }
  /// Whether there is anything to be located.
  [[nodiscard]] bool switching() const { return switching_ && events_; }
  [[nodiscard]] bool given_motions() const { return given_; }
  [[nodiscard]] std::span<const DriveLaw> laws() const { return laws_; }

  /// Forces on all bodies; the kinematics' poses and these velocities count.
  void add_forces(const Model& model, const Kinematics& kinematics, const VecX& u, VecX& forces) const;
  /// sink(triple of u, triple of u, a df/du + b df/dq), by blocks of three.
  template <class Sink>
  void add_derivatives(const Model& model, const Kinematics& kinematics, const VecX& u, double a, double b, Sink&& sink) const;
  /// J of springs in the axis' direction, J.
  [[nodiscard]] double potential(const Model& model, const Kinematics& kinematics) const;

  /// Which axes are held from this state on.
  void decide(JointedMechanism& mechanism, const State& s, double t);
  /// Whether one is held.
  [[nodiscard]] bool holding() const;
  // For those who move states otherwise than in time. Whether a state is beyond a stop by more than `room`; holding what is, as
  // long as it is not held anyway, at that stop, and letting it go again.
  static constexpr double met_room = 1e-9;  // rad, m: what is left of the room at a stop that is met
  [[nodiscard]] bool beyond_stops(JointedMechanism& mechanism, const State& s, double t, double room) const;
  bool hold_crossed(JointedMechanism& mechanism, const State& s, double t);
  void leave_crossed(JointedMechanism& mechanism);
  /// Whether joints whose motion is given are off it, by more than rounding; and equations that know the time.
  [[nodiscard]] bool off_course(JointedMechanism& mechanism, const State& s, double t) const;
  [[nodiscard]] bool off_time(JointedMechanism& mechanism, const State& s, double t) const;

  enum class Cause : std::uint8_t { none, force, rate, stop };
  struct Event {
    double value = infinity;  // below zero where something is to be done
    Cause cause = Cause::none;
  };
  /// At a state of the present stretch, whose accelerations are found on the way. `h` turns rates into lengths.
  Event event(JointedMechanism& mechanism, const State& s, double t, double h, VecX& udot);
  /// Impulses at stops that are met. Returns the energy taken out.
  double strike(JointedMechanism& mechanism, State& s, double t, bool bounce);

  /// What the drives of one axis exert along it, by who does, as the accelerations were found last; velocities are `u`.
  struct Parts {
    int axis = 0;
    double rate = 0;
    double motor = 0;  // motors, given motions, and what makes a servo's spring weaker than it would be
    double spring = 0, damper = 0, friction = 0;
    double holding = 0;  // stops, and friction at rest
  };
  [[nodiscard]] Parts parts(const JointedMechanism& mechanism, const VecX& u, const DriveLaw& law) const;
  /// Their powers.
  void add_flow(const JointedMechanism& mechanism, const VecX& u, Flow& out) const;
  /// What a joint's drives exert along its axes, as the accelerations were found last.
  void exerted(const JointedMechanism& mechanism, int joint, std::array<double, 6>& out) const;

 private:
  /// An axis as it stands.
  struct Standing {
    DriveAxis<double> axis;
    double rate = 0;
  };
  [[nodiscard]] static Standing stand(const Model& model, const Kinematics& kinematics, const VecX& u, const DriveLaw& law);
  [[nodiscard]] static double spring(const Drive& drive, int axis, const Standing& at);
  [[nodiscard]] static double smooth(const Drive& drive, const DriveLaw& law, int axis, const Standing& at);
  void hold(std::span<Linkage> linkages, const DriveLaw& law, const DrivenAxis& axis) const;
  void release_all(const Model& model, std::span<Linkage> linkages);
  void refresh_idle(const Model& model, std::span<Linkage> linkages) const;
  /// What each of the rows does to all of them.
  void respond(JointedMechanism& mechanism);
  /// low <= x <= high with w = A x - b, by pivoting; `x` holds the answer.
  void solve_box(JointedMechanism& mechanism);

  /// A row, whoever its partners are.
  struct Line {
    int count = 0;
    std::array<int, Moving::most_bodies> partner{};
    std::array<Vec6, Moving::most_bodies> J;  // NOLINT: of as many as there are
    double gamma = 0;

    void add(int number, const Vec3& linear, const Vec3& angular);
    /// J times velocities or accelerations of all that can move.
    [[nodiscard]] double along(const Model& model, const VecX& u) const;
    void push(const Model& model, double force, VecX& forces) const;
    /// J M^-1 J^T of its bodies alone: what it answers at most.
    [[nodiscard]] double free_response(const Model& model, const Kinematics& kinematics) const;
  };
  /// A law's line as it stands, with its coordinate and the rate of that.
  struct LineAt {
    Line line;
    double q = 0, rate = 0;
  };
  [[nodiscard]] static LineAt line_of(const JointedMechanism& mechanism, const VecX& u, double t, const DriveLaw& law);
  [[nodiscard]] const Drive& drive_of(const Model& model, const DriveLaw& law) const;

  /// The stop that a law's axis is beyond by more than `room`.
  [[nodiscard]] std::optional<double> crossed(const JointedMechanism& mechanism, const State& s, double t, const DriveLaw& law,
                                              double room) const;

  /// A row that may be in force.
  struct Candidate {
    int law;
    double q, rate;  // held at
    Line row;
    double low, high;  // what it may exert
  };

  std::vector<DriveLaw> laws_;
  std::vector<Drive> stops_;     // of constraints of one side
  std::vector<DriveLaw> timed_;  // rows of constraints that know the time
  bool switching_ = false, events_ = false, given_ = false;
  std::vector<Candidate> candidates_;
  std::vector<VecX> responses_;
  MatX matrix_, factor_;
  VecX free_, b_, x_, diagonal_;
  ConstraintProblem problem_;
  Workspace workspace_;
  SolveReport report_;
};

template <class Sink>
void DriveLaws::add_derivatives(const Model& model, const Kinematics& kinematics, const VecX& u, double a, double b,
                                Sink&& sink) const {
  if (!switching_) return;
  for (const DriveLaw& law : laws_) {
    if (law.one_sided) continue;
    const Joint& joint = model.joints[law.joint];
    const auto& [number, drive] = joint.drives[law.drive];
    const Standing at = stand(model, kinematics, u, law);
    const double stiffness = law.saturated != 0 ? 0 : a * drive.damping + b * drive.stiffness;
    const std::array<int, 2> body{joint.a, joint.b};
    const std::array<std::array<Vec3, 2>, 2> J{{{at.axis.linear_a, at.axis.angular_a}, {at.axis.linear_b, at.axis.angular_b}}};
    const int first = number >= 3 ? 1 : 0;
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = 0; q < 2; ++q) {
        if (!model.movable(body[p]) || !model.movable(body[q])) continue;
        for (std::size_t i = first; i < 2; ++i)
          for (std::size_t j = first; j < 2; ++j)
            sink(2 * body[p] + static_cast<int>(i), 2 * body[q] + static_cast<int>(j),
                 Mat3(-stiffness * J[p][i] * J[q][j].transpose()));
      }
    // An axis turns with the body that carries it, and the torque with it.
    if (number < 3) continue;
    const int carrier = is_second(joint, number - 3) ? joint.b : joint.a;
    if (!model.movable(carrier)) continue;
    const Mat3 turned = b * smooth(drive, law, number, at) * skew(at.axis.angular_b);
    if (model.movable(joint.b)) sink(2 * joint.b + 1, 2 * carrier + 1, Mat3(-turned));
    if (model.movable(joint.a)) sink(2 * joint.a + 1, 2 * carrier + 1, turned);
  }
}

}  // namespace rotule
