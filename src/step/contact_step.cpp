#include "step/contact_step.h"

#include <algorithm>
#include <cmath>

#include "dynamics/forces/weight.h"
#include "mechanism/joint_limits.h"
#include "mechanism/shock.h"

namespace rotule {

namespace {

ContactSettings settings_of(const Recipe& recipe) {
  if (const auto* cone = std::get_if<ConeContactSettings>(&recipe.contacts)) return *cone;
  if (const auto* box = std::get_if<BoxContactSettings>(&recipe.contacts)) return *box;
  return {};
}

std::span<const double> view(const VecX& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// A contact that slips must be told from one that the solver has not quite stopped.
constexpr double slip_over_stick_speed = 1e-3;

}  // namespace

bool ContactStep::needed(const Model& model, const Recipe& recipe) {
  const bool locates = std::visit([](const auto& method) { return method.traits.adaptive; }, recipe.integrator);
  return !std::holds_alternative<NoContactSettings>(recipe.contacts) ||
         std::any_of(model.joints.begin(), model.joints.end(),
                     [&](const Joint& joint) { return !joint.drives.empty() && !(locates && JointLimits::only_limits(joint)); });
}

ContactStep::ContactStep(const Model& model, const Recipe& recipe)
    : model_(model),
      recipe_(recipe),
      settings_(settings_of(recipe)),
      touching_(!std::holds_alternative<NoContactSettings>(recipe.contacts)),
      cone_(!std::holds_alternative<BoxContactSettings>(recipe.contacts)) {
  if (touching_) finder_ = ContactFinder(model);
}

void ContactStep::refresh(const State& s, double h) {
  if (current_ || !touching_) return;
  kinematics_.update(model_, s);
  finder_.find(model_, s, kinematics_, settings_, h, recipe_.threads, contacts_);
  current_ = true;
}

double ContactStep::penetration() const {
  double deepest = 0;
  for (const Contact& c : contacts_) deepest = std::max(deepest, -c.gap);
  return deepest;
}

double ContactStep::bias_of(const Contact& c, double h, double& compliance) const {
  if (c.law.stiffness > 0) {  // x = -h (k (phi + h w) + d w): a spring and a damper, taken at the step's end
    const double k = c.law.stiffness, d = c.law.damping;
    compliance = 1 / (h * (h * k + d));
    return c.gap * k / (h * k + d);
  }
  compliance = 0;
  if (c.gap > 0) return c.gap / h;
  if (std::holds_alternative<ProjectionSettings>(recipe_.correction)) return 0;
  return settings_.baumgarte * std::min(c.gap + settings_.slop, 0.0) / h;
}

void ContactStep::look_at_start(const JointedMechanism& mechanism, const State& s, double h, Contact& c) const {
  const auto relative = [&](const VecX& u) -> Vec3 {
    const auto velocity = [&](int i) -> Vec3 {
      const Vec3 omega = u.segment<3>(6 * i + 3);
      return Vec3(u.segment<3>(6 * i)) + omega.cross(c.point - mechanism.kinematics[i].p);
    };
    return velocity(c.b) - velocity(c.a);
  };
  const Vec3 now = relative(s.u);
  const double along = now.dot(c.normal);
  c.sliding = (now - along * c.normal).norm() > settings_.stick_speed;
  c.closing = -along;
  if (c.gap > 0 && c.closing > 0) {  // weight makes it faster until it arrives
    const double gain = (along - relative(free_).dot(c.normal)) / h;
    c.closing = std::sqrt(std::max(0.0, c.closing * c.closing + 2 * gain * c.gap));
  }
}

void ContactStep::prepare(const JointedMechanism& mechanism, double h, ImpulseIsland& island) {
  island.assemble(parts(mechanism), search_.local_of, false);
  island.write_rows(parts(mechanism), model_, mechanism.kinematics);
  island.gather(free_);
  ConstraintProblem& p = island.problem;
  p.h = h;
  int row = 0;
  for (const int j : island.jointed) {
    const Island& jointed = mechanism.islands[j];
    p.b.segment(row, jointed.problem.rows()) = jointed.problem.b;
    p.x0.segment(row, jointed.problem.rows()) = jointed.x;
    row += jointed.problem.rows();
    for (std::size_t i = 0; i < jointed.bodies.size(); ++i)  // softened where F1 asks for it
      island.local.segment<6>(6 * search_.local_of[jointed.bodies[i]]) = jointed.local.segment<6>(6 * i);
  }
  write_drives(island);
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const Contact& c = contacts_[island.contacts[k]];
    const ConstraintBlock& block = island.contact_block(k);
    for (int r = 0; r < block.rows; ++r) {
      p.b[block.first_row + r] = -row_velocity(p, block, block.first_row + r, view(island.local));
      p.x0[block.first_row + r] = c.x[r];
    }
    p.b[block.first_row] -= bias_of(c, h, p.C[block.first_row]);
  }
}

void ContactStep::write_drives(ImpulseIsland& island) const {
  ConstraintProblem& p = island.problem;
  for (std::size_t k = 0; k < island.drives.size(); ++k) {
    const DriveRow& drive = drives_[island.drives[k]];
    const int r = island.drive_block(k).first_row;
    p.b[r] = -row_velocity(p, island.drive_block(k), r, view(island.local)) - drive.bias;
    p.x0[r] = drive.x;
  }
}

void ContactStep::solve_friction(ImpulseIsland& island) {
  ConstraintProblem& p = island.problem;
  island.solve(recipe_.solver);
  // Where static friction was overcome, the dynamic coefficient holds: say so, and solve again.
  constexpr int most_changes = 3;
  for (int round = 0; round < most_changes; ++round) {
    bool changed = false, known = false;
    std::size_t group = 0;
    for (std::size_t k = 0; k < island.contacts.size(); ++k) {
      Contact& c = contacts_[island.contacts[k]];
      const ConstraintBlock& block = island.contact_block(k);
      if (c.slides() && !c.sliding && c.law.static_friction > c.law.friction && island.x[block.first_row] > 0) {
        if (!known) {  // velocities after the step, once somebody asks
          known = true;
          island.after = island.local;
          apply_impulses(p, view(island.x), {island.after.data(), static_cast<std::size_t>(island.after.size())});
        }
        const double slip = std::hypot(row_velocity(p, block, block.first_row + 1, view(island.after)),
                                       row_velocity(p, block, block.first_row + 2, view(island.after)));
        if (slip > slip_over_stick_speed * settings_.stick_speed) {
          c.sliding = changed = true;
          p.friction[group].mu = c.friction();
        }
      }
      group += static_cast<std::size_t>(c.friction_groups());
    }
    if (!changed) return;
    p.x0 = island.x;
    island.solve(recipe_.solver);
  }
}

void ContactStep::keep_answer(JointedMechanism& mechanism, double h, const ImpulseIsland& island) {
  int row = 0;
  for (const int j : island.jointed) {
    Island& jointed = mechanism.islands[j];
    jointed.x = island.x.segment(row, jointed.problem.rows());
    jointed.lambda = jointed.x / h;
    jointed.has_lambda = true;
    jointed.residual = island.residual;
    row += jointed.problem.rows();
  }
  for (std::size_t k = 0; k < island.drives.size(); ++k) drives_[island.drives[k]].x = island.x[island.drive_block(k).first_row];
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const ConstraintBlock& block = island.contact_block(k);
    contacts_[island.contacts[k]].x.head(block.rows) = island.x.segment(block.first_row, block.rows);
  }
}

