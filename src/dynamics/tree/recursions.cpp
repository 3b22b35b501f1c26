#include "dynamics/tree/recursions.h"

#include <Eigen/Cholesky>

namespace rotule {

namespace {

/// A rigid link's second moments about its origin, in world axes: R I R^T + m (c^2 1 - c c^T), with h = m c.
ROTULE_LANES3_INLINE Matrix3Lanes second_moments(const TreeLink& link, const Matrix3Lanes& R, const Lanes3& c, const Lanes3& h) {
  Matrix3Lanes J = times(R, link.I) * transposed(R);
  J -= outer(h, c);
  add_diagonal(J, dot3(h, c));
  return J;
}

}  // namespace

ROTULE_WIDE void move_links(const Tree& tree, const LinkPoses& poses, const double* u, LinkMotions& motions) {
  motions.resize(tree.links.size());
  const LinkMotion ground;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkMotion& p = link.parent < 0 ? ground : motions[link.parent];
    const LinkPose& at = poses[i];
    LinkMotion& out = motions[i];
    out.w = p.w;
    out.v = p.v + cross3(p.w, at.r);
    if (link.kind == TreeLink::Kind::hinge) out.w += u[link.velocity] * at.z;
    if (link.kind == TreeLink::Kind::slider) out.v += u[link.velocity] * at.z;
    if (link.kind == TreeLink::Kind::ball) out.w += times(at.B, u + link.velocity);
  }
}

struct alignas(32) CompositeBodies::Moments {
  Lanes3 h = {};        // m c
  Matrix3Lanes J = {};  // about the origin
  double m = 0;
};

CompositeBodies::CompositeBodies() = default;
CompositeBodies::CompositeBodies(CompositeBodies&&) noexcept = default;
CompositeBodies& CompositeBodies::operator=(CompositeBodies&&) noexcept = default;
CompositeBodies::~CompositeBodies() = default;

ROTULE_WIDE const MatX& CompositeBodies::mass_matrix(const Tree& tree, const LinkPoses& poses) {
  if (H_.rows() != tree.velocities) H_.setZero(tree.velocities, tree.velocities);
  moments_.resize(tree.links.size());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    Moments& own = moments_[i];
    own.m = link.mass;
    if (link.mass == 0) {
      own.h = Lanes3{};
      own.J = {};
      continue;
    }
    own.h = link.mass * poses[i].c;
    own.J = second_moments(link, poses[i].R, poses[i].c, own.h);
  }

  double* const entries = H_.data();
  const std::ptrdiff_t n = tree.velocities;
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose& at = poses[i];
    const Moments& all = moments_[i];
    // Momentum of everything carried at a unit rate, seen by one ancestor after the other.
    for (int k = 0; k < link.rates(); ++k) {
      const bool slides = link.kind == TreeLink::Kind::slider;
      const Lanes3 z = link.kind == TreeLink::Kind::ball ? (k == 0 ? at.B.x : k == 1 ? at.B.y : at.B.z) : at.z;
      const Lanes3 f = slides ? all.m * z : cross3(z, all.h);
      Lanes3 moment = !slides ? all.J * z : link.travels ? Lanes3{} : cross3(all.h, z);
      const std::ptrdiff_t column = link.velocity + k;
      const auto put = [&](std::ptrdiff_t row, double x) { entries[column * n + row] = entries[row * n + column] = x; };
      for (int j = static_cast<int>(i); j >= 0; j = tree.links[j].parent) {
        const TreeLink& above = tree.links[j];
        const LinkPose& pose = poses[j];
        if (above.kind == TreeLink::Kind::hinge) {
          put(above.velocity, dot3(pose.z, moment));
        } else if (above.kind == TreeLink::Kind::slider) {
          put(above.velocity, dot3(pose.z, f));
        } else if (above.kind == TreeLink::Kind::ball) {
          const Lanes3 share = transposed_times(pose.B, moment);
          for (int l = 0; l < 3; ++l) put(above.velocity + l, share[l]);
        }
        if (!above.travels) moment += cross3(pose.r, f);
      }
      entries[column * n + column] += link.rotor;
    }
    if (link.parent < 0) continue;
    Moments& p = moments_[link.parent];
    if (tree.links[link.parent].travels) {  // and asks for the mass alone
      p.m += all.m;
      continue;
    }
    // About the parent's origin.
    const Lanes3 r = at.r, g = all.h + 0.5 * all.m * r;
    p.m += all.m;
    p.h += all.h + all.m * r;
    p.J += all.J;
    p.J -= outer(r, g);
    p.J -= outer(g, r);
    add_diagonal(p.J, 2 * dot3(r, g));
  }
  return H_;
}

