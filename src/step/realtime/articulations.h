#pragma once
// Joints of the real-time stepper. What joints tie together (mechanism/linkage.h) is solved at once, in doubles, while contacts
// iterate around it: with the whitened velocities w = M^(1/2) v and rows W = J M^(-1/2),
//
//   A delta = -(W w + b),   A = W W^T + C,   x <- x + delta,   w <- w + W^T delta
//
// A is factored once per step or substep (linalg/block_ldlt.h: leaves first, so that trees make no fill; minimum degree where
// there are loops, whose redundant rows get a pivot of zero). So mass ratios and lengths of chains do not matter: there is
// nothing to converge. Impulses x are those of a substep; repeated in each (begin_substep), they are corrected by delta alone.
//
// Groups in which a body turns by more than a tenth of a radian per step, or is made to within one, have their rows and factor
// made anew in each substep (follow_joints.cpp), the impulses turned along with them, and their joints closed once more at the
// end. For all others rows are made once per step. What keeps motion right all the same:
//   lead        rows are those of a pose ahead by (h - h/n)/2 at the step's velocities. Positions go on by the mean of the parts'
//               velocities, (n + 1)/(2 n) of what is new in them; rows of the start would make every pendulum gain energy, and
//               with this lead the map from step to step has determinant 1, as the symplectic methods have;
//   b           C_t + h/2 gamma: rows turn with the bodies, and velocities are those of the step's middle;
//   drift       what is left of C is taken out of positions alone, in the first part: it leaves no speed behind;
//   stiffness   joint forces turn too: where that is too stiff for a step, bodies get the inertia h^2 K besides
//               (constraint/geometric_stiffness.h), so that no tension is too high.
//
// Limits, motors, springs and friction (constraint/pool/drive.h) are further rows with bounds. Those within their bounds are
// solved with the joints; those at a bound push with it. Who is which is carried from substep to substep, and looked at again
// until nobody changes: a Newton iteration on the bounds (M. Hintermueller et al., SIAM J. Optim. 13, 2002).
#include <rotule/results.h>

#include <algorithm>
#include <vector>

#include "constraint/geometric_stiffness.h"
#include "constraint/pool/drive.h"
#include "dynamics/flow.h"
#include "linalg/block_ldlt.h"
#include "mechanism/linkage.h"
#include "step/realtime/body_lines.h"
#include "step/realtime/joint_rows.h"
#include "step/realtime/sleepers.h"
#include "step/realtime/stages.h"

namespace rotule::realtime {

class Articulations {
 public:
  explicit Articulations(const Model& model) : model_(model) { rebuild(); }

  /// Joints or drives came or went: groups that have the same ones as before stay as they are.
  void rebuild();
  /// A body without joints has the last number.
  void body_added();
  /// Numbers behind these have moved up; a joint that has left takes its rows along.
  void body_removed(int body, int bodies_before);
  void joint_removed(int joint, int joints_before);

  [[nodiscard]] bool empty() const { return groups_.empty(); }
  /// Somebody else moved bodies.
  void forget() { known_ = false; }
  /// Groups whose bodies sleep are left alone.
  void sleep_with(const Sleepers& sleepers);
  /// What joints tie together, by number: that of a body's line, -1 where it has no joint; and the lines of one.
  [[nodiscard]] int groups() const { return static_cast<int>(groups_.size()); }
  [[nodiscard]] int group_of(int line) const { return group_of_[body_of(line)]; }
  [[nodiscard]] std::span<const int> lines_of(int group) const { return groups_[group].lines; }
  /// Whether something drives it.
  [[nodiscard]] bool driven(int group) const { return groups_[group].driven; }
  /// The most work that its springs and motors may have done on the way of this step; infinite where it is led.
  [[nodiscard]] double most_work(int group, const BodyLines& bodies) const;
  /// The impulses of its joints and drives become this share of what they are.
  void let_go(int group, double share) {
    answers_[group].x *= share;
    groups_[group].drive_x *= share;
  }
  /// A blow without rebound: the point at `lever` from the centre of this line's body goes no faster along the normal than
  /// `speed` (m/s) any more, and all that is tied to it goes along as joints have it. The energy that it cost, J.
  double stop(int group, int line, const Vec3& lever, const Vec3& normal, double speed, BodyLines& bodies);
  /// Whether what cannot move holds it.
  [[nodiscard]] bool anchored(int group) const { return !groups_[group].free; }
  /// By bodies, what hangs together: visit(bodies of a group).
  template <class Visit>
  void for_each_awake(Visit&& visit) const {
    for (const int i : awake_) visit(std::span<const int>(linkages_[i].bodies));
  }

