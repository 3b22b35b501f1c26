#include <rotule/analyse.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "analyse/contact_linearisation.h"
#include "analyse/state_matrix.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/gas.h"
#include "dynamics/forces/springs.h"
#include "linalg/decompositions.h"
#include "model/solver_list.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

/// The model without what holds an axis by friction: at the smallest motion it would be as if welded.
Model without_friction(Model model) {
  for (Joint& joint : model.joints)
    for (Joint::AxisDrive& axis : joint.drives) axis.drive.friction = axis.drive.motor_strength = 0;
  return model;
}

/// Contacts, and the stops that hold beside them: each is found with what the others exert, in turn, until that stays.
std::vector<ContactShare> contacts_and_stops(JointedMechanism& mechanism, const State& s, double t,
                                             const LinearisationSettings& settings, VecX& udot, Linearisation& out) {
  const auto held = [&] {
    std::vector<bool> laws;
    for (const DriveLaw& law : mechanism.drives.laws()) laws.push_back(law.held);
    return laws;
  };
  constexpr int most_turns = 10;
  std::vector<ContactShare> touching;
  for (int turn = 0; turn < most_turns; ++turn) {
    out.pressed_contacts = out.open_contacts = out.slipping_contacts = 0;
    touching = linearise_contacts(mechanism, s, t, settings, udot, out);
    const std::vector<bool> before = held();
    mechanism.drives.decide(mechanism, s, t);
    mechanism.accelerations(t, s, udot);
    if (held() == before) break;
  }
  return touching;
}

}  // namespace

