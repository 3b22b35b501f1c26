#pragma once
// The trees of a scene (A15): a spanning tree of its joints, rooted in what never moves or in a body that floats freely. Joints
// that close loops, and those that are no frame with some axes locked (rods, gears, functions, particles), stay outside.
//
// Every joint is a chain of elementary ones, each with one axis z, or a ball:
//   hinge   turns its link by q about z,        slider   moves it by q along z,
//   ball    turns it by a unit quaternion; rates are the relative angular velocity in the axes of the joint's first frame.
// Links between the elementary joints of one chain weigh nothing. A body that floats is three sliders along the axes of the
// world, then a ball at its centre of mass: its rates are its velocity and angular velocity, in world axes, as in a state.
// A link's frame stands in its joint: origin there, axes those of the joint's frame on its side.
#include <span>
#include <string>
#include <vector>

#include "model/model.h"

namespace rotule {

struct TreeLink {
  enum class Kind : std::uint8_t { hinge, slider, ball, weld };
  Kind kind = Kind::hinge;
  bool reversed = false;  // of a ball: the link carries the joint's first frame
  bool travels = false;   // a slider, as all before it: it never turns
  int parent = -1;        // link, always an earlier one; -1: the ground
  int position = 0;       // where its coordinates begin in q, and its rates in u
  int velocity = 0;
  int body = -1;  // that it is; -1 where it weighs nothing
  // The joint's frame in the parent's link, or in the world.
  Mat3 E = Mat3::Identity();
  Vec3 r = Vec3::Zero();
  // The body in the link's axes: centre of mass from the origin, inertia about that, and where the body's own axes are.
  double mass = 0;
  Vec3 c = Vec3::Zero();
  Mat3 I = Mat3::Zero();
  Mat3 body_axes = Mat3::Identity();  // from body axes to the link's
  double rotor = 0;                   // inertia of one that is geared to its hinge or slider (Drive::armature)

  [[nodiscard]] int rates() const { return kind == Kind::ball ? 3 : kind == Kind::weld ? 0 : 1; }
};

/// A free axis of a joint of the tree.
struct TreeAxis {
  int joint = -1;  // -1: of a body that floats
  int body = -1;   // that moves along it
  int axis = 0;    // 0 to 5: x, y, z, and the rotations about them
  int velocity = 0;
  int position = 0;  // of a ball's three: where its quaternion begins
  bool of_ball = false;
};

/// How a joint of the tree stands in it, for who reads coordinates from poses.
struct TreeJoint {
  int joint = -1;  // -1: a body that floats
  int body = -1;   // the child
  int link = -1;   // that this is
  bool child_is_b = true;
  std::array<int, 6> position{-1, -1, -1, -1, -1, -1}, velocity{-1, -1, -1, -1, -1, -1};
};

struct Tree {
  std::vector<TreeLink> links;  // parents first
  std::vector<TreeJoint> joints;
  std::vector<TreeAxis> axes;  // in the order of u
  std::vector<int> link_of;    // per body; -1 for those that never move
  std::vector<int> outside;    // joints that are not in the tree, rising
  int positions = 0, velocities = 0;
  /// Bodies that it stands on, and where they were.
  struct Ground {
    int body = -1;
    Vec3 p;
    Quat theta;
  };
  std::vector<Ground> grounds;
  /// Whether those are where they were.
  [[nodiscard]] bool stands(const State& s) const;

  /// The model's fixed bodies stand where the state has them.
  Tree(const Model& model, const State& state);
  /// Of these bodies and joints alone; joints tie no others that move. Bodies that are particles are passed over.
  Tree(const Model& model, const State& state, std::span<const int> bodies, std::span<const int> joints);
  Tree() = default;
};

/// Throws Error where a joint outside has a rotor, which acts in maximal coordinates alone.
void require_rotors_inside(const Model& model, const Tree& tree);

/// The first thing of the model that trees do not know: joints of kinematic bodies, added mass. Empty where there is none.
std::string misfit_of_tree(const Model& model);

// Between states and coordinates; q, u and sigma have their sizes already, and what stands behind u and sigma is left alone.
// Poses and velocities of a state that opens no joint of the tree come back to rounding.
void read_coordinates(const Model& model, const Tree& tree, const State& s, VecX& q, VecX& u);
/// The same for other velocities than the state's, laid out like those.
void read_coordinates(const Model& model, const Tree& tree, const State& s, const VecX& velocities, VecX& q, VecX& u);

/// q moved by sigma, in the chart of the integrators: out may be q.
void displace(const Tree& tree, const VecX& q, const VecX& sigma, VecX& out);
/// d(sigma)/dt at q moved by sigma, for rates u.
void chart_rate(const Tree& tree, const VecX& sigma, const VecX& u, VecX& out);
/// sigma that moves `base` to q; angles by the shorter way.
void difference(const Tree& tree, const VecX& q, const VecX& base, VecX& sigma);

}  // namespace rotule
