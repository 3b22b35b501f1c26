// A serial chain in joint coordinates (A9): product of exponentials along the axes, a Jacobian column per axis, and damped steps
//   d = W J^T (J W J^T + mu)^-1 e,   W = 1 on the axes that are free to move and 0 on those that a stop holds,
// with mu proportional to the squared error, so that the last steps are Newton's.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "linalg/dense_ldlt.h"
#include "math/pose.h"
#include "math/sines.h"
#include "model/model.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr int most_arm_axes = 64;
constexpr double longest_arm_step = 0.7;  // rad, m per iteration and axis
constexpr int most_restarts = 40;         // from other postures, where the first leads nowhere
// A descent whose squared error is not down to a half after four more iterations is given up for another posture: most that end
// at stops show it so, and would take a hundred iterations to come to rest there.
constexpr int trial_iterations = 4;
constexpr double trial_gain = 0.5;

bool has_frame(const Joint& joint) {
  return joint.more.empty() && !joint.function && !joint.equations &&
         std::any_of(joint.locked.begin(), joint.locked.end(), [](bool locked) { return locked; });
}

}  // namespace

struct ArmAxis {
  Mat3 rotation = Mat3::Identity();  // of the joint's frame in the frame before it
  Vec3 position = Vec3::Zero();
  bool turns = true;
  double lower = -infinity, upper = infinity;
};

/// Where the chain stands: axes, their points, and the tip.
struct ArmPose {
  std::array<Vec3, most_arm_axes> axis, point;
  Mat3 R;
  Vec3 x;
};

struct Arm::Inside {
  std::vector<ArmAxis> axes;
  std::vector<std::string> names;
  Pose end;  // the tip's frame in that of the last axis
  Mat3 end_rotation;

  void walk(const double* q, ArmPose& out) const {
    Mat3 R = Mat3::Identity();
    Vec3 x = Vec3::Zero();
    SinesCosines turned;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const ArmAxis& axis = axes[k];
      if (k % 4 == 0) {
        Lanes3 angles = {};
        for (std::size_t lane = 0; lane < 4 && k + lane < axes.size(); ++lane) angles[lane] = q[k + lane];
        turned = sines_cosines(angles);
      }
      x.noalias() += R * axis.position;
      const Mat3 frame = R * axis.rotation;
      out.axis[k] = frame.col(2);
      if (axis.turns) {
        const double c = turned.cos[k % 4], s = turned.sin[k % 4];
        R.col(0) = c * frame.col(0) + s * frame.col(1);
        R.col(1) = c * frame.col(1) - s * frame.col(0);
        R.col(2) = frame.col(2);
      } else {
        R = frame;
        x += q[k] * frame.col(2);
      }
      out.point[k] = x;
    }
    out.x = x + R * end.position;
    out.R.noalias() = R * end_rotation;
  }

  template <int rows>
  Outcome solve(const Pose& target, double* q, double tolerance, int most) const;
  /// One descent; where not `patient`, it ends as soon as it seems to lead nowhere.
  template <int rows>
  Outcome descend(const Mat3& R, const Vec3& x, double* q, double tolerance, int most, double scale, bool patient) const;
};

namespace {

/// The rotation vector of A B^T, by its antisymmetric part where that is enough.
Vec3 turn_between(const Mat3& A, const Mat3& B) {
  const Mat3 D = A * B.transpose();
  const Vec3 v(D(2, 1) - D(1, 2), D(0, 2) - D(2, 0), D(1, 0) - D(0, 1));
  const double sine = 0.5 * v.norm(), cosine = 0.5 * (D.trace() - 1);
  if (cosine > 0.9) return sine > 1e-8 ? Vec3(0.5 * std::atan2(sine, cosine) / sine * v) : Vec3(0.5 * v);
  return log_rotation(Quat(D).normalized());
}

}  // namespace