void ContactStep::bounce(const JointedMechanism& mechanism, ImpulseIsland& island, ImpulseIsland& bouncing) {
  // Who bounces: whoever was stopped, and met fast enough.
  const auto bounces = [&](const Contact& c) {
    return c.law.restitution > 0 && c.law.stiffness == 0 && c.x[0] > 0 && c.closing > settings_.restitution_speed;
  };
  if (std::none_of(island.contacts.begin(), island.contacts.end(), [&](int k) { return bounces(contacts_[k]); })) return;

  // Once more from the free velocities, with the bounces asked for; contacts that were still open play no part.
  bouncing.take_parts(island);
  std::erase_if(bouncing.contacts, [&](int k) { return contacts_[k].x[0] == 0 && contacts_[k].gap > settings_.slop; });
  bouncing.assemble(parts(mechanism), search_.local_of, false);
  bouncing.write_rows(parts(mechanism), model_, mechanism.kinematics);
  bouncing.local = island.start;
  ConstraintProblem& p = bouncing.problem;
  p.b.head(island.joint_rows()) = island.problem.b.head(island.joint_rows());
  write_drives(bouncing);
  for (std::size_t k = 0; k < bouncing.contacts.size(); ++k) {
    const Contact& c = contacts_[bouncing.contacts[k]];
    const ConstraintBlock& block = bouncing.contact_block(k);
    for (int r = 0; r < block.rows; ++r) {
      p.b[block.first_row + r] = -row_velocity(p, block, block.first_row + r, view(island.start));
      p.x0[block.first_row + r] = c.x[r];
    }
    if (bounces(c)) p.b[block.first_row] += c.law.restitution * c.closing;
  }
  bouncing.solve(recipe_.solver);
  island.report.iterations += bouncing.report.iterations;
  island.report.converged = island.report.converged && bouncing.report.converged;
  bouncing.apply();
  bouncing.scatter(bounced_);
}

