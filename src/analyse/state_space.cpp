#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/state_space.h>

#include <algorithm>
#include <numbers>

#include "analyse/state_matrix.h"
#include "base/text.h"
#include "constraint/joint_coordinates.h"
#include "linalg/decompositions.h"
#include "model/joint_kinds.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

struct StateAxis {
  int joint = 0, axis = 0;
};

std::vector<StateAxis> find_axes(const Model& model, std::span<const std::string> wanted) {
  std::vector<StateAxis> all, out;
  std::vector<std::string> names;
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    names.push_back(model.joints[j].name);
    for (const int axis : free_axes(model, model.joints[j])) all.push_back({j, axis});
  }
  if (wanted.empty()) return all;
  for (const std::string& text : wanted) {
    bool any = false;
    for (const StateAxis& each : all) {
      const std::string& joint = model.joints[each.joint].name;
      if (text != joint && text != fmt::format("{}.{}", joint, axis_names[each.axis])) continue;
      out.push_back(each);
      any = true;
    }
    if (!any) throw Error("state_space", fmt::format("there is no free axis {}; {}", in_quotes(text), suggestion(text, names)));
  }
  return out;
}

/// Phi^T K Phi: omega^2, and what forces without a potential add to it, such as those of wind.
MatX stiffness_on(const Linearisation& l, const Modes& modes) {
  MatX out = 0.5 * modes.shapes.transpose() * (l.K - l.K.transpose()) * modes.shapes;
  out.diagonal() += modes.squared_frequencies;
  return out;
}

}  // namespace

std::vector<DampedMode> damped_modes(const Linearisation& l) {
  const Modes modes = normal_modes(l);
  const MatX& Phi = modes.shapes;
  const Eigen::Index n = Phi.cols();
  if (n == 0) return {};
  const ComplexEigen eigen = complex_eigen(state_matrix(l, Phi, stiffness_on(l, modes), MatX::Identity(n, n)));
  std::vector<DampedMode> out;
  for (Eigen::Index k = 0; k < eigen.values.size(); ++k) {
    const std::complex<double> lambda = eigen.values[k];
    if (lambda.imag() < 0) continue;
    DampedMode mode{.eigenvalue = lambda, .frequency = lambda.imag() / (2 * std::numbers::pi), .shape = {}};
    if (std::abs(lambda) > 0) mode.damping_ratio = (0.0 - lambda.real()) / std::abs(lambda);
    mode.shape = Phi * eigen.vectors.col(k).head(n);
    Eigen::Index largest = 0;
    if (mode.shape.size() > 0 && mode.shape.cwiseAbs().maxCoeff(&largest) > 0) mode.shape /= mode.shape[largest];
    out.push_back(std::move(mode));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const DampedMode& a, const DampedMode& b) { return std::abs(a.eigenvalue) < std::abs(b.eigenvalue); });
  return out;
}

StateSpace state_space(const World& world, std::span<const std::string> wanted, const LinearisationSettings& settings) {
  const Linearisation l = linearise(world, settings);
  const Modes modes = normal_modes(l);
  const WorldImplementation& w = implementation_of(world);
  const Model& model = w.model;
  const std::vector<StateAxis> axes = find_axes(model, wanted);
  std::vector<Eigen::Index> column(model.body_count(), -1);
  for (std::size_t i = 0; i < l.bodies.size(); ++i) column[w.body_slots.place(l.bodies[i])] = 6 * static_cast<Eigen::Index>(i);

  Kinematics kinematics;
  kinematics.update(model, w.state, w.time);
  MatX G = MatX::Zero(static_cast<Eigen::Index>(axes.size()), l.M.rows());
  StateSpace out;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Joint& joint = model.joints[axes[k].joint];
    const DriveAxis<double> at = drive_axis(joint, axes[k].axis, kinematics);
    const auto row = static_cast<Eigen::Index>(k);
    if (model.movable(joint.a)) G.row(row).segment<6>(column[joint.a]) << at.linear_a.transpose(), at.angular_a.transpose();
    if (model.movable(joint.b)) G.row(row).segment<6>(column[joint.b]) << at.linear_b.transpose(), at.angular_b.transpose();
    out.inputs.push_back(fmt::format("{}.{}", joint.name, axis_names[axes[k].axis]));
  }
  const MatX Phi = modes.shapes, seen = G * Phi;
  const Eigen::Index n = Phi.cols(), m = seen.rows();
  out.A = state_matrix(l, Phi, stiffness_on(l, modes), MatX::Identity(n, n));
  out.B.setZero(out.A.rows(), m);
  out.B.middleRows(n, n) = seen.transpose();
  out.C.setZero(2 * m, out.A.rows());
  out.C.topLeftCorner(m, n) = seen;
  out.C.block(m, n, m, n) = seen;
  out.D.setZero(2 * m, m);
  for (const char* what : {"mode", "rate of mode"})
    for (Eigen::Index k = 0; k < n; ++k) out.states.push_back(fmt::format("{} {}", what, k + 1));
  for (Eigen::Index k = 0; k < l.wake_rates.rows(); ++k) out.states.push_back(fmt::format("wake {}", k + 1));
  for (const char* what : {"", " rate"})
    for (const std::string& name : out.inputs) out.outputs.push_back(name + what);
  return out;
}

}  // namespace rotule
