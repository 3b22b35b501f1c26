#include "dynamics/tree/recursions.h"

#include "math/rotation.h"

namespace rotule {

namespace {

/// J of a point mass m at r, and of what has first moment h besides: what second moments gain by a shift of r.
void add_shifted(const Mat3& J, const Vec3& h, double m, const Vec3& r, Mat3& out) {
  const Vec3 g = h + 0.5 * m * r;
  out += J - r * g.transpose() - g * r.transpose();
  out.diagonal().array() += 2 * r.dot(g);
}

}  // namespace

void CompositeBodies::mass_matrix(const Tree& tree, const std::vector<LinkPose<double>>& poses, MatX& H) {
  H.setZero(tree.velocities, tree.velocities);
  moments_.resize(tree.links.size());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    Moments& own = moments_[i];
    own.m = link.mass;
    if (link.mass == 0) {
      own.h.setZero();
      own.J.setZero();
      continue;
    }
    const LinkPose<double>& at = poses[i];
    own.h = link.mass * at.c;
    own.J.noalias() = at.R * link.I * at.R.transpose();
    own.J -= own.h * at.c.transpose();
    own.J.diagonal().array() += own.h.dot(at.c);
  }

  // Momentum of everything carried at a unit rate, seen by one ancestor after the other.
  const auto climb = [&](std::size_t i, const Vec3& f, Vec3 n, int column) {
    for (int j = static_cast<int>(i); j >= 0; j = tree.links[j].parent) {
      const TreeLink& link = tree.links[j];
      const LinkPose<double>& at = poses[j];
      switch (link.kind) {
        case TreeLink::Kind::hinge:
          H(link.velocity, column) = H(column, link.velocity) = at.z.dot(n);
          break;
        case TreeLink::Kind::slider:
          H(link.velocity, column) = H(column, link.velocity) = at.z.dot(f);
          break;
        case TreeLink::Kind::ball: {
          const Vec3 share = at.B.transpose() * n;
          H.col(column).segment<3>(link.velocity) = share;
          H.row(column).segment<3>(link.velocity) = share.transpose();
          break;
        }
        case TreeLink::Kind::weld:
          break;
      }
      n += at.r.cross(f);
    }
  };
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose<double>& at = poses[i];
    const Moments& all = moments_[i];
    if (link.kind == TreeLink::Kind::hinge) climb(i, at.z.cross(all.h), all.J * at.z, link.velocity);
    if (link.kind == TreeLink::Kind::slider) climb(i, all.m * at.z, all.h.cross(at.z), link.velocity);
    if (link.kind == TreeLink::Kind::ball)
      for (int k = 0; k < 3; ++k) climb(i, at.B.col(k).cross(all.h), all.J * at.B.col(k), link.velocity + k);
    if (link.parent < 0) continue;
    Moments& p = moments_[link.parent];
    p.m += all.m;
    p.h += all.h + all.m * at.r;
    add_shifted(all.J, all.h, all.m, at.r, p.J);
  }
}

void ArticulatedBodies::factor(const Tree& tree, const std::vector<LinkPose<double>>& poses) {
  factors_.resize(tree.links.size());
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    LinkFactor& at = factors_[i];
    if (link.mass == 0) {
      at.M.setZero();
      at.H.setZero();
      at.J.setZero();
      continue;
    }
    const LinkPose<double>& pose = poses[i];
    const Vec3 h = link.mass * pose.c;
    at.M = link.mass * Mat3::Identity();
    at.H = -skew(h);
    at.J.noalias() = pose.R * link.I * pose.R.transpose();
    at.J -= h * pose.c.transpose();
    at.J.diagonal().array() += h.dot(pose.c);
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose<double>& pose = poses[i];
    LinkFactor& at = factors_[i];
    if (link.kind == TreeLink::Kind::ball) {
      at.J_inverse = at.J.inverse();
      at.K.noalias() = at.H * at.J_inverse;
      at.M -= at.K * at.H.transpose();
      at.H.setZero();
      at.J.setZero();
    } else if (link.kind != TreeLink::Kind::weld) {
      const bool turns = link.kind == TreeLink::Kind::hinge;
      at.U_f = turns ? Vec3(at.H * pose.z) : Vec3(at.M * pose.z);
      at.U_n = turns ? Vec3(at.J * pose.z) : Vec3(at.H.transpose() * pose.z);
      at.inverse_D = 1 / pose.z.dot(turns ? at.U_n : at.U_f);
      const Vec3 w_f = at.inverse_D * at.U_f, w_n = at.inverse_D * at.U_n;
      at.M -= w_f * at.U_f.transpose();
      at.H -= w_f * at.U_n.transpose();
      at.J -= w_n * at.U_n.transpose();
    }
    if (link.parent < 0) continue;
    // About the parent's origin: H' = H - M [r], J' = J + [r] H' + ([r] H)^T.
    LinkFactor& p = factors_[link.parent];
    const Mat3 r = skew(pose.r), H = at.H - at.M * r;
    p.M += at.M;
    p.H += H;
    p.J += at.J + r * H + (r * at.H).transpose();
  }
}