  /// Rows for a step of h in so many parts from this state; `scale` of the last step's impulses, where parts were of another
  /// length. Bodies get the inertia that stiffness asks for.
  void look(const State& s, double t, double h, int parts, double scale, double push_speed, BodyLines& bodies, Stages& stages);
  /// m, rad: how far joints were open when rows were made, where that is more than a small share of their reach; else 0.
  [[nodiscard]] double most_open() const;
  /// What motors exert always (Drive::motor_torque), laid out as u; whether there is any.
  [[nodiscard]] bool has_torques() const;
  void add_torques(VecX& forces) const;
  /// Factors, and gives the last impulses to the bodies.
  void prepare(BodyLines& bodies, Stages& stages);
  /// Makes velocities fit in this part of a step that began at t in this state; takes out drift.
  void hold(const State& s, double t, int part, BodyLines& bodies, Stages& stages);
  /// After the last part, at t: closes the joints of what turned fast.
  void close(const State& s, double t, BodyLines& bodies, Stages& stages);

  /// The worst row of joints after the last part, changes being noted (kernels.h), as the judge says: what is wrong of dC/dt
  /// against what is at stake. Of all joints, or where there are many of an eighth, another in each step. Drives are not judged.
  [[nodiscard]] double judge(const BodyLines& bodies, std::int64_t step) const;
  /// What given motions and drives did in a substep that has just ended.
  void book_part(const BodyLines& bodies, Flow& flow);

  /// C and dC/dt of this state, for errors.
  void measure(const State& s, double t);
  [[nodiscard]] JointError error(int joint) const;
  [[nodiscard]] JointError largest_error() const;
  /// As of the last step.
  [[nodiscard]] JointForce force(int joint) const;
  [[nodiscard]] std::vector<std::pair<int, int>> redundant() const;
  [[nodiscard]] const std::vector<DriveRow>& drives() const { return drives_; }
  /// Impulses of a substep times this are forces.
  [[nodiscard]] double per_second() const { return part_ > 0 ? 1 / part_ : 0; }
  [[nodiscard]] const std::vector<Linkage>& linkages() const { return linkages_; }
  /// Impulses of the whole step, by linkage.
  [[nodiscard]] const VecX& impulses(std::size_t linkage) const { return answers_[linkage].x; }

  template <class Archive>
  void archive(Archive& io) {
    for (JointAnswer& answer : answers_) archive_sized(io, answer.x);
    for (Group& group : groups_) {
      archive_sized(io, group.drive_x);
      archive_sized(io, group.held);
    }
    io(part_);
  }

