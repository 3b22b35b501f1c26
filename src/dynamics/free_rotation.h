#pragma once
// The free rotation of a rigid body over h seconds, symplectic and reversible, by splitting its energy in principal axes
//   T = |L|^2 / (2 A) + (1/C - 1/A) L_c^2 / 2   +   (1/B - 1/A) L_b^2 / 2,
// the first part a symmetric top, which turns about L and then about its axis c, the second a turn about b; half of the second
// goes before, half after. Axes are named such that A and B are the two nearest moments. Exact where they are equal, else of
// order 2 (Touma and Wisdom, Astron. J. 107, 1994; Fasso, J. Comp. Phys. 189, 2003).
#include <cmath>

#include "math/rotation.h"

namespace rotule {

class FreeRotor {
 public:
  /// `inertia` about the centre of mass, in body axes, positive definite.
  explicit FreeRotor(const Mat3& inertia);

  /// Turns the body and its angular velocity (world axes).
  void drift(Quat& theta, Vec3& omega, double h) const {
    Quat q = theta * axes_;
    q.normalize();
    Vec3 L = moments_.cwiseProduct(rotated(q.conjugate(), omega));
    const Vec3 L_W = rotated(q, L);  // does not change; taken up again at the end, so that rounding does not add up in it
    const double excess = 1 / moments_[1] - 1 / moments_[0];
    if (excess != 0) turn_about<1>(q, L, h / 2 * excess * L[1]);
    q = q * exp_rotation(h / moments_[0] * L);
    turn_about<2>(q, L, h * (1 / moments_[2] - 1 / moments_[0]) * L[2]);
    if (excess != 0) turn_about<1>(q, L, h / 2 * excess * L[1]);
    q.normalize();
    omega = rotated(q, rotated(q.conjugate(), L_W).cwiseQuotient(moments_));
    theta = (q * axes_.conjugate()).normalized();
  }

  /// The same in as many parts as the turn asks for, with the energy kept as well: not symplectic, but what flies on its own
  /// neither gains nor loses.
  void glide(Quat& theta, Vec3& omega, double h) const;

 private:
  /// Rounding in a quaternion's product with a vector has a sign: lengths grow by 1e-16 each time, which a million steps show.
  static Vec3 rotated(const Quat& q, const Vec3& v) {
    const Vec3 out = q * v;
    const double now = out.squaredNorm();
    return now > 0 ? Vec3(out + 0.5 * (v.squaredNorm() - now) / now * out) : out;
  }

  /// The body turns by `angle` about its k-th axis; the angular momentum, seen from it, turns back.
  template <int k>
  static void turn_about(Quat& q, Vec3& L, double angle) {
    constexpr int i = (k + 1) % 3, j = (k + 2) % 3;
    const double c = std::cos(angle), s = std::sin(angle), L_i = L[i], L_j = L[j];
    L[i] = c * L_i + s * L_j;
    L[j] = c * L_j - s * L_i;
    Vec3 half = Vec3::Zero();
    half[k] = std::sin(angle / 2);
    q = q * Quat(std::cos(angle / 2), half[0], half[1], half[2]);
  }

  Quat axes_;     // principal to body axes
  Vec3 moments_;  // A, B, C
};

}  // namespace rotule