void ArticulatedBodies::accelerations(const Tree& tree, const std::vector<LinkPose<double>>& poses, const Vec3& gravity,
                                      const double* u, const double* tau, const double* forces, double* udot) {
  bias_.resize(tree.links.size());
  static const LinkBias still;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkPose<double>& pose = poses[i];
    LinkBias& at = bias_[i];
    at.c_f.setZero();
    at.c_n.setZero();
    at.p_f.setZero();
    at.p_n.setZero();
    if (u) {
      const LinkBias& p = link.parent < 0 ? still : bias_[link.parent];
      at.w = p.w;
      at.c_f = p.w.cross(p.w.cross(pose.r));
      if (link.kind == TreeLink::Kind::slider) {
        at.c_f += p.w.cross(2 * u[link.velocity] * pose.z);
      } else if (link.kind != TreeLink::Kind::weld) {
        const Vec3 turn = link.kind == TreeLink::Kind::hinge ? Vec3(u[link.velocity] * pose.z)
                                                             : Vec3(pose.B * Eigen::Map<const Vec3>(u + link.velocity));
        at.w += turn;
        at.c_n = p.w.cross(turn);
      }
      if (link.mass > 0) {
        const Vec3 spin = pose.R.transpose() * at.w;
        at.p_f = link.mass * at.w.cross(at.w.cross(pose.c));
        at.p_n = pose.R * spin.cross(link.I * spin);
      }
    }
    if (link.mass > 0) {
      if (forces) {
        at.p_f -= Eigen::Map<const Vec3>(forces + 6 * static_cast<std::ptrdiff_t>(link.body));
        at.p_n -= Eigen::Map<const Vec3>(forces + 6 * static_cast<std::ptrdiff_t>(link.body) + 3);
      }
      at.p_n += pose.c.cross(at.p_f);
    }
  }

  // Leaves first: what is left for each joint, and what it hands to its parent.
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const TreeLink& link = tree.links[i];
    const LinkPose<double>& pose = poses[i];
    const LinkFactor& factor = factors_[i];
    LinkBias& at = bias_[i];
    Vec3 f = at.p_f, n = at.p_n;
    if (u) {
      f += factor.M * at.c_f + factor.H * at.c_n;
      n += factor.H.transpose() * at.c_f + factor.J * at.c_n;
    }
    if (link.kind == TreeLink::Kind::ball) {
      at.torque = -at.p_n;
      if (tau) at.torque += pose.B * Eigen::Map<const Vec3>(tau + link.velocity);
      f += factor.K * at.torque;
      n += at.torque;
    } else if (link.kind != TreeLink::Kind::weld) {
      const double left = (tau ? tau[link.velocity] : 0.0) - pose.z.dot(link.kind == TreeLink::Kind::hinge ? at.p_n : at.p_f);
      at.torque[0] = left;
      f += left * factor.inverse_D * factor.U_f;
      n += left * factor.inverse_D * factor.U_n;
    }
    if (link.parent < 0) continue;
    LinkBias& p = bias_[link.parent];
    p.p_f += f;
    p.p_n += n + pose.r.cross(f);
  }

  // From the ground: accelerations.
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    const LinkPose<double>& pose = poses[i];
    const LinkFactor& factor = factors_[i];
    LinkBias& at = bias_[i];
    if (link.parent < 0) {
      at.a = at.c_f - gravity;
      at.dw = at.c_n;
    } else {
      const LinkBias& p = bias_[link.parent];
      at.a = p.a + p.dw.cross(pose.r) + at.c_f;
      at.dw = p.dw + at.c_n;
    }
    if (link.kind == TreeLink::Kind::ball) {
      const Vec3 change = factor.J_inverse * at.torque - factor.K.transpose() * at.a - at.dw;
      Eigen::Map<Vec3>(udot + link.velocity) = pose.B.transpose() * change;
      at.dw += change;
    } else if (link.kind != TreeLink::Kind::weld) {
      const double change = factor.inverse_D * (at.torque[0] - factor.U_f.dot(at.a) - factor.U_n.dot(at.dw));
      udot[link.velocity] = change;
      (link.kind == TreeLink::Kind::hinge ? at.dw : at.a) += change * pose.z;
    }
  }
}

void ArticulatedBodies::write_accelerations(const Tree& tree, const std::vector<LinkPose<double>>& poses, bool moving,
                                            VecX& udot) const {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const int body = tree.links[i].body;
    if (body < 0) continue;
    const LinkBias& at = bias_[i];
    Vec3 a = at.a + at.dw.cross(poses[i].c);
    if (moving) a += at.w.cross(at.w.cross(poses[i].c));
    udot.segment<6>(6 * body) << a, at.dw;
  }
}

void point_jacobian(const Tree& tree, const std::vector<LinkPose<double>>& poses, int link, const Vec3& point, MatX& J) {
  J.setZero(6, tree.velocities);
  for (int i = link; i >= 0; i = tree.links[i].parent) {
    const TreeLink& at = tree.links[i];
    const LinkPose<double>& pose = poses[i];
    const Vec3 arm = point - pose.o;
    if (at.kind == TreeLink::Kind::slider) J.col(at.velocity).head<3>() = pose.z;
    if (at.kind == TreeLink::Kind::hinge) J.col(at.velocity) << pose.z.cross(arm), pose.z;
    if (at.kind == TreeLink::Kind::ball)
      for (int k = 0; k < 3; ++k) J.col(at.velocity + k) << pose.B.col(k).cross(arm), pose.B.col(k);
  }
}

void write_bodies(const Tree& tree, const std::vector<LinkPose<double>>& poses, const std::vector<LinkMotion<double>>* motions,
                  State& s) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    if (link.body < 0) continue;
    const LinkPose<double>& pose = poses[i];
    s.p[link.body] = pose.o + pose.c;
    s.theta[link.body] = Quat(Mat3(pose.R * link.body_axes)).normalized();
    if (!motions) continue;
    const LinkMotion<double>& motion = (*motions)[i];
    s.v(link.body) = motion.v + motion.w.cross(pose.c);
    s.omega(link.body) = motion.w;
  }
}

}  // namespace rotule