template <int rows>
Arm::Outcome Arm::Inside::descend(const Mat3& R, const Vec3& x, double* q, double tolerance, int most, double scale,
                                  bool patient) const {
  using Left = Eigen::Matrix<double, rows, 1>;
  using Square = Eigen::Matrix<double, rows, rows>;
  const int n = static_cast<int>(axes.size());
  ArmPose pose;
  Eigen::Matrix<double, rows, Eigen::Dynamic, 0, rows, most_arm_axes> J(rows, n);
  std::array<double, most_arm_axes> trial, step, wanted;
  const auto error_at = [&](const double* at) {
    walk(at, pose);
    Left e;
    e.template head<3>() = x - pose.x;
    if constexpr (rows == 6) e.template tail<3>() = scale * turn_between(R, pose.R);
    return e;
  };
  Outcome out;
  Left e = error_at(q);
  double square = e.squaredNorm(), damping = 1e-3;
  // The largest component counts; turns in rad.
  const auto largest = [&](const Left& of) {
    double most_of = of.template head<3>().cwiseAbs().maxCoeff();
    if constexpr (rows == 6) most_of = std::max(most_of, of.template tail<3>().cwiseAbs().maxCoeff() / scale);
    return most_of;
  };
  double mark = 0;
  for (; out.iterations < most; ++out.iterations) {
    if (largest(e) <= tolerance) break;
    if (!patient && out.iterations % trial_iterations == 0) {
      if (out.iterations > 0 && square > trial_gain * mark) break;
      mark = square;
    }
    for (int k = 0; k < n; ++k) {
      if (axes[k].turns) {
        J.col(k).template head<3>() = pose.axis[k].cross(pose.x - pose.point[k]);
        if constexpr (rows == 6) J.col(k).template tail<3>() = scale * pose.axis[k];
      } else {
        J.col(k).setZero();
        J.col(k).template head<3>() = pose.axis[k];
      }
    }
    // Axes that stand at a stop and would go on hold, and so do those that the step would bring to one; the others share what is
    // left. Far from the goal a share of the step is enough, up to the stops.
    bool improved = false;
    for (int tries = 0; tries < 12 && !improved; ++tries) {
      std::array<bool, most_arm_axes> held{};
      Left left = e;
      std::fill_n(step.begin(), n, 0.0);
      for (int k = 0; k < n; ++k) {
        const double down = J.col(k).dot(e);
        held[k] = (q[k] <= axes[k].lower && down < 0) || (q[k] >= axes[k].upper && down > 0);
      }
      for (int round = 0; round <= n; ++round) {
        Square A = Square::Zero();
        for (int k = 0; k < n; ++k)
          if (!held[k]) A.template selfadjointView<Eigen::Lower>().rankUpdate(J.col(k));
        A.diagonal().array() += damping * square + 1e-14 * (A.trace() + scale * scale);
        std::array<double, rows> work, diagonal;
        std::array<double, rows * rows> values;
        for (int r = 0; r < rows; ++r) {
          diagonal[r] = A(r, r);
          for (int c = 0; c < rows; ++c) values[r * rows + c] = c <= r ? A(r, c) : A(c, r);
        }
        factor_dense_ldlt(values.data(), rows, 0.0, diagonal.data(), work.data(), [](int) {});
        Left y = left;
        solve_dense_ldlt(values.data(), rows, y.data());
        double longest = 0;
        for (int k = 0; k < n; ++k) {
          wanted[k] = held[k] ? 0 : J.col(k).dot(y);
          longest = std::max(longest, std::abs(wanted[k]));
        }
        const double share = std::min(1.0, longest_arm_step / std::max(longest, 1e-300));
        bool met = false;
        for (int k = 0; k < n; ++k) {
          if (held[k]) continue;
          const double to = q[k] + share * wanted[k], allowed = std::clamp(to, axes[k].lower, axes[k].upper);
          step[k] = allowed - q[k];
          if (allowed == to || share < 1) continue;
          left -= step[k] * J.col(k);
          held[k] = met = true;
        }
        if (!met) break;
      }
      for (int k = 0; k < n; ++k) trial[k] = std::clamp(q[k] + step[k], axes[k].lower, axes[k].upper);
      const Left then = error_at(trial.data());
      const double now = then.squaredNorm();
      improved = now < square;
      if (improved) {
        std::copy_n(trial.begin(), n, q);
        damping = std::max(1e-6, now < 0.25 * square ? 0.2 * damping : damping);
        e = then;
        square = now;
      } else {
        damping *= 8;
      }
    }
    if (!improved) {
      e = error_at(q);
      break;
    }
  }
  out.error = largest(e);
  out.reached = out.error <= tolerance;
  return out;
}

