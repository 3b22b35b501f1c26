#pragma once
// One contact point between two bodies (D1): unit normal n from a to b, gap phi, frame [n t b]. With r = point - p,
//   J = [n t b]^T [-1, [r_a]x, 1, -[r_b]x]:
// the velocity of b's point relative to a's, along the normal and two tangents; then, where the surfaces ask for it, turning
// about the normal and rolling about the tangents, of b relative to a.
//
// The points of a flat patch stand for all of it. Their normal forces act at its corners, which decides when a body tips. Their
// friction acts nearer to its middle, at the mean distance of all points of the patch (collide/narrow/patch_lever.h): so four
// points resist spinning as the whole patch does under even pressure. A force along the surface that is moved along the surface
// changes no other moment.
#include <rotule/contacts.h>
#include <rotule/problem.h>

#include <array>
#include <span>

#include "collide/narrow/manifold.h"
#include "constraint/rows.h"

namespace rotule {

struct Contact {
  int a = world_body, b = world_body;
  std::uint64_t feature = 0;  // tells the points of a pair apart; the same from step to step
  Vec3 normal, tangent, bitangent, point;
  Vec3 on_a, on_b;           // the surfaces' points, in each body's axes from its centre of mass
  Vec3 drag = Vec3::Zero();  // from the point to where friction acts, along the surfaces: nearer to the middle of a flat patch
  double gap = 0;
  double size = 0;                 // of the smaller body, m
  SurfaceLaw law;                  // of the two surfaces together
  bool sliding = false;            // which coefficient is in force
  bool met = false;                // on the way: each body has its own point, which is not near the other's yet
  bool held = false;               // gave way to motions that are given, in the last solve
  std::array<char, 5> spare = {};  // no byte of a snapshot is left to chance
  double closing = 0;              // m/s, at which the surfaces approach each other at the start of the step
  Vec6 x = Vec6::Zero();           // impulses of the last solve, N s and N m s
  Vec6 given = Vec6::Zero();       // velocities of its rows that nobody solves for: of kinematic bodies and belts
  Vec3 belt = Vec3::Zero();        // m/s, of the belt on b relative to that on a, along the surfaces
  std::array<char, 8> more_spare = {};

  /// Rows of its block: the normal; sliding, if there is friction; turning; rolling.
  [[nodiscard]] bool slides() const { return law.static_friction > 0; }
  [[nodiscard]] int rows() const {
    return 1 + (slides() ? 2 : 0) + (law.torsional_friction > 0 ? 1 : 0) + (law.rolling_friction > 0 ? 2 : 0);
  }
  [[nodiscard]] int friction_groups() const {
    return (slides() ? 1 : 0) + (law.torsional_friction > 0 ? 1 : 0) + (law.rolling_friction > 0 ? 1 : 0);
  }
  [[nodiscard]] double friction() const { return sliding ? law.friction : law.static_friction; }
  [[nodiscard]] Vec3 impulse() const {
    return x[0] * normal + (slides() ? Vec3(x[1] * tangent + x[2] * bitangent) : Vec3::Zero());
  }
};

static_assert(sizeof(Contact) == 32 + 46 * sizeof(double), "has holes");

/// The point at which two surfaces count as touching, for any lane type: between their material points.
template <class L>
Vec3L<L> touching_point(const BodyLanes<L>& A, const BodyLanes<L>& B, const Vec3L<L>& on_a, const Vec3L<L>& on_b) {
  return L(0.5) * ((A.p + A.R * on_a) + (B.p + B.R * on_b));
}
/// How far apart those are along the normal.
template <class L>
L gap_along(const Vec3L<L>& normal, const BodyLanes<L>& A, const BodyLanes<L>& B, const Vec3L<L>& on_a, const Vec3L<L>& on_b) {
  return normal.dot((B.p + B.R * on_b) - (A.p + A.R * on_a));
}
/// One body's share of the velocity along d at r from its centre of mass; `sign` is 1 for b, -1 for a.
template <class L>
RowSide<L> velocity_along(const Vec3L<L>& d, const Vec3L<L>& r, L sign) {
  return {sign * d, sign * r.cross(d)};
}
template <class L>
RowSide<L> turn_about(const Vec3L<L>& d, L sign) {
  return {Vec3L<L>::Zero(), sign * d};
}

/// Both surfaces have a say: the geometric mean of friction, the larger restitution, rolling and torsional friction; two springs
/// in series, damped in the same proportion, where either is soft.
SurfaceLaw combine(const SurfaceLaw& p, const SurfaceLaw& q);
/// The same, where the scene may say something of their pair of materials.
SurfaceLaw surface_between(const Model& model, const SurfaceLaw& p, int material_p, const SurfaceLaw& q, int material_q);
/// The same for two bodies.
SurfaceLaw surface_between(const Model& model, int a, int b);

/// From each point of a manifold, along the surfaces, to where its friction acts.
std::array<Vec3, Manifold::capacity> drags(const Manifold& manifold);

/// The contacts of a manifold, one per point.
void append_contacts(const Manifold& manifold, const Model& model, const Kinematics& bodies, std::vector<Contact>& out);

/// What kinematic bodies and belts make of the contact's rows, as bodies move now.
void write_given(const Model& model, const Kinematics& bodies, Contact& contact);

/// The deepest overlap of all, m.
double penetration(std::span<const Contact> contacts);

/// The present gap between the two material points, along the normal as it was found.
double gap_now(const Contact& contact, const Kinematics& bodies);

/// J of the contact's block as its material points stand now, or of its normal alone where the block has one row; the sides of
/// immovable bodies are left alone.
void write_jacobian(const Contact& contact, const Kinematics& bodies, const ConstraintBlock& block, ConstraintProblem& problem);

/// Bounds and friction of the contact's block.
void write_laws(const Contact& contact, bool cone, const ConstraintBlock& block, ConstraintProblem& problem);

}  // namespace rotule