void ContactStep::advance(const VelocitySettings& settings, JointedMechanism& mechanism, State& s, double t, double h) {
  step_push_ = step_bounce_ = 0;
  mechanism.free_velocities(settings, s, t, h, free_);
  for (Contact& c : contacts_) look_at_start(mechanism, s, h, c);
  evaluate_drives(model_, mechanism.kinematics, h, drives_);
  island_count_ = split_into_impulse_islands(model_, parts(mechanism), islands_, search_);
  if (bouncing_.size() < islands_.size()) bouncing_.resize(islands_.size());
  sigma_ = free_;
  bounced_ = free_;
  const StageClock::Scope stage(mechanism.clock, Stage::solve);
  parallel_for(island_count_, recipe_.threads, [&](int i) {
    ImpulseIsland& island = islands_[i];
    prepare(mechanism, h, island);
    island.start = island.local;
    solve_friction(island);
    if (mechanism.keep_problems) {
      island.kept_problem = island.problem;
      island.kept_x = island.x;
    }
    island.judge();
    keep_answer(mechanism, h, island);
    island.apply();
    island.scatter(sigma_);
    island.scatter(bounced_);
    bounce(mechanism, island, bouncing_[i]);
  });
  for (int i = 0; i < island_count_; ++i) {
    ++mechanism.report.solves;
    mechanism.report.iterations += islands_[i].report.iterations;
    mechanism.report.converged = mechanism.report.converged && islands_[i].report.converged;
  }
  last_h_ = h;

  // Positions go with the first solution, velocities with the bounce.
  const double before = kinetic_energy(model_, s);
  start_ = s.u;
  s.u = sigma_;
  displace(mechanism, s, h);
  s.u = bounced_;
  if (bounced_ != sigma_) step_bounce_ = std::max(0.0, kinetic_energy(model_, s) - before);
  if (const auto* projection = std::get_if<ProjectionSettings>(&recipe_.correction))
    push_out(*projection, mechanism, islands(), search_, s, t + h);
}

void ContactStep::displace(const JointedMechanism& mechanism, State& s, double h) {
  touched_.assign(static_cast<std::size_t>(model_.partner_count()), 0);
  for (const Island& island : mechanism.islands)
    for (const int body : island.bodies) touched_[body] = 1;
  for (const Contact& c : contacts_)
    if (c.x[0] > 0) touched_[c.a] = touched_[c.b] = 1;
  // What nothing touches and no spring holds falls along its parabola: the mean velocity is exact there.
  move_ = h * s.u;
  for (int i = 0; i < model_.body_count(); ++i)
    if (!touched_[i] && model_.forces.empty())
      move_.segment<3>(6 * i) = 0.5 * h * (s.u.segment<3>(6 * i) + start_.segment<3>(6 * i));
  rotule::displace(s, move_, s);
}