template <int rows>
Arm::Outcome Arm::Inside::solve(const Pose& target, double* q, double tolerance, int most) const {
  const Mat3 R = target.orientation.normalized().toRotationMatrix();
  const int n = static_cast<int>(axes.size());
  // Turns count as travels at the arm's own length.
  double reach = end.position.norm();
  for (const ArmAxis& axis : axes) reach += axis.position.norm();
  const double scale = reach > 0 ? 0.5 * reach : 1;
  std::array<double, most_arm_axes> start, best;
  std::copy_n(q, n, start.begin());
  Outcome least;
  least.error = infinity;
  for (int attempt = 0; attempt <= most_restarts; ++attempt) {
    // Other postures, the same in every run: within the limits, or a turn about the start.
    for (int k = 0; k < n && attempt > 0; ++k) {
      const double at = 0.5 + 0.5 * std::sin(12.9898 * (k + 1) * attempt + 78.233 * attempt * attempt);
      const bool bounded = std::isfinite(axes[k].lower) && std::isfinite(axes[k].upper);
      const double low = bounded ? axes[k].lower : start[k] - (axes[k].turns ? std::numbers::pi : scale);
      const double high = bounded ? axes[k].upper : start[k] + (axes[k].turns ? std::numbers::pi : scale);
      q[k] = std::clamp(low + at * (high - low), axes[k].lower, axes[k].upper);
    }
    const Outcome now = descend<rows>(R, target.position, q, tolerance, most, scale, false);
    least.iterations += now.iterations;
    if (now.error < least.error) {
      std::copy_n(q, n, best.begin());
      least.error = now.error;
      least.reached = now.reached;
    }
    if (least.reached || attempt == most_restarts) break;
  }
  std::copy_n(best.begin(), n, q);
  if (least.reached) return least;
  // As close as can be come from the best of them.
  const Outcome last = descend<rows>(R, target.position, q, tolerance, most, scale, true);
  return {last.reached, least.iterations + last.iterations, last.error};
}

