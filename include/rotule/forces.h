#pragma once
// Forces (B2, E1, E3) as values. What they act on is named: a body, a particle ("cloth/12"), or "world". Points are given in
// world coordinates, in the pose in which the scene is described; where none is given, a body is held at its centre of mass.
#include <rotule/formula.h>
#include <rotule/joints.h>
#include <rotule/types.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rotule {

/// A linear spring and damper between two points: with e from the second to the first, l = |e| and n = e / l, the first feels
///   F = -(k (l - l0) + d n . e') n
/// and the second -F. It has no direction where its ends meet.
struct Spring {
  std::string name = {};
  Between between = {};
  std::optional<Vec3> from = {};           // point of the first
  std::optional<Vec3> to = {};             // point of the second
  double stiffness = 0;                    // N/m
  double damping = 0;                      // N s/m
  std::optional<double> rest_length = {};  // m; default: as placed
  bool slack = false;                      // whether it pulls alone, as a cable does: no force where it is shorter than at rest
};

/// A spring on the angle at the middle one of three points: V = k/2 (angle - rest)^2. It has no direction where they lie on one
/// line and the rest angle is another one.
struct AngleSpring {
  std::string name = {};
  std::array<std::string, 3> between = {};
  double stiffness = 0;                   // N m/rad
  std::optional<double> rest_angle = {};  // rad, 0 to pi; default: as placed
};

/// A spring and damper on the rotation of the second body against the first about an axis of the first, within half a turn of the
/// pose described: torque -k phi - d phi' on the second.
struct TorsionSpring {
  std::string name = {};
  Between between = {};
  Vec3 axis{0, 0, 1};
  double stiffness = 0;  // N m/rad
  double damping = 0;    // N m s/rad
};