 private:
  /// One body's part of a node's rows: six numbers each, from `values` on in the group's W, and the same in `lanes`.
  struct Side {
    int body, values, lanes;
  };
  /// A joint, or one row of a drive: a node of A.
  struct Node {
    int first_row, rows, first_side, sides;
  };
  /// Two nodes that share a body.
  struct Product {
    int later, earlier;            // nodes
    int later_side, earlier_side;  // of the group's
    int offset;                    // in A
    bool adds;                     // not the first of its block
  };
  struct Group {
    std::vector<int> lines;   // of bodies
    std::vector<Node> nodes;  // joints, then drives
    std::vector<Side> sides;
    std::vector<Product> products;
    std::vector<double> W, w;             // w: what impulses of the last step are worth
    std::vector<RowLanes> lanes;          // W again, as substeps read it
    std::vector<double> bias, rhs, rate;  // rate: dC/dt of the state that was measured
    std::vector<double> drift;            // per row of joints, at the start of the step
    std::vector<double> led;              // per drive: how far the pose ahead is on its axis
    std::vector<Mat3> stiffness;          // of the last impulses, by body, N m s
    std::vector<double> twist, pull;      // bounds of what is not in it, N m s and N s/m
    BlockLdlt factor;
    std::vector<std::int32_t> redundant;
    ConstraintProblem rows;
    RowValues values;
    int joint_rows = 0, joints = 0;
    std::vector<int> drives;  // by place in drives_
    VecX drive_x;
    std::vector<std::uint8_t> held;  // drives that are solved for
    double shorter = 1;              // of the drift, what a step takes out
    double open = 0;                 // m, rad: the largest drift
    bool free = true;                // whether nothing that cannot move, or is led, holds it
    bool guided = false;             // whether motions, functions or kinematic bodies lead it
    bool driven = false;             // whether it may begin to move by itself: by motors, or as time goes by
    bool fills = true;               // whether A has blocks that no product writes
    bool balls = false;              // whether all joints are balls, whose stiffness is the estimate, and nothing drives them
    bool quick = false;              // whether bodies turn so fast that rows must follow them within the step
  };

  /// The motion of a rigid body with the momentum and angular momentum that a group has.
  struct RigidMotion {
    double mass = 0;
    Vec3 centre = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();
    Mat3 inertia = Mat3::Zero();  // about the centre
  };
  /// And the roots of its bodies' inertias, which that needs.
  static RigidMotion motion_as_one(const Group& group, const BodyLines& bodies, std::vector<Mat3>& inertia_roots);

  /// One thread's memory.
  struct Desk {
    LumpedStiffness lumped;
    VecX lambda;
    std::vector<int> stiff;  // bodies of the group at hand
    std::vector<Mat3> inertia_roots;
  };
  /// work(number of a group, worker) for all that are awake: groups have no moving body in common, and threads take one each.
  template <class Work>
  void for_each_group(Stages& stages, const Work& work) const {
    stages.in_parts(static_cast<int>(awake_.size()), 1, [&](int first, int last, int worker) {
      for (int k = first; k < last; ++k) work(awake_[k], worker);
    });
  }

