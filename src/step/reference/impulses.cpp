#include "step/reference/impulses.h"

#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "step/reference/kinetic.h"

namespace rotule {

namespace {

/// A contact that slips must be told from one that the solver has not quite stopped.
constexpr double slip_over_stick_speed = 1e-3;

void formulate_drives(const ImpulseStep& step, Island& island) {
  for (std::size_t k = 0; k < island.drives.size(); ++k)
    formulate_velocity(step.parts.drives[island.drives[k]], island.drive_block(k), island.local, island.problem);
}

/// Joints' rows that are at least zero, where they are met within the step.
void bounce_joints(const ImpulseStep& step, Island& island) {
  bool known = false;
  for (const ConstraintBlock& block : island.joint_blocks()) {
    const Joint& joint = step.mechanism.model.joints[block.source];
    if (!joint.equations || !joint.equations->one_sided || joint.equations->restitution == 0) continue;
    if (!known) {
      known = true;
      island.after.resize(island.local.size());
      island.gather(step.mechanism.now.state.u, island.after);
    }
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      bounce_row(island.values, block, r, joint.equations->restitution, island.after, island.local, step.h, island.problem);
  }
}

/// Contacts that stuck and now slip get the dynamic coefficient. Whether there are any.
bool release_slipping(const ImpulseStep& step, Island& island) {
  std::vector<Contact>& contacts = step.mechanism.now.contacts;
  ConstraintProblem& p = island.problem;
  bool changed = false, known = false;
  std::size_t group = 0;
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    Contact& c = contacts[island.contacts[k]];
    const ConstraintBlock& block = island.contact_block(k);
    if (c.slides() && !c.sliding && c.law.static_friction > c.law.friction && island.x[block.first_row] > 0) {
      if (!known) {  // velocities after the step, once somebody asks
        known = true;
        island.after = island.local;
        island.apply_impulses(island.after);
      }
      const double slip = std::hypot(row_velocity(p, block, block.first_row + 1, view(island.after)) + c.given[1],
                                     row_velocity(p, block, block.first_row + 2, view(island.after)) + c.given[2]);
      if (slip > slip_over_stick_speed * step.rules.stick_speed(c.size)) {
        c.sliding = changed = true;
        p.friction[group].mu = c.friction();
      }
    }
    group += static_cast<std::size_t>(c.friction_groups());
  }
  return changed;
}

/// Contacts of an island, by how much of what they move alone they give way (C over the diagonal of A).
void give_way(const ImpulseStep& step, Island& island, double share) {
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const int row = island.contact_block(k).first_row;
    if (step.parts.contacts[island.contacts[k]].law.stiffness == 0) island.problem.C[row] = share * island.entry(row);
  }
}

/// Motions that are given may leave contacts no way out: an arm that is told to pass through the floor, a crate in a press. No
/// impulse is large enough then. Such contacts are known by impulses that grow as they are let give way less; they end up giving
/// way as a body that is let go does, and what overlaps is said when positions are closed.
void let_give_way(const ImpulseStep& step, Island& island) {
  constexpr double more = 1e-3, less = 1e-4, grown = 5;
  const SolverChoice& solver = step.mechanism.recipe.solver;
  ConstraintProblem& p = island.problem;
  std::vector<Contact>& contacts = step.mechanism.now.contacts;
  const VecX C = p.C, x0 = p.x0;
  island.weigh_rows();
  give_way(step, island, more);
  island.solve(solver);
  p.x0 = island.x;
  give_way(step, island, less);
  island.solve(solver);
  p.x0.swap(island.x);  // now the less they gave way, the more in x0
  bool any = false;
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    Contact& c = contacts[island.contacts[k]];
    const int row = island.contact_block(k).first_row;
    c.held = c.law.stiffness == 0 && island.x[row] > 0 && p.x0[row] > grown * island.x[row];
    p.C[row] = c.held ? island.entry(row) : C[row];
    any = any || c.held;
  }
  if (any)
    p.x0 *= less;
  else
    p.x0 = x0;
  island.solve(solver);
}

/// Whether contacts meet motions that are given.
bool is_led(const ImpulseStep& step, const Island& island) {
  return !island.contacts.empty() && (!island.values.C_t.isZero(0) || std::ranges::any_of(island.contacts, [&](int k) {
    return step.parts.contacts[k].given[0] != 0;
  }));
}

