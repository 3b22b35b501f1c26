#pragma once
// A robot as its file has it, before it is a scene: links in a tree, each with the joints that tie it to its parent, one after
// the other. With X_k the transform of joint k about its own point,
//   X_link = X_parent X_rest X_1(q_1 - r_1) X_2(q_2 - r_2) ...,
// r being the coordinate in the rest pose (MJCF's ref; zero in URDF).
#include <rotule/mass_properties.h>
#include <rotule/robots.h>
#include <rotule/scene.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "robot/xml_file.h"

namespace rotule::robot {

struct TreeGeom {
  std::string name;
  Shape shape;
  Pose pose;                                  // in the link's frame
  bool collides = true;                       // else for the eye alone
  std::array<double, 3> friction{0.5, 0, 0};  // sliding; torsional and rolling, m
  bool slides_freely = false;                 // MJCF's condim of 1
  double priority = 0;                        // MJCF's: who has more says alone how two surfaces slide
  unsigned contype = 1, conaffinity = 1;
};

struct TreeJoint {
  enum class Kind { hinge, slide, ball, planar, free };
  std::string name;
  Kind kind = Kind::hinge;
  Vec3 at = Vec3::Zero();        // in the link's frame
  Vec3 axis{0, 0, 1};            // likewise; a planar joint's normal
  double rest = 0;               // q in the rest pose
  double q = 0;                  // at the start
  Quat turn = Quat::Identity();  // at the start, of ball and free joints
  Vec3 place = Vec3::Zero();     // at the start, of free joints
  bool placed = false;           // whether a free joint's place is given, and not the rest pose
  Drive drive = {};              // in the file's coordinate
  double zero = 0;               // in the file's coordinate, where the scene's is 0
  std::optional<double> effort, velocity;
  std::optional<std::array<double, 2>> actuator_range;  // of the sum of its actuators' forces (MJCF)
  Element element;
};

struct TreeLink {
  std::string name;
  int parent = -1;  // the world
  Pose rest;        // in the parent's frame
  std::vector<TreeJoint> joints;
  std::optional<MassProperties> inertial;  // in the link's frame and axes
  std::vector<TreeGeom> geoms;
  bool kinematic = false;
  double held_up = 0;  // share of its weight that something unseen carries (MJCF's gravcomp)
  Element element;
};

struct JointPlace {
  int link = -1, joint = 0;
};
/// sum over terms of sum over k of powers[k] (q - rest)^k = 0. The first is the one that follows.
struct Coupling {
  struct Term {
    JointPlace joint;
    std::vector<double> powers;
  };
  std::string name;
  std::vector<Term> terms;
  Element element;
};

/// A loop closed by a ball or a weld: points and frames in both links.
struct Closure {
  std::string name;
  bool weld = false;
  int first = -1, second = -1;
  Pose in_first, in_second;
  Element element;
};

/// Geoms that touch whatever their masks say.
struct GeomPair {
  std::array<std::string, 2> geoms;
  std::optional<double> friction;
  Element element;
};

/// A motor, before its joints have names in the scene: moves[k] is that of places[k].
struct TreeActuator {
  RobotActuator law;
  std::vector<JointPlace> places;
};

/// A sensor, before bodies and joints have names in the scene.
struct TreeSensor {
  struct Seat {
    int link = -1;
    Pose pose = {};
  };
  RobotSensor law;
  std::optional<Seat> seat, against;
  std::vector<std::pair<JointPlace, double>> joints;  // and the factor of each
  std::optional<int> above;                           // of all that this link carries, itself included
  Element element;
};

/// Bounds of a sum over joints of factor q.
struct SumBounds {
  std::string name;
  std::vector<std::pair<JointPlace, double>> terms;
  double lower = 0, upper = 0;
  Element element;
};

struct Tree {
  std::string name;
  std::vector<TreeLink> links;  // parents first
  std::vector<Coupling> couplings;
  std::vector<Closure> closures;
  std::vector<SumBounds> bounds;
  std::vector<TreeActuator> actuators;
  std::vector<TreeSensor> sensors;
  std::vector<std::array<int, 2>> excluded;  // links that do not touch
  std::vector<GeomPair> pairs;               // geoms that do
  std::vector<TreeGeom> ground;              // shapes of the world
  struct Site {
    std::string name;
    int link = -1;
    Pose pose = {};
    Shape zone = Sphere{0.005};  // what a sensor of touch there feels
  };
  std::vector<Site> sites;
  Vec3 gravity{0, 0, -9.81};
  std::optional<double> dt;
  bool contacts = true;
  bool one_group = false;         // whether no link touches another
  bool clamp_start = true;        // whether coordinates that begin beyond a stop are brought to it
  bool largest_friction = false;  // of two surfaces the larger coefficient counts, as in MJCF
  Element element;
};

/// The poses of all links, in the world: at the start, or at rest. `after`, where given: for each link the pose after each joint.
std::vector<Pose> link_poses(const Tree& tree, bool at_rest, std::vector<std::vector<Pose>>* after = nullptr);

/// The scene; `remarks` gains what could not be kept.
Robot assemble(Tree tree, const RobotOptions& options, Remarks& remarks);

/// A tensor that some body could have: symmetric, with moments of which none exceeds the sum of the others. Where they do, by
/// more than rounding, the smaller ones are raised, and a remark says so.
Mat3 possible_inertia(const Mat3& given, const Element& element, const std::string& whose, Remarks& remarks);

/// Two as one, both in the same frame.
MassProperties together(const MassProperties& a, const MassProperties& b);
/// As seen from a frame in which its own stands at X.
MassProperties seen_from(const Pose& X, const MassProperties& m);

}  // namespace rotule::robot