Linearisation linearise(const World& world, const LinearisationSettings& settings) {
  static_cast<void>(world.islands());  // makes the stepper, and with it the inertia of point masses
  const WorldImplementation& w = implementation_of(world);
  const Model model = without_friction(w.model);
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i) && !w.external.segment<3>(6 * i + 3).isZero(0))
      throw Error("linearise",
                  "body \"" + model.bodies[i].name + "\" is under a torque that has no potential; take it away first");

  // The constraint forces of this pose at rest, by a mechanism of our own: the world's keeps its memory.
  Recipe recipe = w.recipe;
  recipe.formulation = AccelerationSettings{};
  recipe.correction = NoCorrectionSettings{};
  recipe.solver = solver_named("ldlt");
  JointedMechanism mechanism(model, recipe);
  mechanism.external = w.external;
  State s = w.state;
  s.u.setZero();
  settle_wakes(model, w.time, s);
  VecX udot;
  mechanism.begin_step(s, w.time);
  mechanism.drives.decide(mechanism, s, w.time);  // stops, and constraints of one side, hold what presses them
  mechanism.accelerations(w.time, s, udot);

  if (!(settings.contact_stiffness >= 0) || !std::isfinite(settings.contact_stiffness))
    throw Error("linearise", "contact_stiffness must be 0 or more");
  if (!(settings.shear_ratio >= 0) || !std::isfinite(settings.shear_ratio))
    throw Error("linearise", "shear_ratio must be 0 or more");
  Linearisation out;
  std::vector<ContactShare> touching;
  if (settings.contacts) touching = contacts_and_stops(mechanism, s, w.time, settings, udot, out);
  std::vector<int> place(model.body_count(), -1);
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i)) {
      place[i] = static_cast<int>(out.bodies.size());
      out.bodies.push_back(w.body_slots.id(i));
      out.unbalance = std::max(out.unbalance, udot.segment<6>(6 * i).cwiseAbs().maxCoeff());
    }
  // Where each triple of u stands among the columns.
  std::vector<Eigen::Index> column(static_cast<std::size_t>(model.velocity_count() / 3), -1);
  for (int i = 0; i < model.body_count(); ++i)
    if (place[i] >= 0)
      for (int half = 0; half < 2; ++half) column[2 * i + half] = 6 * place[i] + 3 * half;
  auto size = 6 * static_cast<Eigen::Index>(out.bodies.size());
  for (int k = 0; k < model.particle_count(); ++k) {
    if (!model.particles.movable(k)) continue;
    out.particles.push_back(k);
    out.unbalance = std::max(out.unbalance, udot.segment<3>(s.first(k)).cwiseAbs().maxCoeff());
    column[2 * model.body_count() + k] = size;
    size += 3;
  }
  Eigen::Index rows = 0;
  for (const Island& island : mechanism.islands) rows += island.problem.rows();
  for (const ContactShare& share : touching) rows += share.J.rows();
  out.M.setZero(size, size);
  out.K.setZero(size, size);
  out.D.setZero(size, size);
  out.J.setZero(rows, size);
  for (int i = 0; i < model.body_count(); ++i) {
    if (place[i] < 0) continue;
    const Mat3& R = mechanism.kinematics.bodies[i].R;
    out.M.block<3, 3>(6 * place[i], 6 * place[i]).diagonal().setConstant(model.bodies[i].mass);
    out.M.block<3, 3>(6 * place[i] + 3, 6 * place[i] + 3) = R * model.inertia[i] * R.transpose();
  }
  visit_added_masses(model, motion_of(mechanism.kinematics), [&](const AddedMassBlock& block, const Mat6& mass) {
    out.M.block<6, 6>(6 * place[block.body], 6 * place[block.by]) += mass;
  });

  for (const int k : out.particles) {
    const Eigen::Index c = column[2 * model.body_count() + k];
    out.M.block<3, 3>(c, c).diagonal().setConstant(model.particles.mass[k]);
  }

  // The forces' own derivatives; of wakes too, which are states of their own.
  const int first_wake = wake_triple(s, 0);
  const Eigen::Index wakes = 3 * static_cast<Eigen::Index>(model.forces.wakes);
  out.wake_rates.setZero(wakes, wakes);
  out.wake_by_motion.setZero(wakes, size);
  out.wake_by_velocity.setZero(wakes, size);
  out.wake_forces.setZero(size, wakes);
  const auto into = [&](MatX& to, MatX& of_wakes) {
    return [&](int row, int col, const Mat3& block) {
      const Eigen::Index wake_row = 3 * (row - first_wake), wake_column = 3 * (col - first_wake);
      if (wake_row >= 0 && wake_column >= 0)
        out.wake_rates.block<3, 3>(wake_row, wake_column) += block;
      else if (wake_row >= 0)
        of_wakes.block<3, 3>(wake_row, column[col]) += block;
      else if (wake_column >= 0)
        out.wake_forces.block<3, 3>(column[row], wake_column) += block;
      else if (column[row] >= 0 && column[col] >= 0)
        to.block<3, 3>(column[row], column[col]) -= block;
    };
  };
  auto stiffness = into(out.K, out.wake_by_motion), damping = into(out.D, out.wake_by_velocity);
  add_force_derivatives(model, s, w.time, 0, 1, false, stiffness);
  add_full_gas_derivatives(model, s, 1, stiffness);
  add_force_derivatives(model, s, w.time, 1, 0, false, damping);
  add_particle_spring_derivatives(model, s, 0, 1, false, stiffness);
  add_particle_spring_derivatives(model, s, 1, 0, false, damping);

  // Springs, dampers and rotors of joints, along G: k G^T G less what the spring's force turns with, d G^T G and I G^T G.
  for (const Joint& joint : model.joints)
    for (int d = 0; d < static_cast<int>(joint.drives.size()); ++d) {
      const auto& [number, drive] = joint.drives[d];
      if (drive.stiffness == 0 && drive.damping == 0 && drive.armature == 0) continue;
      const BodyLanes<double>&a = mechanism.kinematics[joint.a], &b = mechanism.kinematics[joint.b];
      const DriveAxis<double> axis = drive_axis(joint, number, mechanism.kinematics);
      Eigen::Matrix<double, 12, 1> G;
      G << axis.linear_a, axis.angular_a, axis.linear_b, axis.angular_b;
      const double force = drive.stiffness > 0 ? -drive.stiffness * beyond(axis.q, drive.rest, number >= 3) : 0;
      Mat12 turning = Mat12::Zero();
      add_driven_hessian(joint, {.drive = d, .in_force = true}, a, b, force, turning);
      const Mat12 K = drive.stiffness * G * G.transpose() - turning, D = drive.damping * G * G.transpose(),
                  I = drive.armature * G * G.transpose();
      const std::array<int, 2> owner{joint.a, joint.b};
      for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) {
          if (!model.movable(owner[i]) || !model.movable(owner[k])) continue;
          out.K.block<6, 6>(6 * place[owner[i]], 6 * place[owner[k]]) += K.block<6, 6>(6 * i, 6 * k);
          out.D.block<6, 6>(6 * place[owner[i]], 6 * place[owner[k]]) += D.block<6, 6>(6 * i, 6 * k);
          out.M.block<6, 6>(6 * place[owner[i]], 6 * place[owner[k]]) += I.block<6, 6>(6 * i, 6 * k);
        }
    }

  Eigen::Index first = 0;
  for (const Island& island : mechanism.islands) {
    const int count = static_cast<int>(island.bodies.size());
    const MatX K = geometric_stiffness(mechanism.linkages[island.linkages.front()].constraints, mechanism.kinematics, w.time,
                                       mechanism.now.joints[island.linkages.front()].lambda, count);
    // A particle has three columns: nothing stands in the other three.
    const auto columns = [&](int body) { return island.slots[body].turns ? 6 : 3; };
    const auto first_column = [&](int body) { return column[island.slots[body].first / 3]; };
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        out.K.block(first_column(i), first_column(j), columns(i), columns(j)) += K.block(6 * i, 6 * j, columns(i), columns(j));
    for (const ConstraintBlock& block : island.problem.blocks) {
      for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int row) {
        out.J.block(first + block.first_row, first_column(body), block.rows, columns(body)) =
            J.block(row, 0, block.rows, columns(body));
      });
    }
    for (const int row : mechanism.linkages[island.linkages.front()].idle) out.J.row(first + row).setZero();  // they hold nothing
    first += island.problem.rows();
  }
  for (const ContactShare& share : touching) {
    const std::array<int, 2> owner{share.a, share.b};
    for (int i = 0; i < 2; ++i) {
      if (owner[i] == world_body || place[owner[i]] < 0) continue;
      const Eigen::Index at = 6 * place[owner[i]];
      out.J.block(first, at, share.J.rows(), 6) = share.J.middleCols<6>(6 * i);
      for (int k = 0; k < 2; ++k) {
        if (owner[k] == world_body || place[owner[k]] < 0) continue;
        out.K.block<6, 6>(at, 6 * place[owner[k]]) += share.K.block<6, 6>(6 * i, 6 * k);
        out.D.block<6, 6>(at, 6 * place[owner[k]]) += share.D.block<6, 6>(6 * i, 6 * k);
      }
    }
    first += share.J.rows();
  }
  return out;
}