struct alignas(32) ArticulatedBodies::LinkFactor {
  Matrix3Lanes M = {}, H = {}, J = {};  // I_A, less what the joint lets go
  Matrix3Lanes own = {};                // second moments of the link alone
  Lanes3 U_f = {}, U_n = {};
  Lanes3 z = {}, r = {}, c = {};        // of the link's pose
  Matrix3Lanes K = {}, J_inverse = {};  // of a ball: H J^-1
  double inverse_D = 0;
};

struct alignas(32) ArticulatedBodies::LinkBias {
  Lanes3 w = {};              // angular velocity
  Lanes3 c_f = {}, c_n = {};  // acceleration that rates alone give
  Lanes3 p_f = {}, p_n = {};  // force without acceleration
  Lanes3 a = {}, dw = {};     // accelerations
  Lanes3 left = {};           // what is left for the joint; for one axis its first number
};

ArticulatedBodies::ArticulatedBodies() = default;
ArticulatedBodies::ArticulatedBodies(ArticulatedBodies&&) noexcept = default;
ArticulatedBodies& ArticulatedBodies::operator=(ArticulatedBodies&&) noexcept = default;
ArticulatedBodies::~ArticulatedBodies() = default;

ROTULE_WIDE void ArticulatedBodies::factor(const Tree& tree, const LinkPoses& poses, const double* weights) {
  factors_.resize(tree.links.size());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    LinkFactor& at = factors_[i];
    at.M = at.H = at.J = {};
    at.z = poses[i].z;
    at.r = poses[i].r;
    if (link.mass == 0) continue;
    at.c = poses[i].c;
    const Lanes3 h = link.mass * at.c;
    add_diagonal(at.M, link.mass);
    // H = -[h].
    at.H = {Lanes3{0, -h[2], h[1], 0}, Lanes3{h[2], 0, -h[0], 0}, Lanes3{-h[1], h[0], 0, 0}};
    at.J = at.own = second_moments(link, poses[i].R, at.c, h);
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    LinkFactor& at = factors_[i];
    const Lanes3 z = at.z;
    switch (link.kind) {
      case TreeLink::Kind::ball: {
        // Symmetric to the last bit: what rounding makes skew would grow from link to link, and swamp a long chain.
        const Mat3 J = mat3(at.J), inverse = Mat3(0.5 * (J + J.transpose())).inverse();
        at.J_inverse = lanes3(Mat3(0.5 * (inverse + inverse.transpose())));
        at.K = at.H * at.J_inverse;
        at.M -= at.K * transposed(at.H);
        const Mat3 M = mat3(at.M);
        at.M = lanes3(Mat3(0.5 * (M + M.transpose())));
        at.H = at.J = {};
        break;
      }
      case TreeLink::Kind::hinge:
      case TreeLink::Kind::slider: {
        const double geared = link.rotor + (weights ? weights[link.velocity] : 0.0);
        if (link.travels) {  // nothing before it turns: of the articulated body M alone is asked for
          at.U_f = at.M * z;
          at.inverse_D = 1 / (dot3(z, at.U_f) + geared);
          at.M -= outer(at.inverse_D * at.U_f, at.U_f);
          break;
        }
        const bool turns = link.kind == TreeLink::Kind::hinge;
        at.U_f = turns ? at.H * z : at.M * z;
        at.U_n = turns ? at.J * z : transposed_times(at.H, z);
        at.inverse_D = 1 / (dot3(z, turns ? at.U_n : at.U_f) + geared);
        const Lanes3 w_f = at.inverse_D * at.U_f, w_n = at.inverse_D * at.U_n;
        at.M -= outer(w_f, at.U_f);
        at.H -= outer(w_f, at.U_n);
        at.J -= outer(w_n, at.U_n);
        break;
      }
      case TreeLink::Kind::weld:
        break;
    }
    if (link.parent < 0) continue;
    if (tree.links[link.parent].travels) {
      factors_[link.parent].M += at.M;
      continue;
    }
    // About the parent's origin: H' = H - M [r], J' = J + W + W^T with W = [r] (H - M [r] / 2).
    LinkFactor& p = factors_[link.parent];
    const Matrix3Lanes shift = cross3(at.M, at.r);
    const Matrix3Lanes half = {at.H.x - 0.5 * shift.x, at.H.y - 0.5 * shift.y, at.H.z - 0.5 * shift.z};
    Matrix3Lanes W = cross3(at.r, half);
    W += transposed(W);
    p.M += at.M;
    p.H += at.H;
    p.H -= shift;
    p.J += at.J;
    p.J += W;
  }
}