void ContactStep::push_out(const ProjectionSettings& settings, JointedMechanism& mechanism,
                           std::span<const ImpulseIsland> islands, const IslandSearch& search, State& s, double t) {
  const StageClock::Scope stage(mechanism.clock, Stage::correct);
  const auto count = static_cast<int>(islands.size());
  if (pushed_.size() < islands.size()) pushed_.resize(islands.size());
  const double height = weight_potential(model_, s);
  bool moved = false;
  double before = infinity;
  for (int iteration = 0; iteration <= settings.max_iterations; ++iteration) {
    mechanism.evaluate(s, t);
    const Kinematics& now = mechanism.kinematics;
    limits_ = drives_;
    evaluate_drives(model_, now, last_h_, limits_);
    double reach = 1;
    for (const BodyLanes<double>& body : now.bodies) reach = std::max(reach, body.p.cwiseAbs().maxCoeff());
    const double tolerance = std::max(settings.tolerance, 4 * std::numeric_limits<double>::epsilon() * reach);
    errors_.assign(islands.size(), 0.0);
    for (int i = 0; i < count; ++i) {
      double joint = 0, overlap = 0;
      for (const int j : islands[i].jointed) joint = std::max(joint, mechanism.islands[j].largest_error());
      for (const int k : islands[i].contacts)
        if (contacts_[k].law.stiffness == 0) overlap = std::max(overlap, -gap_now(contacts_[k], now) - settings_.slop);
      for (const int k : islands[i].drives) joint = std::max(joint, limits_[k].overshoot);
      if (joint > tolerance || overlap > tolerance) errors_[i] = std::max(joint, overlap);
    }
    const double worst = errors_.empty() ? 0.0 : *std::max_element(errors_.begin(), errors_.end());
    if (worst == 0) break;
    if (iteration == settings.max_iterations || (iteration >= 2 && worst > 0.5 * before)) {
      mechanism.report.converged = mechanism.report.converged && worst < 1e3 * std::max(tolerance, settings_.slop);
      break;
    }
    before = worst;
    sigma_.setZero(s.u.size());
    parallel_for(count, recipe_.threads, [&](int i) {
      if (errors_[i] > 0) push_out_of_each_other(mechanism, search, islands[i], pushed_[i]);
    });
    for (int i = 0; i < count; ++i) {
      if (errors_[i] == 0) continue;
      ++mechanism.report.solves;
      mechanism.report.iterations += pushed_[i].report.iterations;
    }
    rotule::displace(s, sigma_, s);
    moved = true;
  }
  if (moved) step_push_ += std::max(0.0, weight_potential(model_, s) - height);
  mechanism.close_velocities_of(s, [&](int jointed) {
    for (int i = 0; i < count; ++i)
      if (std::find(islands[i].jointed.begin(), islands[i].jointed.end(), jointed) != islands[i].jointed.end())
        return islands[i].contacts.empty();
    return true;
  });
}

void ContactStep::push_out_of_each_other(const JointedMechanism& mechanism, const IslandSearch& search,
                                         const ImpulseIsland& island, ImpulseIsland& pushed) {
  // A7 c with inequalities: the smallest mass-weighted move that closes the joints and leaves no gap negative.
  pushed.take_parts(island);
  std::erase_if(pushed.contacts, [&](int k) { return contacts_[k].law.stiffness > 0; });
  std::erase_if(pushed.drives, [&](int k) { return limits_[k].kind > DriveRow::Kind::upper; });
  const Parts now{mechanism.islands, limits_, contacts_, static_cast<int>(model_.joints.size()), cone_};
  pushed.assemble(now, search.local_of, true);
  pushed.write_rows(now, model_, mechanism.kinematics);
  VecX& b = pushed.problem.b;
  int row = 0;
  for (const int j : pushed.jointed) {
    const Island& jointed = mechanism.islands[j];
    b.segment(row, jointed.problem.rows()) = -jointed.values.C;
    row += jointed.problem.rows();
  }
  for (const int k : pushed.drives) b[row++] = limits_[k].overshoot;
  for (const int k : pushed.contacts) b[row++] = -gap_now(contacts_[k], mechanism.kinematics);
  pushed.solve(recipe_.solver);
  pushed.local.setZero();
  pushed.apply();
  pushed.scatter(sigma_);
}

void ContactStep::finish(JointedMechanism& mechanism, State& s, double t, double h) {
  const StageClock::Scope stage(mechanism.clock, Stage::collide);
  current_ = false;
  refresh(s, h);
  const auto* projection = std::get_if<ProjectionSettings>(&recipe_.correction);
  constexpr double worth_while = 1e-4;  // m
  if (projection && penetration() > std::max(worth_while, settings_.slop)) {
    const int count = split_into_impulse_islands(model_, parts(mechanism), late_, late_search_);
    push_out(*projection, mechanism, {late_.data(), static_cast<std::size_t>(count)}, late_search_, s, t);
    current_ = false;
    refresh(s, h);
  }
  push_energy_ += step_push_;
  bounce_energy_ += step_bounce_;
  mechanism.report.contacts = static_cast<int>(contacts_.size());
}

}  // namespace rotule
