#pragma once
// One point at which two bodies touch, as equations of motion see it: rows of velocity between the bodies,
//   w = J u:  along the normal; along two tangents (sliding, where the friction of a flat patch acts); about the normal
//   (turning); about the tangents (rolling)
// - the last three where the surfaces' law asks for them - and their derivatives along the motion,
//   dw/dt = J u' + gamma,   gamma = d/de J(q moved by e u) u  at e = 0,
// with the contact's point and normal those of every pose: gamma has the wandering of the point and the turning of the normal.
#include "collide/smooth/feature.h"
#include "constraint/pool/contact.h"

namespace rotule {

using TouchRows = Eigen::Matrix<double, 6, 6, Eigen::RowMajor>;
using Vec2 = Eigen::Vector2d;

/// Friction along one or two rows of a contact: what sticks has as many equations; what slips is pulled against its motion by mu
/// times the normal force.
struct TouchFriction {
  int first = 0, count = 0;  // rows
  double mu_stick = 0, mu_slip = 0;
  bool sticking = false;
  bool from_rest = false;          // slips, or is about to, from a speed that counts as none
  Vec2 direction = Vec2::UnitX();  // of slip, at the start of the present stretch of motion

  /// Along which it slips at this velocity, continued through zero: a stage of a method may look beyond the instant of a stop.
  [[nodiscard]] Vec2 slip_direction(const Vec2& w, double negligible) const {
    const double speed = w.norm();
    if (speed <= negligible) return direction;
    return std::copysign(1 / speed, w.dot(direction)) * w;
  }
};

struct Touch {
  int a = world_body, b = world_body;
  int part_a = 0, part_b = 0;
  FeaturePair features;
  SurfaceLaw law;
  double size = 1;  // m, of the smaller body
  std::array<TouchFriction, 3> friction;
  int groups = 0, rows = 1;
  Vec3 start_normal, start_tangent;  // the frame when it was found; later frames are turned from it, without any jump
  Vec3 drag = Vec3::Zero();          // to where friction acts (constraint/pool/contact.h), in axes of the body that carries it
  bool drag_on_a = false;

  // Where the bodies stand: place, frame, rows, their velocities and gamma.
  TouchPlace place;
  Vec3 tangent, bitangent;
  TouchRows J_a, J_b;
  Vec6 w = Vec6::Zero(), gamma = Vec6::Zero();
  Vec6 x = Vec6::Zero();    // forces along the rows: N, N m
  double inverse_mass = 0;  // of the normal row, 1/kg
  double rate = 0;          // 1/s, how fast the point runs over the bodies, or they turn

  [[nodiscard]] Vec2 velocity(const TouchFriction& f) const { return {w[f.first], f.count > 1 ? w[f.first + 1] : 0}; }
  [[nodiscard]] Vec2 force(const TouchFriction& f) const { return {x[f.first], f.count > 1 ? x[f.first + 1] : 0}; }
};

/// The contact at a point of a manifold, bodies where `kinematics` has them, with what drags() says of it.
Touch make_touch(const Manifold& manifold, int point, const Vec3& drag, const Model& model, const Kinematics& kinematics,
                 const CollisionShape& a, const CollisionShape& b, double size);
/// Its place, frame, rows and velocities at these kinematics, and gamma where asked for.
void evaluate(Touch& touch, const Kinematics& kinematics, bool with_gamma);

/// Whether both are the same point of the same two parts.
inline bool same_place(const Touch& p, const Touch& q) {
  return p.a == q.a && p.b == q.b && p.part_a == q.part_a && p.part_b == q.part_b && same_features(p.features, q.features);
}

}  // namespace rotule