void solve_or_give_way(const ImpulseStep& step, Island& island) {
  constexpr double impossible = 1e-4;  // a residual that is no lack of patience
  const auto was_held = [&](int k) { return step.mechanism.now.contacts[k].held; };
  if (std::ranges::any_of(island.contacts, was_held)) {
    let_give_way(step, island);
    return;
  }
  island.solve(step.mechanism.recipe.solver);
  if (!island.report.converged && island.report.residual > impossible && is_led(step, island)) let_give_way(step, island);
}

void keep_answer(const ImpulseStep& step, const Island& island) {
  Attempt& now = step.mechanism.now;
  int row = 0;
  for (const int j : island.linkages) {
    JointAnswer& answer = now.joints[j];
    const int rows = step.parts.linkages[j].constraints.rows();
    answer.x = island.x.segment(row, rows);
    answer.lambda = answer.x / step.h;
    answer.known = true;
    answer.residual = island.residual;
    row += rows;
  }
  for (std::size_t k = 0; k < island.drives.size(); ++k)
    now.drives[island.drives[k]].x = island.x[island.drive_block(k).first_row];
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const ConstraintBlock& block = island.contact_block(k);
    now.contacts[island.contacts[k]].x.head(block.rows) = island.x.segment(block.first_row, block.rows);
  }
}

/// Forces of the acceleration level over the step, as impulses: what C3 does before velocities are corrected.
void apply_forces(const ImpulseStep& step, Island& island) {
  island.u.resize(island.local.size());
  island.gather(step.mechanism.now.state.u, island.u);
  formulate_forces(island.values, island.u, island.local, step.formulation.beta_position, step.formulation.beta_velocity, step.h,
                   island.problem);
  island.solve(step.mechanism.recipe.solver);
  island.apply_impulses();
  island.given = island.x;
  island.given_report = island.report;
  island.problem.x0.setZero();
}

/// The kinetic energy at the start, and what forces do along the way, over the island's bodies: m (v* - v) . w with v* what
/// forces alone give, w the mean velocity of the way: that of its end, or, for what nothing touches, of start and end. Spins are
/// those that torques alone give; the gyroscopic one does no work.
double energy_at_hand(const ImpulseStep& step, const VecX& free, const Island& island, Island& scratch) {
  VecX &u = scratch.u, &alone = scratch.after, &way = scratch.start;
  for (VecX* v : {&u, &alone}) v->resize(island.local.size());
  island.gather(step.mechanism.now.state.u, u);
  island.gather(free, alone);
  way = island.local;
  if (island.linkages.empty() && step.mechanism.model.forces.empty()) {
    for (Eigen::Index k = 0; k < u.size(); k += 6)
      if (!pushes(island.local, alone, k)) way.segment<6>(k) = 0.5 * (island.local + u).segment<6>(k);
  }
  double work = 0;
  for (std::size_t i = 0; i < island.bodies.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(6 * i);
    work += step.mechanism.model.mass(island.bodies[i]) * (alone - u).segment<3>(k).dot(way.segment<3>(k));
    u.segment<3>(k + 3) = alone.segment<3>(k + 3);
  }
  return kinetic_energy(step.mechanism, island, u) + work;
}

/// Whether time gives rows of joints a rate, now or, as where a motion begins from rest, in a moment.
bool is_timed(const ImpulseStep& step, const Island& island) {
  const auto knows_time = [&](int j) {
    const Joint& joint = step.mechanism.model.joints[j];
    return joint.function != nullptr || (joint.equations && joint.equations->knows_time) ||
           std::ranges::any_of(joint.drives, [](const Joint::AxisDrive& axis) { return axis.drive.motion.has_value(); });
  };
  return !island.values.C_t.isZero(0) || std::ranges::any_of(island.linkages, [&](int k) {
    return std::ranges::any_of(step.parts.linkages[k].joints, knows_time);
  });
}

}  // namespace