ROTULE_WIDE void ArticulatedBodies::accelerations(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u,
                                                  const double* tau, const double* forces, double* udot) {
  bias_.resize(tree.links.size());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkFactor& factor = factors_[i];
    LinkBias& at = bias_[i];
    at.c_f = at.c_n = at.p_f = at.p_n = Lanes3{};
    if (u) {
      const Lanes3 w = link.parent < 0 ? Lanes3{} : bias_[link.parent].w;
      at.w = w;
      at.c_f = cross3(w, cross3(w, factor.r));
      if (link.kind == TreeLink::Kind::slider) {
        at.c_f += cross3(w, 2 * u[link.velocity] * factor.z);
      } else if (link.kind != TreeLink::Kind::weld) {
        const Lanes3 turn =
            link.kind == TreeLink::Kind::hinge ? u[link.velocity] * factor.z : times(poses[i].B, u + link.velocity);
        at.w += turn;
        at.c_n = cross3(w, turn);
      }
      if (link.mass > 0) {
        at.p_f = link.mass * cross3(at.w, cross3(at.w, factor.c));
        at.p_n = cross3(at.w, factor.own * at.w);
      }
    }
    if (forces && link.mass > 0) {
      const double* acting = forces + 6 * static_cast<std::ptrdiff_t>(link.body);
      const Lanes3 f = triple(acting);
      at.p_f -= f;
      at.p_n -= triple(acting + 3) + cross3(factor.c, f);
    }
  }

  // Leaves first: what is left for each joint, and what it hands to its parent.
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkFactor& factor = factors_[i];
    LinkBias& at = bias_[i];
    Lanes3 f = at.p_f, n = at.p_n;
    if (u) {
      f += factor.M * at.c_f + factor.H * at.c_n;
      n += transposed_times(factor.H, at.c_f) + factor.J * at.c_n;
    }
    if (link.kind == TreeLink::Kind::ball) {
      at.left = -at.p_n;
      if (tau) at.left += times(poses[i].B, tau + link.velocity);
      f += factor.K * at.left;
      n += at.left;
    } else if (link.kind != TreeLink::Kind::weld) {
      const double passed = dot3(factor.z, link.kind == TreeLink::Kind::hinge ? at.p_n : at.p_f);
      const double left = (tau ? tau[link.velocity] : 0.0) - passed;
      at.left = all_lanes(left);
      f += left * factor.inverse_D * factor.U_f;
      n += left * factor.inverse_D * factor.U_n;
    }
    if (link.parent < 0) continue;
    LinkBias& p = bias_[link.parent];
    p.p_f += f;
    if (!tree.links[link.parent].travels) p.p_n += n + cross3(factor.r, f);
  }

  // From the ground: accelerations.
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkFactor& factor = factors_[i];
    LinkBias& at = bias_[i];
    if (link.parent < 0) {
      at.a = at.c_f - lanes3(gravity);
      at.dw = at.c_n;
    } else {
      const LinkBias& p = bias_[link.parent];
      at.a = p.a + cross3(p.dw, factor.r) + at.c_f;
      at.dw = p.dw + at.c_n;
    }
    if (link.kind == TreeLink::Kind::ball) {
      const Lanes3 change = factor.J_inverse * at.left - transposed_times(factor.K, at.a) - at.dw;
      Eigen::Map<Vec3>(udot + link.velocity) = vec3(transposed_times(poses[i].B, change));
      at.dw += change;
    } else if (link.kind != TreeLink::Kind::weld) {
      const double change = factor.inverse_D * (at.left[0] - dot3(factor.U_f, at.a) - dot3(factor.U_n, at.dw));
      udot[link.velocity] = change;
      (link.kind == TreeLink::Kind::hinge ? at.dw : at.a) += change * factor.z;
    }
  }
}