Arm::Arm(const World& world, std::string_view tip, const Vec3& at) : inside_(std::make_unique<Inside>()) {
  const WorldImplementation& w = implementation_of(world);
  const Model& model = w.model;
  const int last = w.find_body(tip);
  if (last == world_body) throw Error("arm", "its tip must be a body that moves");

  // From the tip to the nearest thing that never moves, joint by joint.
  struct Link {
    int joint;
    bool to_b;  // whether the chain goes from a to b
  };
  std::vector<int> queue{last}, through(model.body_count(), -1);
  std::vector<char> seen(model.body_count(), 0);
  seen[last] = 1;
  int base_joint = -1, base_child = -1;
  for (std::size_t next = 0; next < queue.size() && base_joint < 0; ++next) {
    const int child = queue[next];
    if (!model.movable(child)) throw Error("arm", fmt::format("body {} does not move", in_quotes(tip)));
    for (int j = 0; j < static_cast<int>(model.joints.size()) && base_joint < 0; ++j) {
      const Joint& joint = model.joints[j];
      if (!has_frame(joint) || (joint.a != child && joint.b != child)) continue;
      const int other = joint.a == child ? joint.b : joint.a;
      if (!model.movable(other)) {
        base_joint = j;
        base_child = child;
      } else if (!model.is_particle(other) && !seen[other]) {
        seen[other] = 1;
        through[other] = j;
        queue.push_back(other);
      }
    }
  }
  if (base_joint < 0)
    throw Error("arm", fmt::format("no chain of joints leads from body {} to anything that does not move", in_quotes(tip)));
  std::vector<Link> links;
  const int base = model.joints[base_joint].a == base_child ? model.joints[base_joint].b : model.joints[base_joint].a;
  for (int j = base_joint, child = base_child;;
       j = through[child], child = model.joints[j].a == child ? model.joints[j].b : model.joints[j].a) {
    links.push_back({j, model.joints[j].b == child});
    if (child == last) break;
  }
  std::vector<char> of_chain(model.partner_count(), 0), in_chain(model.joints.size(), 0);
  for (const Link& link : links) {
    const Joint& joint = model.joints[link.joint];
    if (joint.rows() != 5 && joint.rows() != 6)
      throw Error("arm",
                  fmt::format("joint {} is neither hinge, slider nor weld; use inverse_kinematics", in_quotes(joint.name)));
    in_chain[link.joint] = 1;
    of_chain[link.to_b ? joint.b : joint.a] = 1;
  }
  // What else ties or bounds them: a gear, a cone, a second way round.
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    if (in_chain[j] != 0) continue;
    bool any = false, others = false;
    for_each_partner(model.joints[j], [&](int partner) {
      if (!model.movable(partner)) return;
      (of_chain[partner] != 0 ? any : others) = true;
    });
    if (any && !others)
      throw Error("arm",
                  fmt::format("joint {} binds bodies of its chain besides, which an arm does not know; use inverse_kinematics",
                              in_quotes(model.joints[j].name)));
  }

  // Frames along the chain, each joint's z its axis.
  Pose before = base == world_body ? Pose{} : Pose{w.state.p[base], w.state.theta[base]};
  for (const Link& link : links) {
    const Joint& joint = model.joints[link.joint];
    const Pose enter = link.to_b ? joint.X_A : joint.X_B, leave = link.to_b ? joint.X_B : joint.X_A;
    int axis = -1;
    for (int k = 0; k < 6; ++k)
      if (!joint.locked[k]) axis = k;
    if (axis < 0) {
      before = before * enter * inverse(leave);
      continue;
    }
    // The frame's axis becomes z; walked from b to a, the coordinate counts the other way.
    const double sign = link.to_b ? 1 : -1;
    const Quat to_z = rotation_between(Vec3::UnitZ(), sign * Vec3::Unit(axis % 3));
    const Pose frame = before * enter * Pose{Vec3::Zero(), to_z};
    ArmAxis out{frame.orientation.toRotationMatrix(), frame.position, axis >= 3};
    for (const Joint::AxisDrive& each : joint.drives) {
      if (each.axis != axis) continue;
      out.lower = each.drive.lower.value_or(-infinity);
      out.upper = each.drive.upper.value_or(infinity);
    }
    inside_->axes.push_back(out);
    inside_->names.push_back(joint.name);
    before = inverse(Pose{Vec3::Zero(), to_z}) * inverse(leave);
  }
  if (inside_->axes.empty()) throw Error("arm", "no joint on the way can move");
  if (inside_->axes.size() > most_arm_axes)
    throw Error("arm", fmt::format("has {} axes, more than {}; use inverse_kinematics", inside_->axes.size(), most_arm_axes));
  inside_->end = before * Pose{at - model.bodies[last].center_of_mass, Quat::Identity()};
  inside_->end_rotation = inside_->end.orientation.toRotationMatrix();
}

Arm::Arm(Arm&&) noexcept = default;
Arm& Arm::operator=(Arm&&) noexcept = default;
Arm::~Arm() = default;

int Arm::axes() const { return static_cast<int>(inside_->axes.size()); }
const std::vector<std::string>& Arm::joints() const { return inside_->names; }

Pose Arm::tip(std::span<const double> q) const {
  if (static_cast<int>(q.size()) != axes()) throw Error("arm", fmt::format("has {} axes, not {}", axes(), q.size()));
  ArmPose pose;
  inside_->walk(q.data(), pose);
  return {pose.x, Quat(pose.R).normalized()};
}

Arm::Outcome Arm::solve(const Pose& target, std::span<double> q, bool turn, double tolerance, int max_iterations) const {
  if (static_cast<int>(q.size()) != axes()) throw Error("arm", fmt::format("has {} axes, not {}", axes(), q.size()));
  for (std::size_t k = 0; k < q.size(); ++k) q[k] = std::clamp(q[k], inside_->axes[k].lower, inside_->axes[k].upper);
  return turn ? inside_->solve<6>(target, q.data(), tolerance, max_iterations)
              : inside_->solve<3>(target, q.data(), tolerance, max_iterations);
}

}  // namespace rotule