void formulate(const ImpulseStep& step, const VecX& free, Island& island) {
  const JointedMechanism& mechanism = step.mechanism;
  ConstraintProblem& p = island.problem;
  island.assemble(step.parts, step.search.local_of);
  island.evaluate(step.parts, mechanism.model, mechanism.kinematics, step.t);
  const bool timed = is_timed(step, island);
  if (timed) {
    island.evaluate(step.parts, mechanism.model, mechanism.kinematics, step.t + step.h);
    island.ahead = island.values.C_t;
    island.evaluate(step.parts, mechanism.model, mechanism.kinematics, step.t);
  }
  island.gather(free, island.local);
  p.h = step.h;
  int row = 0;
  for (const int j : island.linkages) {
    const Linkage& linkage = step.parts.linkages[j];
    const JointAnswer& answer = mechanism.now.joints[j];
    if (step.formulation.geometric_stiffness)
      soften(mechanism.model, mechanism.kinematics, linkage, answer, step.t, step.h, step.search.local_of, island);
    p.x0.segment(row, linkage.constraints.rows()) = answer.x;
    row += linkage.constraints.rows();
  }
  if (step.formulation.forces_first) apply_forces(step, island);
  // Velocities are those of the step's end, and so is what time asks of them: its impulses then have the motion's inertia in
  // them.
  if (timed) island.values.C_t.swap(island.ahead);
  formulate_velocity(island.values, island.local, step.formulation.baumgarte / step.h, p, island.gang);
  look_ahead(island.values, step.formulation.ahead * step.h, p);
  leave_room(island.values, 1 / step.h, p, island.gang);
  bounce_joints(step, island);
  formulate_drives(step, island);
  for (std::size_t k = 0; k < island.contacts.size(); ++k)
    formulate_velocity(step.parts.contacts[island.contacts[k]], step.rules, step.h, island.contact_block(k), island.local, p);
  island.start = island.local;
}

void solve(const ImpulseStep& step, Island& island) {
  const SolverChoice& solver = step.mechanism.recipe.solver;
  solve_or_give_way(step, island);
  constexpr int most_changes = 3;
  for (int round = 0; round < most_changes && release_slipping(step, island); ++round) {
    island.problem.x0 = island.x;
    island.solve(solver);
  }
  if (step.mechanism.keep_problems) island.keep();
  island.judge();
  island.apply_impulses();
  if (island.space.in_use()) island.space.find_joint_impulses(island.problem, step.h, island.x);
  if (step.formulation.forces_first) {
    island.x += island.given;
    island.report.iterations += island.given_report.iterations;
    island.report.converged = island.report.converged && island.given_report.converged;
  }
  keep_answer(step, island);
}

double given_work(const IslandParts& parts, const Island& island) {
  double work = 0;
  for (int r = 0; r < island.joint_rows(); ++r) work -= island.x[r] * island.values.C_t[r];
  for (std::size_t k = 0; k < island.drives.size(); ++k)
    work -= island.x[island.drive_block(k).first_row] * parts.drives[island.drives[k]].given;
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const ConstraintBlock& block = island.contact_block(k);
    work -= island.x.segment(block.first_row, block.rows).dot(parts.contacts[island.contacts[k]].given.head(block.rows));
  }
  return work;
}

std::optional<double> bounce(const ImpulseStep& step, const VecX& free, Island& island, Island& bouncing) {
  const std::span<const Contact> contacts = step.parts.contacts;
  if (std::none_of(island.contacts.begin(), island.contacts.end(),
                   [&](int k) { return bounces(contacts[k], step.rules) || arrives(contacts[k], step.rules, step.h); }))
    return std::nullopt;

  // Contacts that were still open play no part.
  bouncing.take_parts(island);
  std::erase_if(bouncing.contacts,
                [&](int k) { return contacts[k].x[0] == 0 && contacts[k].gap > step.rules.slop(contacts[k].size); });
  bouncing.assemble(step.parts, step.search.local_of);
  bouncing.evaluate(step.parts, step.mechanism.model, step.mechanism.kinematics, step.t);
  ConstraintProblem& p = bouncing.problem;
  bouncing.take_masses(island);  // softened already
  p.b.head(island.joint_rows()) = island.problem.b.head(island.joint_rows());
  bouncing.local = island.start;
  formulate_drives(step, bouncing);
  for (std::size_t k = 0; k < bouncing.contacts.size(); ++k) {
    const Contact& c = contacts[bouncing.contacts[k]];
    formulate_blow(c, bounces(c, step.rules) ? c.law.restitution * c.closing : 0, bouncing.contact_block(k), island.start, p);
  }
  solve_or_give_way(step, bouncing);
  island.report.iterations += bouncing.report.iterations;
  island.report.converged = island.report.converged && bouncing.report.converged;
  bouncing.apply_impulses();

  // A material that gains energy is taken at its word, and what a kinematic body strikes may have some of its.
  if (std::any_of(island.contacts.begin(), island.contacts.end(), [&](int k) {
        return (contacts[k].law.restitution > 1 && bounces(contacts[k], step.rules)) || !contacts[k].given.isZero(0);
      }))
    return 1;

  // No more than there was, and what forces have done on the way: M (u* - u) . u+, u* being what forces alone give.
  const double most = energy_at_hand(step, free, island, bouncing);
  const double share = share_within_energy(step.mechanism, bouncing, island.local, bouncing.local, most);
  bouncing.local = island.local + share * (bouncing.local - island.local);
  return share;
}

}  // namespace rotule
