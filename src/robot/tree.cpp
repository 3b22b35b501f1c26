#include "robot/tree.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "base/text.h"
#include "math/pose.h"

namespace rotule::robot {

namespace {

/// A rotation about a point of the frame.
Pose about(const Vec3& at, const Quat& turn) { return {at - turn * at, turn}; }

Pose moved(const TreeJoint& joint, bool at_rest) {
  if (at_rest) return {};
  const double u = joint.q - joint.rest;
  switch (joint.kind) {
    case TreeJoint::Kind::hinge:
      return about(joint.at, Quat(Eigen::AngleAxisd(u, joint.axis)));
    case TreeJoint::Kind::slide:
      return {u * joint.axis, Quat::Identity()};
    case TreeJoint::Kind::ball:
      return about(joint.at, joint.turn);
    case TreeJoint::Kind::planar:
    case TreeJoint::Kind::free:
      break;
  }
  return {};
}

}  // namespace

std::vector<Pose> link_poses(const Tree& tree, bool at_rest, std::vector<std::vector<Pose>>* after) {
  std::vector<Pose> out(tree.links.size());
  if (after) after->assign(tree.links.size(), {});
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const TreeLink& link = tree.links[i];
    Pose X = link.parent < 0 ? link.rest : out[static_cast<std::size_t>(link.parent)] * link.rest;
    for (const TreeJoint& joint : link.joints) {
      X = joint.kind == TreeJoint::Kind::free && joint.placed && !at_rest ? Pose{joint.place, joint.turn}
                                                                          : X * moved(joint, at_rest);
      X.orientation.normalize();
      if (after) (*after)[i].push_back(X);
    }
    out[i] = X;
  }
  return out;
}

Mat3 possible_inertia(const Mat3& given, const Element& element, const std::string& whose, Remarks& remarks) {
  constexpr double rounding = 1e-9;
  constexpr double nothing = 1e-18;  // kg m^2, what subtractions leave of a point mass
  Mat3 symmetric = 0.5 * (given + given.transpose());
  const Eigen::SelfAdjointEigenSolver<Mat3> principal(symmetric);
  Vec3 moments = principal.eigenvalues();
  if (moments.isZero(0)) return symmetric;
  if (symmetric.diagonal().minCoeff() < -std::max(rounding * moments.cwiseAbs().maxCoeff(), nothing))
    element.fail(
        fmt::format("the inertia of {} has the moment {:.6g}; none can be negative", whose, symmetric.diagonal().minCoeff()));
  // Nothing that moves is to become lighter: what is missing is added to the two smaller ones.
  const Vec3 before = moments;
  moments = moments.cwiseMax(0.0);
  const double missing = moments[2] - moments[0] - moments[1];
  if (missing <= rounding * moments[2] && before[0] > 0) return symmetric;
  moments[0] += 0.5 * std::max(missing, 0.0);
  moments[1] += 0.5 * std::max(missing, 0.0);
  moments[0] = std::max(moments[0], 1e-6 * moments[2]);
  moments[1] = std::max(moments[1], moments[2] - moments[0]);
  element.remark(remarks, fmt::format("inertia of {}", whose),
                 fmt::format("no body has principal moments {:.6g}, {:.6g}, {:.6g}; taken as {:.6g}, {:.6g}, {:.6g}", before[0],
                             before[1], before[2], moments[0], moments[1], moments[2]));
  const Mat3& R = principal.eigenvectors();
  const Mat3 out = R * moments.asDiagonal() * R.transpose();
  return 0.5 * (out + out.transpose());
}

MassProperties seen_from(const Pose& X, const MassProperties& m) {
  const Mat3 R = X.orientation.toRotationMatrix();
  return {m.mass, X.position + R * m.center_of_mass, R * m.inertia * R.transpose()};
}

MassProperties together(const MassProperties& a, const MassProperties& b) {
  if (b.mass == 0) return a;
  if (a.mass == 0) return b;
  MassProperties out;
  out.mass = a.mass + b.mass;
  out.center_of_mass = (a.mass * a.center_of_mass + b.mass * b.center_of_mass) / out.mass;
  out.inertia.setZero();
  for (const MassProperties* m : {&a, &b}) {
    const Vec3 d = m->center_of_mass - out.center_of_mass;
    out.inertia += m->inertia + m->mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose());
  }
  return out;
}

}  // namespace rotule::robot