  void note_groups();
  void build(const Linkage& linkage, Group& group) const;
  [[nodiscard]] bool is_guided(const Linkage& linkage) const;
  [[nodiscard]] bool has_motors(const Linkage& linkage) const;
  /// Kinematic bodies so long after the state, which they leave at its velocities.
  void place_led(const State& s, double ahead);
  /// dC/dt of rows just made, by the state's velocities.
  static double rate_of(const State& s, const Linkage& linkage, const Group& group, const ConstraintBlock& block, int row);
  /// Biases and drift of rows just made, for so long a time from a pose so far ahead.
  void set_bias(const State& s, const Linkage& linkage, Group& group, double span, double lead) const;
  void estimate_stiffness(const Linkage& linkage, const VecX& x, Group& group) const;
  void look_at(int number, const State& s, double t, double h, double scale, double lead, BodyLines& bodies, Desk& desk);
  void stiffen(const Linkage& linkage, const VecX& x, Group& group, BodyLines& bodies, Desk& desk) const;
  void whiten(const BodyLines& bodies, Group& group) const;
  void refactor(Group& group);
  static void pass_on(Group& group);
  /// Of its bodies' motion, with the inertia that they have in this step, J.
  static double motion_energy(const Group& group, const BodyLines& bodies);
  template <bool points>
  static void square_joints(Group& group);
  void hold_group(Group& group, VecX& x, BodyLines& bodies, bool drifts);
  static double judge(const Group& group, const Node& node, const BodyLines& bodies, double rounding_share);
  static bool turns_fast(const State& s, const Linkage& linkage, double h);
  [[nodiscard]] bool any_quick() const;
  [[nodiscard]] bool turns_fast(const Group& group, const BodyLines& bodies) const;
  /// Kinematics of a group's bodies as they have moved since the step began in s.
  void place(const State& s, const Linkage& linkage, const Group& group, const BodyLines& bodies, bool at_end);
  /// Rows and factor of where its bodies are by now, and the impulses x turned to them.
  void follow(const State& s, double t, const Linkage& linkage, Group& group, const VecX& x, BodyLines& bodies);
  static void take_out_drift(Group& group, BodyLines& bodies);
  bool sort_drives(Group& group, bool first_round, BodyLines& bodies);
  [[nodiscard]] double drive_bias(const Group& group, int k, const BodyLines& bodies) const;
  /// What a drive's row makes of the six numbers from `first` on in its bodies' lines.
  template <class AnyLine>
  static double along(const Group& group, const Node& node, const std::vector<AnyLine>& lines, int first = 0) {
    double sum = 0;
    for (int k = node.first_side; k < node.first_side + node.sides; ++k) {
      const double* W = group.W.data() + group.sides[k].values;
      const float* w = lines[group.lines[group.sides[k].body]].at + first;
      for (int n = 0; n < 6; ++n) sum += W[n] * double(w[n]);
    }
    return sum;
  }
  /// w <- w + W^T x of a node, in w for all impulses of a step: what pulls a light link both ways is much more than what is left.
  static void push(Group& group, const Node& node, const double* x) {
    for (int k = node.first_side; k < node.first_side + node.sides; ++k)
      add_rows(group.W.data() + group.sides[k].values, node.rows, x, group.w.data() + 6 * group.sides[k].body);
  }
  /// The same in the six numbers from `first` on of its bodies' lines, for changes.
  template <bool points = false>
  static void push(const Group& group, const Node& node, const double* x, BodyLines& bodies, int first) {
    for (int from = 0; from < node.rows; from += 4) {
      Four lanes{};
      if (points || node.rows == 3) {
        lanes = Four{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]), 0};
      } else {
        for (int r = from; r < std::min(node.rows, from + 4); ++r) lanes[r - from] = static_cast<float>(x[r]);
      }
      for (int k = node.first_side; k < node.first_side + node.sides; ++k)
        add_rows<points>(group.lanes[group.sides[k].lanes + from / 4], lanes,
                         bodies.motion[group.lines[group.sides[k].body]].at + first);
    }
  }
  /// Right-hand sides of joints, what is wrong: -(W w + b); and their solution, given to bodies.
  template <bool points>
  static void find_wrong(Group& group, const BodyLines& bodies);
  template <bool points>
  static void push_all(const Group& group, BodyLines& bodies, int first) {
    for (const Node& node : group.nodes) push<points>(group, node, group.rhs.data() + node.first_row, bodies, first);
  }
  static void add_impulses(const Group& group, BodyLines& bodies) {
    for (std::size_t b = 0; b < group.lines.size(); ++b)
      for (int n = 0; n < 6; ++n) bodies.motion[group.lines[b]].at[n] += static_cast<float>(group.w[6 * b + n]);
  }
  static Mat3 inverse_inertia_root(const float* pose) {
    Mat3 S;
    S << pose[10], pose[11], pose[12], pose[11], pose[13], pose[14], pose[12], pose[14], pose[15];
    return S;
  }

  const Model& model_;
  std::vector<Linkage> linkages_;
  std::vector<JointAnswer> answers_;
  std::vector<Group> groups_;
  std::vector<int> group_of_;  // by body; -1: no joint
  std::vector<int> awake_;     // groups that do not sleep, rising
  std::vector<DriveRow> drives_;
  std::vector<std::pair<int, int>> places_;  // by joint: linkage, block
  Kinematics kinematics_;
  std::vector<Desk> desks_;  // by worker
  double start_ = 0, step_ = 0, part_ = 0, push_speed_ = 0;
  bool known_ = false;  // whether kinematics_ has all that does not move
};

}  // namespace rotule::realtime