void ArticulatedBodies::write_accelerations(const Tree& tree, const LinkPoses& poses, bool moving, VecX& udot) const {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const int body = tree.links[i].body;
    if (body < 0) continue;
    const LinkBias& at = bias_[i];
    const Lanes3 c = poses[i].c;
    Lanes3 a = at.a + cross3(at.dw, c);
    if (moving) a += cross3(at.w, cross3(at.w, c));
    udot.segment<3>(6 * body) = vec3(a);
    udot.segment<3>(6 * body + 3) = vec3(at.dw);
  }
}

ROTULE_WIDE void ArticulatedBodies::innovate(const Tree& tree, int link, const Vec6& force, double* y, double* Dy) const {
  Lanes3 f = -triple(force.data());
  Lanes3 n = -triple(force.data() + 3) + cross3(factors_[link].c, f);
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const TreeLink& at = tree.links[i];
    const LinkFactor& factor = factors_[i];
    if (at.kind == TreeLink::Kind::ball) {
      // J^-1 = C C^T.
      const Lanes3 left = -n;
      const Mat3 C = Mat3(mat3(factor.J_inverse).llt().matrixL());
      const Vec3 share = C.transpose() * vec3(left);
      for (int k = 0; k < 3; ++k) {
        y[at.velocity + k] += share[k];
        Dy[at.velocity + k] += share[k];
      }
      f += factor.K * left;
      n += left;
    } else if (at.kind != TreeLink::Kind::weld) {
      const double left = -dot3(factor.z, at.kind == TreeLink::Kind::hinge ? n : f), change = left * factor.inverse_D;
      const double share = left * std::sqrt(factor.inverse_D);
      y[at.velocity] += share;
      Dy[at.velocity] += share;
      f += change * factor.U_f;
      n += change * factor.U_n;
    }
    n += cross3(factor.r, f);
  }
}

void point_jacobian(const Tree& tree, const LinkPoses& poses, int link, const Vec3& point, MatX& J) {
  J.setZero(6, tree.velocities);
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const TreeLink& at = tree.links[i];
    const LinkPose& pose = poses[i];
    const Vec3 arm = point - vec3(pose.o), z = vec3(pose.z);
    if (at.kind == TreeLink::Kind::slider) J.col(at.velocity).head<3>() = z;
    if (at.kind == TreeLink::Kind::hinge) J.col(at.velocity) << z.cross(arm), z;
    if (at.kind == TreeLink::Kind::ball) {
      const Mat3 B = mat3(pose.B);
      for (int k = 0; k < 3; ++k) J.col(at.velocity + k) << B.col(k).cross(arm), B.col(k);
    }
  }
}

void write_bodies(const Tree& tree, const LinkPoses& poses, const LinkMotions* motions, State& s) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    if (link.body < 0) continue;
    const LinkPose& pose = poses[i];
    s.p[link.body] = vec3(pose.o + pose.c);
    s.theta[link.body] = Quat(Mat3(mat3(pose.R) * link.body_axes)).normalized();
    if (!motions) continue;
    const LinkMotion& motion = (*motions)[i];
    s.v(link.body) = vec3(motion.v + cross3(motion.w, pose.c));
    s.omega(link.body) = vec3(motion.w);
  }
}

}  // namespace rotule
