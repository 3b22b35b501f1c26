#pragma once
// Recursions over trees (A15; R. Featherstone, Rigid Body Dynamics Algorithms, 2008), in world axes: nothing is turned from link
// to link, and quantities of a link refer to its own origin o. With r = o - o_parent, z the joint's axis, g gravity:
//   Newton-Euler      w = w_p + z q',  w' = w_p' + z q'' + w_p x z q',  a = a_p + w_p' x r + w_p x (w_p x r), a = -g at the
//                     ground; leaves first, f and n are handed to parents, f_p += f, n_p += n + r x f, and tau = z . n
//   composite body    mass, first and second moments of all that a joint carries; H_ij = z_j . (what z_i's unit rate needs)
//   articulated body  I_A = [M H; H^T J] of a link with all that hangs on it, less what its joint lets go, U U^T / D
// Each takes time proportional to the number of links (composite body: times their depth). Kernels are templates over a number,
// so that derivatives come from the same lines (dual.h).
#include <cmath>
#include <vector>

#include "dynamics/tree/tree.h"

namespace rotule {

template <class T>
using Vec3T = Eigen::Matrix<T, 3, 1>;
template <class T>
using Mat3T = Eigen::Matrix<T, 3, 3>;

/// Where a link is.
template <class T>
struct LinkPose {
  Mat3T<T> R = Mat3T<T>::Identity();  // its axes
  Vec3T<T> o = Vec3T<T>::Zero();      // its origin
  Vec3T<T> r = Vec3T<T>::Zero();      // from the parent's
  Vec3T<T> z = Vec3T<T>::Zero();      // axis of its joint
  Vec3T<T> c = Vec3T<T>::Zero();      // centre of mass, from its origin
  Mat3T<T> B = Mat3T<T>::Zero();      // of a ball: angular velocity against the parent, per rate
};

template <class T>
void place_links(const Tree& tree, const T* q, std::vector<LinkPose<T>>& poses) {
  using std::cos;
  using std::sin;
  poses.resize(tree.links.size());
  static const LinkPose<T> ground;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkPose<T>& p = link.parent < 0 ? ground : poses[link.parent];
    LinkPose<T>& out = poses[i];
    const Mat3T<T> F = p.R * link.E.template cast<T>();
    out.r = p.R * link.r.template cast<T>();
    switch (link.kind) {
      case TreeLink::Kind::hinge: {
        const T angle = q[link.position], c = cos(angle), s = sin(angle);
        out.z = F.col(2);
        out.R.col(0) = c * F.col(0) + s * F.col(1);
        out.R.col(1) = c * F.col(1) - s * F.col(0);
        out.R.col(2) = F.col(2);
        break;
      }
      case TreeLink::Kind::slider:
        out.z = F.col(2);
        out.R = F;
        out.r += q[link.position] * out.z;
        break;
      case TreeLink::Kind::ball: {
        const T *x = q + link.position, two(2);
        Mat3T<T> Q;
        Q << T(1) - two * (x[1] * x[1] + x[2] * x[2]), two * (x[0] * x[1] - x[3] * x[2]), two * (x[0] * x[2] + x[3] * x[1]),
            two * (x[0] * x[1] + x[3] * x[2]), T(1) - two * (x[0] * x[0] + x[2] * x[2]), two * (x[1] * x[2] - x[3] * x[0]),
            two * (x[0] * x[2] - x[3] * x[1]), two * (x[1] * x[2] + x[3] * x[0]), T(1) - two * (x[0] * x[0] + x[1] * x[1]);
        if (link.reversed) {
          out.R = F * Q.transpose();
          out.B = -out.R;
        } else {
          out.R = F * Q;
          out.B = F;
        }
        break;
      }
      case TreeLink::Kind::weld:
        out.R = F;
        break;
    }
    out.o = p.o + out.r;
    if (link.mass > 0) out.c = out.R * link.c.template cast<T>();
  }
}

/// How a link moves, and what acts on it.
template <class T>
struct LinkMotion {
  Vec3T<T> w = Vec3T<T>::Zero(), dw = Vec3T<T>::Zero();  // angular velocity and acceleration
  Vec3T<T> v = Vec3T<T>::Zero(), a = Vec3T<T>::Zero();   // of its origin
  Vec3T<T> f = Vec3T<T>::Zero(), n = Vec3T<T>::Zero();   // force through its joint, and its moment about the origin
};

/// Velocities of links.
template <class T>
void move_links(const Tree& tree, const std::vector<LinkPose<T>>& poses, const T* u, std::vector<LinkMotion<T>>& motions) {
  motions.resize(tree.links.size());
  static const LinkMotion<T> ground;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkMotion<T>& p = link.parent < 0 ? ground : motions[link.parent];
    const LinkPose<T>& at = poses[i];
    LinkMotion<T>& out = motions[i];
    out.w = p.w;
    out.v = p.v + p.w.cross(at.r);
    if (link.kind == TreeLink::Kind::hinge) out.w += u[link.velocity] * at.z;
    if (link.kind == TreeLink::Kind::slider) out.v += u[link.velocity] * at.z;
    if (link.kind == TreeLink::Kind::ball) out.w += at.B * Eigen::Map<const Vec3T<T>>(u + link.velocity);
  }
}