namespace {

/// A as the allowed motions see it.
MatX reduced(const MatX& A, const MatX& N) { return N.transpose() * A * N; }

MatX symmetric_part(const MatX& A) { return 0.5 * (A + A.transpose()); }

/// Motions of about one kinetic energy each.
VecX by_mass(const MatX& M) {
  return M.diagonal().unaryExpr([](double m) { return m > 0 ? 1 / std::sqrt(m) : 1.0; });
}

}  // namespace

MatX allowed_motions(const Linearisation& l) {
  const Eigen::Index size = l.M.rows();
  if (l.J.rows() == 0) return MatX::Identity(size, size);
  // In columns of about one kinetic energy each metres and radians weigh the same whatever the units. 1e-9 of the longest row is
  // far above rounding and far below any honest constraint.
  const VecX scale = by_mass(l.M);
  return scale.asDiagonal() * null_space(l.J * scale.asDiagonal(), 1e-9);
}

MatX state_matrix(const Linearisation& l, const MatX& N, const MatX& K, const MatX& inverse) {
  const Eigen::Index k = N.cols(), wakes = l.wake_rates.rows();
  MatX A = MatX::Zero(2 * k + wakes, 2 * k + wakes);
  A.block(0, k, k, k).setIdentity();
  A.block(k, 0, k, k) = -K;
  A.block(k, k, k, k) = -inverse * reduced(l.D, N);
  if (wakes == 0) return A;
  A.block(k, 2 * k, k, wakes) = inverse * N.transpose() * l.wake_forces;
  A.block(2 * k, 0, wakes, k) = l.wake_by_motion * N;
  A.block(2 * k, k, wakes, k) = l.wake_by_velocity * N;
  A.bottomRightCorner(wakes, wakes) = l.wake_rates;
  return A;
}

MatX settled_stiffness(const Linearisation& l) {
  MatX K = l.K;
  // z = -wake_rates^-1 wake_by_motion sigma; lags do not see each other.
  for (Eigen::Index k = 0; k < l.wake_rates.rows(); ++k)
    if (const double rate = l.wake_rates(k, k); rate != 0) K += l.wake_forces.col(k) * l.wake_by_motion.row(k) / rate;
  return K;
}

Modes normal_modes(const Linearisation& l) {
  const MatX N = allowed_motions(l);
  if (N.cols() == 0) return {VecX(0), N};  // all is held
  SymmetricEigen eigen = symmetric_eigen(symmetric_part(reduced(l.K, N)), symmetric_part(reduced(l.M, N)));
  // What is left of stiffnesses that cancel along a free motion is rounding, and neither swings nor grows.
  const VecX scale = by_mass(l.M);
  const double rounding = 1e-14 * MatX(scale.asDiagonal() * l.K * scale.asDiagonal()).cwiseAbs().maxCoeff();
  for (double& square : eigen.values)
    if (std::abs(square) < rounding) square = 0;
  return {eigen.values, N * eigen.vectors};
}

std::vector<std::complex<double>> eigenvalues(const Linearisation& l) {
  const MatX N = allowed_motions(l);
  if (N.cols() == 0) return {};
  const MatX inverse = inverse_of(reduced(l.M, N));
  const Eigen::VectorXcd values = complex_eigenvalues(state_matrix(l, N, inverse * reduced(l.K, N), inverse));
  return {values.begin(), values.end()};
}

}  // namespace rotule