/// F = -viscous v - quadratic |v| v, and for bodies the torque -angular omega, with v relative to the fluid where the scene has
/// flows.
struct Drag {
  std::string name = {};
  std::vector<std::string> on = {};  // bodies, particles, groups of particles; none: everything that moves
  double viscous = 0;                // N s/m
  double quadratic = 0;              // N s^2/m^2
  double angular = 0;                // N m s
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// What a fluid that passes a body exerts on a length of it with a constant section (C6), quasi-steady: with w the velocity of
/// the fluid relative to the body's point `velocity_at`, across the span, and alpha the angle from the chord to it,
///   F = 1/2 density w^2 width length (drag(alpha) along w + lift(alpha) across it),
///   M = 1/2 density w^2 width^2 length moment(alpha), nose up,
/// at the body's point `at`; and along the span the skin friction 1/2 density |w| w_s width length skin_friction. The chord
/// points downstream at alpha = 0 and the normal upwards: fluid that comes from below, along the normal, has a positive angle.
/// Coefficients are smooth curves (cubic, twice differentiable) through what is given; tables that span a full turn are periodic,
/// and angles outside of others are refused while the world runs.
/// Where it is `unsteady` the wake that it sheds is remembered (H. Wagner, 1925; T. Theodorsen, 1935): w is lessened along the
/// normal by the wake's downwash, sum of a_i (w_n - z_i), where z_i follow w_n at the rates b_i 2 W / width, so that the lift
/// after a sudden change of the angle is 1 - sum of a_i exp(-b_i s) of what it becomes, s being half chords travelled. Three such
/// lags meet Theodorsen's function within 0.5 %. At the start the wake is that of a motion that was always the same.
struct FlowSection {
  std::string name = {};
  std::string on = {};
  std::optional<Vec3> at = {};           // m, where force and moment act; default: the centre of mass
  std::optional<Vec3> velocity_at = {};  // m, where the velocity is felt; default: `at`
  Vec3 chord{1, 0, 0};
  Vec3 normal{0, 0, 1};
  double width = 1;                  // m, of the chord
  double length = 1;                 // m, along the span
  double density = 1.225;            // kg/m^3, of the fluid
  std::vector<double> angles = {};   // rad, ascending; one: the same coefficients at all angles
  std::vector<double> drag = {};     // one for each angle; none: zero
  std::vector<double> lift = {};     // likewise
  std::vector<double> moment = {};   // likewise
  double skin_friction = 0;          // along the span
  bool unsteady = false;             // whether its wake is remembered
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// What a fluid exerts on a round line between two points, such as a cable, a bar or a hanger: across it and along it apart, by
/// the velocity of the fluid relative to each end, which bears half the length. With w_n and w_t the parts of that velocity
/// across the line and along it (S. F. Hoerner's cosine law, or independence principle: a line that is inclined feels w_n alone),
///   F per length = 1/2 density diameter across |w_n| w_n + 1/2 density pi diameter along |w_t| w_t.
struct LineDrag {
  std::string name = {};
  Between between = {};
  std::optional<Vec3> from = {};     // point of the first
  std::optional<Vec3> to = {};       // point of the second
  double diameter = 0.01;            // m
  double density = 1.225;            // kg/m^3, of the fluid
  double across = 1.2;               // coefficient of drag, by diameter
  double along = 0;                  // coefficient of skin friction, by circumference
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// The pressure of a fluid around a body (Archimedes, Froude and Krylov): F = density V (Du/Dt - g) at the centre of the volume V
/// that is below the surface. Without a surface all of the body is below it. Waves raise and tilt it, as their plane is above the
/// body's centre.
struct Buoyancy {
  std::string name = {};
  std::string on = {};
  double density = 1000;               // kg/m^3, of the fluid
  std::optional<double> volume = {};   // m^3; default: the shape's
  std::optional<Vec3> at = {};         // m, centre of the whole volume; default: the shape's centroid, else the centre of mass
  std::optional<double> surface = {};  // m, height of the still level against gravity; for shapes that have a volume
  std::vector<std::string> in = {};    // flows; none: all of the scene's
};

/// The fluid that a body must move out of its way, as a 6 x 6 block of mass in body axes about `at` (Kirchhoff's equations):
///   kinetic energy 1/2 (v, omega) . M_a (v, omega),  M_a = [translation coupling; coupling^T rotation],
/// which fluid that accelerates pushes along, M_a Du/Dt.
struct AddedMass {
  std::string name = {};
  std::string on = {};
  Mat3 translation = Mat3::Zero();   // kg
  Mat3 rotation = Mat3::Zero();      // kg m^2
  Mat3 coupling = Mat3::Zero();      // kg m: momentum by angular velocity
  std::optional<Vec3> at = {};       // m; default: the centre of mass
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// Fluid between bodies that are near each other, or between one and walls: who moves sets the others in motion. One symmetric
/// matrix over the velocities of all bodies in turn, in the axes of the first of them, with which it turns:
///   kinetic energy 1/2 u . M_a u,  u = (v, omega) of each,  M_a's parts by linear and angular velocities as of AddedMass.
/// What lies between a body and itself is its own added mass. Bodies that are fixed take part by their axes: a dock that is named
/// first. The matrix does not know how far the bodies are from where it holds.
struct CoupledAddedMass {
  std::string name = {};
  std::vector<std::string> on = {};  // two bodies or more; n below
  MatX translation = {};             // kg, 3n x 3n; none: zero
  MatX rotation = {};                // kg m^2, 3n x 3n
  MatX coupling = {};                // kg m, 3n x 3n: momentum by angular velocity
  std::vector<Vec3> at = {};         // m, the points that it is about, one per body; none: the centres of mass
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// Air that meets surfaces (cloth, sheets, the outside of blocks, triangles of groups), per area: a triangle of area A and normal
/// n that moves with w against the air feels, shared by its corners,
///   F = -density/2 A (across |w . n| (w . n) n + along |w_t| w_t),   w_t = w - (w . n) n.
/// The air moves as the scene's flows do; without any it is at rest.
struct Air {
  std::string name = {};
  std::vector<std::string> on = {};  // groups of particles; none: all that have a surface
  double density = 1.2;              // kg/m^3
  double across = 1.2;               // coefficient of drag of a plate that meets the air flat
  double along = 0.01;               // of one that slides through it edge-on
  std::vector<std::string> in = {};  // flows; none: all of the scene's
};

/// What fills a closed surface (a balloon, a shell of triangles, the outside of a block) and presses on it from inside; each
/// group that is named is filled by itself. Without `outside` the pressure is the same whatever the volume, as if a pump held it.
/// With it the inside is a gas that nothing gets out of: (outside + over) volume^exponent stays as at the start. What tears,
/// bursts.
struct Pressure {
  std::string name = {};
  std::vector<std::string> on = {};    // groups of particles; none: all that have a surface
  double pressure = 0;                 // Pa, at the start, above that outside
  std::optional<double> outside = {};  // Pa, absolute, of what is around it; default: no gas
  double exponent = 1;                 // of the gas: 1 at constant temperature, 1.4 of air that exchanges no heat
};

/// Universal gravitation between all pairs of bodies and particles, fixed ones with a mass included:
///   F = G m m' r / (r^2 + softening^2)^(3/2).
struct Gravitation {
  std::string name = {};
  double constant = 6.67430e-11;  // N m^2/kg^2
  double softening = 0;           // m
};

/// A plane that pushes particles back (E3): F = -k depth n - b v below it, nothing above.
struct PenaltyPlane {
  std::string name = {};
  Vec3 at = Vec3::Zero();
  Vec3 normal{0, 0, 1};
  double stiffness = 0;  // N/m
  double damping = 0;    // N s/m
};

/// A force and a torque that the scene gives, as functions of time, in world axes.
struct Load {
  std::string name = {};
  std::string on = {};          // a body or a particle
  Formula3 force = {};          // N
  Formula3 torque = {};         // N m, of bodies
  std::optional<Vec3> at = {};  // the body's point at which the force acts; default: its centre of mass
};

/// What a user's force function is given for each partner: pose and velocities as jets. A particle does not turn.
struct JetMotion {
  JetBody pose;
  JetVec3 velocity, angular_velocity;  // of the centre of mass; in world axes
};
/// What it gives back: the force on each partner at its centre of mass, and the torque about it.
struct JetForces {
  JetVec3 force_a, torque_a, force_b, torque_b;
};

/// The same in plain numbers, for those who bring their own derivatives: six numbers per partner, linear then angular.
struct Motion {
  Pose pose;
  Vec3 velocity = Vec3::Zero(), angular_velocity = Vec3::Zero();
};
using Vec12 = Eigen::Matrix<double, 12, 1>;
using Mat12 = Eigen::Matrix<double, 12, 12>;
struct ForceJacobian {
  Mat12 position = Mat12::Zero();  // by small motions of both partners: translation and rotation vector in world axes
  Mat12 velocity = Mat12::Zero();
};

/// A force of the user's own between two partners. One of three: a potential (energy; forces and derivatives by automatic
/// differentiation), a force over jets (derivatives likewise), or plain values, with or without a Jacobian (implicit methods then
/// go without).
struct UserForce {
  std::string name = {};
  Between between = {};
  std::function<Jet(const JetBody& a, const JetBody& b, const Jet& time)> potential = {};
  std::function<JetForces(const JetMotion& a, const JetMotion& b, const Jet& time)> force = {};
  std::function<Vec12(const Motion& a, const Motion& b, double time)> values = {};
  std::function<ForceJacobian(const Motion& a, const Motion& b, double time)> jacobian = {};
};

using ForceDef = std::variant<Spring, AngleSpring, TorsionSpring, Drag, Air, Pressure, Gravitation, PenaltyPlane, Load,
                              FlowSection, LineDrag, Buoyancy, AddedMass, CoupledAddedMass, UserForce>;

}  // namespace rotule