/// Newton and Euler: tau for rates u and accelerations udot, links standing where they were placed. `forces`: six numbers per
/// body, at its centre of mass in world axes, or none. Null for u or udot means zero.
template <class T>
void newton_euler(const Tree& tree, const std::vector<LinkPose<T>>& poses, const Vec3& gravity, const T* u, const T* udot,
                  const double* forces, std::vector<LinkMotion<T>>& motions, T* tau) {
  motions.resize(tree.links.size());
  LinkMotion<T> ground;
  ground.a = -gravity.template cast<T>();
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkMotion<T>& p = link.parent < 0 ? ground : motions[link.parent];
    const LinkPose<T>& at = poses[i];
    LinkMotion<T>& m = motions[i];
    m.w = p.w;
    m.dw = p.dw;
    m.a = p.a + p.dw.cross(at.r) + p.w.cross(p.w.cross(at.r));
    const int k = link.velocity;
    switch (link.kind) {
      case TreeLink::Kind::hinge:
        if (udot) m.dw += udot[k] * at.z;
        if (u) {
          const Vec3T<T> turn = u[k] * at.z;
          m.w += turn;
          m.dw += p.w.cross(turn);
        }
        break;
      case TreeLink::Kind::slider:
        if (udot) m.a += udot[k] * at.z;
        if (u) m.a += p.w.cross((T(2) * u[k]) * at.z);
        break;
      case TreeLink::Kind::ball:
        if (udot) m.dw += at.B * Eigen::Map<const Vec3T<T>>(udot + k);
        if (u) {
          const Vec3T<T> turn = at.B * Eigen::Map<const Vec3T<T>>(u + k);
          m.w += turn;
          m.dw += p.w.cross(turn);
        }
        break;
      case TreeLink::Kind::weld:
        break;
    }
    if (link.mass > 0) {
      const Mat3T<T> I = link.I.template cast<T>();
      m.f = T(link.mass) * (m.a + m.dw.cross(at.c) + m.w.cross(m.w.cross(at.c)));
      const Vec3T<T> spin = at.R.transpose() * m.w, change = at.R.transpose() * m.dw;
      m.n = at.R * (I * change + spin.cross(I * spin));
      if (forces) {
        m.f -= Eigen::Map<const Vec3>(forces + 6 * static_cast<std::ptrdiff_t>(link.body)).template cast<T>();
        m.n -= Eigen::Map<const Vec3>(forces + 6 * static_cast<std::ptrdiff_t>(link.body) + 3).template cast<T>();
      }
      m.n += at.c.cross(m.f);
    } else {
      m.f.setZero();
      m.n.setZero();
    }
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose<T>& at = poses[i];
    const LinkMotion<T>& m = motions[i];
    if (link.kind == TreeLink::Kind::hinge) tau[link.velocity] = at.z.dot(m.n);
    if (link.kind == TreeLink::Kind::slider) tau[link.velocity] = at.z.dot(m.f);
    if (link.kind == TreeLink::Kind::ball) Eigen::Map<Vec3T<T>>(tau + link.velocity) = at.B.transpose() * m.n;
    if (link.parent < 0) continue;
    LinkMotion<T>& p = motions[link.parent];
    p.f += m.f;
    p.n += m.n + at.r.cross(m.f);
  }
}

/// The mass matrix H by composite bodies.
class CompositeBodies {
 public:
  CompositeBodies();
  CompositeBodies(CompositeBodies&&) noexcept;
  CompositeBodies& operator=(CompositeBodies&&) noexcept;
  ~CompositeBodies();

  void mass_matrix(const Tree& tree, const std::vector<LinkPose<double>>& poses, MatX& H);

 private:
  struct Moments;
  std::vector<Moments> moments_;
};

/// H^-1 by articulated bodies: factored once per pose, then applied as often as wanted.
class ArticulatedBodies {
 public:
  ArticulatedBodies();
  ArticulatedBodies(ArticulatedBodies&&) noexcept;
  ArticulatedBodies& operator=(ArticulatedBodies&&) noexcept;
  ~ArticulatedBodies();

  void factor(const Tree& tree, const std::vector<LinkPose<double>>& poses);
  /// Accelerations under tau and forces on bodies (null: none) at rates u (null: at rest); links stand as they were factored.
  void accelerations(const Tree& tree, const std::vector<LinkPose<double>>& poses, const Vec3& gravity, const double* u,
                     const double* tau, const double* forces, double* udot);
  /// Accelerations of bodies as found last, six numbers each; of those that never move left as they are. `moving`: whether
  /// that was at rates.
  void write_accelerations(const Tree& tree, const std::vector<LinkPose<double>>& poses, bool moving, VecX& udot) const;
  /// A row of G L^-T D^-1/2, H^-1 being L^-T D^-1 L^-1 as articulated bodies have it: what a force on a link (six numbers, at its
  /// body's centre of mass) leaves for the joints above, over the root of what each of them moves, added to both `y` and `Dy`.
  /// Products y_r . Dy_s are then G H^-1 G^T, and only joints between a row's links and the ground are visited.
  void innovate(const Tree& tree, int link, const Vec6& force, double* y, double* Dy) const;
  /// H^-1 x.
  void solve(const Tree& tree, const std::vector<LinkPose<double>>& poses, const double* x, double* out) {
    accelerations(tree, poses, Vec3::Zero(), nullptr, x, nullptr, out);
  }

 private:
  struct LinkFactor;
  struct LinkBias;
  std::vector<LinkFactor> factors_;
  std::vector<LinkBias> bias_;
};

/// Column by column: velocity of the point and angular velocity of its link per rate, rows linear then angular. The point is
/// given in the world.
void point_jacobian(const Tree& tree, const std::vector<LinkPose<double>>& poses, int link, const Vec3& point, MatX& J);

/// Poses of bodies, and, where motions are given, their velocities, from those of their links.
void write_bodies(const Tree& tree, const std::vector<LinkPose<double>>& poses, const std::vector<LinkMotion<double>>* motions,
                  State& s);

}  // namespace rotule
