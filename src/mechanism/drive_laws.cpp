#include "mechanism/drive_laws.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/spans.h"
#include "mechanism/jointed_mechanism.h"
#include "mechanism/shock.h"
#include "model/solver_list.h"
#include "solve/solve.h"

namespace rotule {

namespace {

constexpr double event_margin = 1e-12;     // of their units: what forces and rates may be beyond their bounds by rounding
constexpr double at_rest_share = 1e-9;     // of rates: what counts as none
constexpr double at_bound_share = 1e-9;    // of forces: what counts as at a bound
constexpr double approach_margin = 1e-12;  // rad, m per step: by which a stop may be approached and count as left alone
constexpr double dependent_axis = 1e-10;   // of its own answer: what is left of an axis that follows from others
constexpr double shortest_flight = 1e-4;   // of a step: bounces that last shorter are not made
constexpr int most_stop_blows = 50;        // of stops, one after the other at one instant

int sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

double along(const Model& model, const Joint& joint, const Row<double>& row, const VecX& u) {
  double out = 0;
  if (model.movable(joint.a))
    out += row.linear_a.dot(u.segment<3>(6 * joint.a)) + row.angular_a.dot(u.segment<3>(6 * joint.a + 3));
  if (model.movable(joint.b))
    out += row.linear_b.dot(u.segment<3>(6 * joint.b)) + row.angular_b.dot(u.segment<3>(6 * joint.b + 3));
  return out;
}

void push_along(const Model& model, const Joint& joint, const DriveAxis<double>& axis, double force, VecX& forces) {
  if (model.movable(joint.a)) {
    forces.segment<3>(6 * joint.a) += force * axis.linear_a;
    forces.segment<3>(6 * joint.a + 3) += force * axis.angular_a;
  }
  if (model.movable(joint.b)) {
    forces.segment<3>(6 * joint.b) += force * axis.linear_b;
    forces.segment<3>(6 * joint.b + 3) += force * axis.angular_b;
  }
}

}  // namespace

const Drive& DriveLaws::drive_of(const Model& model, const DriveLaw& law) const {
  return law.one_sided ? stops_[static_cast<std::size_t>(law.stop)] : model.joints[law.joint].drives[law.drive].drive;
}

void DriveLaws::find(const Model& model, std::span<Linkage> linkages, bool switching) {
  laws_.clear();
  stops_.clear();
  timed_.clear();
  switching_ = switching;
  events_ = given_ = false;
  for (std::size_t k = 0; k < linkages.size(); ++k) {
    const std::vector<ConstraintBlock>& blocks = linkages[k].constraints.blocks();
    for (int n = 0; n < static_cast<int>(blocks.size()); ++n) {
      const int j = blocks[n].source;
      if (const auto& equations = model.joints[j].equations; equations && equations->knows_time && !equations->one_sided)
        for (int r = 0; r < equations->rows(); ++r)
          timed_.push_back({.joint = j, .drive = r, .linkage = static_cast<int>(k), .block = n, .one_sided = true});
      const std::span<const DrivenAxis> driven = linkages[k].constraints.driven(n);
      for (int d = 0; d < static_cast<int>(model.joints[j].drives.size()); ++d) {
        const Drive& drive = model.joints[j].drives[d].drive;
        DriveLaw law{.joint = j, .drive = d, .linkage = static_cast<int>(k), .block = n, .given = drive.motion.has_value()};
        for (std::size_t i = 0; i < driven.size(); ++i)
          if (driven[i].drive == d)
            law.row = blocks[n].first_row + blocks[n].rows - static_cast<int>(driven.size()) + static_cast<int>(i);
        given_ = given_ || law.given;
        events_ = events_ || switches(drive) || saturates(drive);
        laws_.push_back(law);
      }
      for (const DrivenAxis& row : std::as_const(linkages[k]).constraints.switched(n)) {
        DriveLaw law{.joint = j, .drive = row.drive, .linkage = static_cast<int>(k), .block = n, .one_sided = true};
        law.row = blocks[n].first_row + row.drive;
        law.stop = static_cast<int>(stops_.size());
        Drive& stop = stops_.emplace_back();
        stop.lower = 0;
        law.on_rate = model.joints[j].equations->on_velocities[static_cast<std::size_t>(law.drive)] != 0;
        stop.restitution = model.joints[j].equations->restitution;
        events_ = true;
        laws_.push_back(law);
      }
    }
  }
  std::sort(laws_.begin(), laws_.end(),
            [](const DriveLaw& p, const DriveLaw& q) { return std::pair(p.joint, p.drive) < std::pair(q.joint, q.drive); });
  refresh_idle(model, linkages);
}

bool DriveLaws::outdated(const Model& model, std::span<const Linkage> linkages) const {
  std::size_t count = 0;
  bool given = false, events = false;
  for (const Joint& joint : model.joints) {
    count += joint.drives.size();
    if (switching_ && joint.equations && joint.equations->one_sided) {
      count += static_cast<std::size_t>(joint.rows());
      events = true;
    }
    for (const Joint::AxisDrive& axis : joint.drives) {
      given = given || axis.drive.motion;
      events = events || switches(axis.drive) || saturates(axis.drive);
    }
  }
  if (count != laws_.size() || given != given_ || events != events_) return true;
  return std::any_of(linkages.begin(), linkages.end(),
                     [&](const Linkage& linkage) { return !rows_fit(model, linkage, switching_); });
}

DriveLaws::Standing DriveLaws::stand(const Model& model, const Kinematics& kinematics, const VecX& u, const DriveLaw& law) {
  const Joint& joint = model.joints[law.joint];
  Standing out{drive_axis(joint, joint.drives[law.drive].axis, kinematics)};
  const DriveAxis<double>& axis = out.axis;
  out.rate = along(model, joint, {0, 0, axis.linear_a, axis.angular_a, axis.linear_b, axis.angular_b}, u);
  return out;
}

double DriveLaws::spring(const Drive& drive, int axis, const Standing& at) {
  const double stretch = drive.stiffness > 0 ? beyond(at.axis.q, drive.rest, axis >= 3) : 0;
  return -drive.stiffness * stretch - drive.damping * at.rate;
}

double DriveLaws::smooth(const Drive& drive, const DriveLaw& law, int axis, const Standing& at) {
  const double force = law.saturated != 0 ? law.saturated * drive.spring_strength : spring(drive, axis, at);
  return force + drive.motor_torque + law.push;
}

void DriveLaws::add_forces(const Model& model, const Kinematics& kinematics, const VecX& u, VecX& forces) const {
  for (const DriveLaw& law : laws_) {
    if (law.one_sided) continue;
    const Joint& joint = model.joints[law.joint];
    const auto& [number, drive] = joint.drives[law.drive];
    if (!switching_) {  // impulses do the rest
      if (drive.motor_torque != 0) push_along(model, joint, drive_axis(joint, number, kinematics), drive.motor_torque, forces);
      continue;
    }
    const Standing at = stand(model, kinematics, u, law);
    if (const double force = smooth(drive, law, number, at); force != 0) push_along(model, joint, at.axis, force, forces);
  }
}

double DriveLaws::potential(const Model& model, const Kinematics& kinematics) const {
  double out = 0;
  for (const DriveLaw& law : laws_) {
    if (law.one_sided) continue;
    const Joint& joint = model.joints[law.joint];
    const auto& [number, drive] = joint.drives[law.drive];
    if (!(drive.stiffness > 0)) continue;
    const double stretch = beyond(drive_axis(joint, number, kinematics).q, drive.rest, number >= 3);
    out += 0.5 * drive.stiffness * stretch * stretch;
  }
  return out;
}

bool DriveLaws::holding() const {
  return std::any_of(laws_.begin(), laws_.end(), [](const DriveLaw& law) { return law.held; });
}

bool DriveLaws::off_course(JointedMechanism& mechanism, const State& s, double t) const {
  constexpr double off = 1e-9;
  mechanism.kinematics.update(mechanism.model, s);
  for (const DriveLaw& law : laws_) {
    if (!law.given) continue;
    const Joint& joint = mechanism.model.joints[law.joint];
    const auto& [number, drive] = joint.drives[law.drive];
    const auto [value, rate, acceleration] = drive.motion->at(t);
    const Standing at = stand(mechanism.model, mechanism.kinematics, s.u, law);
    if (std::abs(beyond(at.axis.q, value, number >= 3)) > off || std::abs(at.rate - rate) > off * (1 + std::abs(rate)))
      return true;
  }
  return false;
}

bool DriveLaws::off_time(JointedMechanism& mechanism, const State& s, double t) const {
  if (timed_.empty()) return false;
  constexpr double off = 1e-6;  // what closing leaves is far less
  mechanism.kinematics.update(mechanism.model, s, t);
  return std::any_of(timed_.begin(), timed_.end(), [&](const DriveLaw& row) {
    const LineAt at = line_of(mechanism, s.u, t, row);
    double fastest = std::abs(at.rate);
    for (int k = 0; k < at.line.count; ++k)
      if (const int number = at.line.partner[static_cast<std::size_t>(k)]; mechanism.model.movable(number))
        fastest = std::max(fastest, std::abs(at.line.J[static_cast<std::size_t>(k)].dot(mechanism.model.slot(number).read(s.u))));
    return std::abs(at.q) > off || std::abs(at.rate) > off * (1 + fastest);
  });
}

void DriveLaws::refresh_idle(const Model& model, std::span<Linkage> linkages) const {
  for (Linkage& linkage : linkages) linkage.idle.clear();
  for (const DriveLaw& law : laws_) {
    if (law.row < 0) continue;
    Linkage& linkage = linkages[law.linkage];
    const bool idle = !law.given && !law.held;
    const double rotor = drive_of(model, law).armature;
    linkage.compliance[law.row] = !idle ? 0 : rotor > 0 ? 1 / rotor : 1;
    if (idle) linkage.idle.push_back(law.row);
  }
  for (Linkage& linkage : linkages) std::sort(linkage.idle.begin(), linkage.idle.end());
}

void DriveLaws::hold(std::span<Linkage> linkages, const DriveLaw& law, const DrivenAxis& axis) const {
  ConstraintSet& constraints = linkages[law.linkage].constraints;
  for (DrivenAxis& driven : law.one_sided ? constraints.switched(law.block) : constraints.driven(law.block))
    if (driven.drive == law.drive) driven = axis;
}

void DriveLaws::release_all(const Model& model, std::span<Linkage> linkages) {
  for (DriveLaw& law : laws_) {
    if (law.row < 0 || law.given) continue;
    law.held = law.tied = law.crossed = law.from_rest = false;
    law.push = 0;
    law.way_of_zero = law.way_of_motor = 0;
    hold(linkages, law, {.drive = law.drive});
  }
  refresh_idle(model, linkages);
}

void DriveLaws::respond(JointedMechanism& mechanism) {
  const auto count = static_cast<Eigen::Index>(candidates_.size());
  if (responses_.size() < candidates_.size()) responses_.resize(candidates_.size());
  matrix_.resize(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Candidate& c = candidates_[k];
    VecX& response = responses_[static_cast<std::size_t>(k)];
    response.setZero(mechanism.model.velocity_count());
    c.row.push(mechanism.model, 1, response);
    mechanism.respond(response);
    for (Eigen::Index i = 0; i < count; ++i) matrix_(i, k) = candidates_[i].row.along(mechanism.model, response);
  }
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index k = 0; k < i; ++k) matrix_(i, k) = matrix_(k, i) = 0.5 * (matrix_(i, k) + matrix_(k, i));
}

void DriveLaws::solve_box(JointedMechanism& mechanism) {
  const int count = static_cast<int>(candidates_.size());
  x_.setZero(count);
  if (count == 1) {
    const double A = matrix_(0, 0);
    x_[0] = A > 0 ? std::clamp(b_[0] / A, candidates_[0].low, candidates_[0].high) : 0;
    return;
  }
  problem_.blocks.clear();
  problem_.more.clear();
  problem_.friction.clear();
  for (int k = 0; k < count; ++k) problem_.blocks.push_back({k, 1, -1, -1, k});
  problem_.resize(0, count);
  SparseRows& A = problem_.matrix;
  A.start.clear();
  A.column.clear();
  A.value.clear();
  for (int i = 0; i < count; ++i) {
    problem_.lower[i] = candidates_[i].low;
    problem_.upper[i] = candidates_[i].high;
    A.start.push_back(static_cast<int>(A.column.size()));
    for (int k = 0; k < count; ++k) {
      A.column.push_back(k);
      A.value.push_back(matrix_(i, k));
    }
  }
  A.start.push_back(static_cast<int>(A.column.size()));
  problem_.b = b_;
  problem_.x0.setZero();
  solve(problem_, automatic_solver(1e-12), workspace_, view(x_), report_);
  ++mechanism.now.report.solves;
  mechanism.now.report.converged = mechanism.now.report.converged && report_.residual < 1e-6;
}

void DriveLaws::decide(JointedMechanism& mechanism, const State& s, double t) {
  if (!switching()) return;
  const Model& model = mechanism.model;
  release_all(model, mechanism.linkages);
  mechanism.kinematics.update(model, s);
  for (DriveLaw& law : laws_) {
    law.saturated = 0;
    if (law.one_sided) continue;
    const auto& [number, drive] = model.joints[law.joint].drives[law.drive];
    if (!saturates(drive)) continue;
    const double force = spring(drive, number, stand(model, mechanism.kinematics, s.u, law));
    if (std::abs(force) > drive.spring_strength) law.saturated = sign_of(force);
  }
  mechanism.accelerations(t, s, free_);

  // Who may be held, and what those exert that slip.
  candidates_.clear();
  bool pushed = false;
  const double fastest = s.u.size() ? s.u.cwiseAbs().maxCoeff() : 0;
  for (int k = 0; k < static_cast<int>(laws_.size()); ++k) {
    DriveLaw& law = laws_[k];
    if (law.row < 0 || law.given) continue;
    const Drive& drive = drive_of(model, law);
    const LineAt at = line_of(mechanism, s.u, t, law);
    const double F = drive.friction, S = drive.motor_strength, speed = drive.motor_speed;
    const double answer = at.line.free_response(model, mechanism.kinematics);
    const double pull = std::abs(at.line.along(model, free_) + at.line.gamma) + (F + S) * answer;
    law.rate_unit = std::max(std::abs(S > 0 ? speed : 0) + mechanism.h * pull + 1e-4 * fastest, 1e-300);
    law.force_unit = std::max(answer > 0 ? pull / answer : F + S, 1e-300);
    const double still = at_rest_share * law.rate_unit;

    const bool stops = std::abs(at.rate) <= still;
    const bool at_lower = stops && drive.lower && at.q - *drive.lower <= met_room;
    const bool at_upper = stops && drive.upper && *drive.upper - at.q <= met_room;
    const bool at_motor = S > 0 && std::abs(at.rate - speed) <= still;
    if (!at_lower && !at_upper && !(stops && F > 0) && !at_motor) {
      law.way_of_zero = F > 0 ? sign_of(at.rate) : 0;
      law.way_of_motor = S > 0 ? sign_of(at.rate - speed) : 0;
      law.push = -F * law.way_of_zero - S * law.way_of_motor;
      pushed = pushed || law.push != 0;
      continue;
    }
    Candidate c{k, at.q, stops ? 0 : speed, at.line, 0, 0};
    // What has met its stop stays where it met it: drawing it in, by what is left of the room, were work that nobody does.
    if (at_lower) c.q = std::max(c.q, *drive.lower);
    if (at_upper) c.q = std::min(c.q, *drive.upper);
    if (stops) {
      c.low -= F;
      c.high += F;
    } else {
      law.push -= F * sign_of(speed);
    }
    if (at_motor) {
      c.low -= S;
      c.high += S;
    } else {
      law.push += S * sign_of(speed - c.rate);
    }
    if (at_lower) c.high = infinity;
    if (at_upper) c.low = -infinity;
    pushed = pushed || law.push != 0;
    candidates_.push_back(c);
  }
  if (candidates_.empty()) return;
  if (pushed) mechanism.accelerations(t, s, free_);

  // What they would have to exert, all of them holding; where that is more than one can, by the problem with bounds.
  const auto count = static_cast<Eigen::Index>(candidates_.size());
  respond(mechanism);
  b_.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Candidate& c = candidates_[i];
    b_[i] = -(c.row.along(model, free_) + c.row.gamma);
  }
  solve_box(mechanism);

  for (Eigen::Index i = 0; i < count; ++i) {
    const Candidate& c = candidates_[i];
    DriveLaw& law = laws_[c.law];
    const Drive& drive = drive_of(model, law);
    law.low = c.low;
    law.high = c.high;
    const double near = at_bound_share * law.force_unit;
    if (x_[i] > c.low + near && x_[i] < c.high - near) {
      law.held = true;
      continue;
    }
    // It gives way: against the force that is at its end.
    const int way = x_[i] >= c.high - near ? -1 : 1;
    law.from_rest = true;
    if (drive.friction > 0 && c.rate == 0) {
      law.way_of_zero = way;
      law.push -= drive.friction * way;
    } else if (drive.friction > 0) {
      law.way_of_zero = sign_of(c.rate);
    }
    if (drive.motor_strength > 0 && std::abs(drive.motor_speed - c.rate) <= at_rest_share * law.rate_unit) {
      law.way_of_motor = way;
      law.push -= drive.motor_strength * way;
    } else if (drive.motor_strength > 0) {
      law.way_of_motor = sign_of(c.rate - drive.motor_speed);
    }
  }

  // Axes that cannot move without others that are held: Cholesky's pivots tell.
  factor_ = matrix_;
  for (Eigen::Index i = 0; i < count; ++i) {
    const Candidate& c = candidates_[i];
    DriveLaw& law = laws_[c.law];
    if (!law.held) continue;
    if (!(factor_(i, i) > dependent_axis * matrix_(i, i)) || !(matrix_(i, i) > 0)) {
      law.held = false;
      law.tied = true;
      law.push += x_[i];
      continue;
    }
    for (Eigen::Index p = i + 1; p < count; ++p) {
      const double share = factor_(p, i) / factor_(i, i);
      for (Eigen::Index q = i + 1; q < count; ++q) factor_(p, q) -= share * factor_(i, q);
    }
    hold(mechanism.linkages, law, {law.drive, true, c.q, t, c.rate});
  }
  refresh_idle(model, mechanism.linkages);
}

std::optional<double> DriveLaws::crossed(const JointedMechanism& mechanism, const State& s, double t, const DriveLaw& law,
                                         double room) const {
  if (law.row < 0 || law.given || law.on_rate) return std::nullopt;
  const Drive& drive = drive_of(mechanism.model, law);
  if (!drive.lower && !drive.upper) return std::nullopt;
  const double q = line_of(mechanism, s.u, t, law).q;
  if (drive.lower && q < *drive.lower - room) return drive.lower;
  if (drive.upper && q > *drive.upper + room) return drive.upper;
  return std::nullopt;
}

bool DriveLaws::beyond_stops(JointedMechanism& mechanism, const State& s, double t, double room) const {
  if (!switching()) return false;
  mechanism.kinematics.update(mechanism.model, s, t);
  return std::any_of(laws_.begin(), laws_.end(),
                     [&](const DriveLaw& law) { return crossed(mechanism, s, t, law, room).has_value(); });
}

bool DriveLaws::hold_crossed(JointedMechanism& mechanism, const State& s, double t) {
  if (!switching()) return false;
  mechanism.kinematics.update(mechanism.model, s, t);
  bool any = false;
  for (DriveLaw& law : laws_) {
    if (law.held) continue;
    const std::optional<double> stop = crossed(mechanism, s, t, law, met_room);
    if (!stop) continue;
    law.held = law.crossed = any = true;
    hold(mechanism.linkages, law, {law.drive, true, *stop, t, 0});
  }
  if (any) refresh_idle(mechanism.model, mechanism.linkages);
  return any;
}

void DriveLaws::leave_crossed(JointedMechanism& mechanism) {
  bool any = false;
  for (DriveLaw& law : laws_) {
    if (!law.crossed) continue;
    law.held = law.crossed = false;
    any = true;
    hold(mechanism.linkages, law, {.drive = law.drive});
  }
  if (any) refresh_idle(mechanism.model, mechanism.linkages);
}

DriveLaws::Event DriveLaws::event(JointedMechanism& mechanism, const State& s, double t, double h, VecX& udot) {
  const Model& model = mechanism.model;
  mechanism.accelerations(t, s, udot);
  Event out;
  const auto take = [&](double value, Cause cause) {
    if (value < out.value) out = {value, cause};
  };
  for (const DriveLaw& law : laws_) {
    const Drive& drive = drive_of(model, law);
    if (!switches(drive) && !saturates(drive)) continue;
    const LineAt at = line_of(mechanism, s.u, t, law);
    if (saturates(drive)) {
      const int number = model.joints[law.joint].drives[law.drive].axis;
      const double share = spring(drive, number, stand(model, mechanism.kinematics, s.u, law)) / drive.spring_strength;
      take((law.saturated != 0 ? law.saturated * share - 1 : 1 - std::abs(share)) + event_margin, Cause::force);
    }
    if (law.row < 0 || law.given) continue;
    if (law.held) {
      const double x = mechanism.now.joints[law.linkage].lambda[law.row];
      take(std::min(x - law.low, law.high - x) / law.force_unit + event_margin, Cause::force);
      continue;
    }
    if (law.tied) continue;
    const double slack = (law.from_rest ? 2 * at_rest_share : 0) + event_margin;
    if (law.way_of_zero != 0) take(law.way_of_zero * at.rate / law.rate_unit + slack, Cause::rate);
    if (law.way_of_motor != 0) take(law.way_of_motor * (at.rate - drive.motor_speed) / law.rate_unit + slack, Cause::rate);
    if (law.on_rate) {
      take(at.rate / law.rate_unit + slack, Cause::rate);
      continue;
    }
    if (drive.lower) take(std::max(at.q - *drive.lower, h * at.rate + approach_margin), Cause::stop);
    if (drive.upper) take(std::max(*drive.upper - at.q, -h * at.rate + approach_margin), Cause::stop);
  }
  return out;
}

double DriveLaws::strike(JointedMechanism& mechanism, State& s, double t, bool bounce) {
  const Model& model = mechanism.model;
  const double before = kinetic_energy(model, s);
  bool struck = false;
  for (int blow = 0; blow < most_stop_blows; ++blow) {
    mechanism.kinematics.update(model, s);
    candidates_.clear();
    int approaching = 0;
    for (int k = 0; k < static_cast<int>(laws_.size()); ++k) {
      const DriveLaw& law = laws_[k];
      if (law.row < 0 || law.given) continue;
      const Drive& drive = drive_of(model, law);
      if (!drive.lower && !drive.upper) continue;
      const LineAt at = line_of(mechanism, s.u, t, law);
      const double still = at_rest_share * law.rate_unit;
      const auto look = [&](bool lower, double room, double rate) {
        if (room > met_room || rate > still) return;
        approaching += rate < -still;
        candidates_.push_back({k, room, rate, at.line, lower ? 0 : -infinity, lower ? infinity : 0});
      };
      if (drive.lower) look(true, at.q - *drive.lower, at.rate);
      if (drive.upper) look(false, *drive.upper - at.q, -at.rate);
    }
    if (approaching == 0) break;
    // What only holds as strongly as it can gives no impulse.
    if (!struck) {
      release_all(model, mechanism.linkages);
      mechanism.evaluate(s, t);
    }
    struck = true;
    respond(mechanism);
    b_.resize(static_cast<Eigen::Index>(candidates_.size()));
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& c = candidates_[i];
      const DriveLaw& law = laws_[c.law];
      double e = bounce && blow < most_stop_blows / 2 ? drive_of(model, law).restitution : 0;
      if (-e * c.rate < shortest_flight * law.rate_unit) e = 0;
      const double asked = -(1 + e) * c.rate;
      b_[static_cast<Eigen::Index>(i)] = c.high == infinity ? asked : -asked;
    }
    solve_box(mechanism);
    for (std::size_t i = 0; i < candidates_.size(); ++i) s.u += x_[static_cast<Eigen::Index>(i)] * responses_[i];
    mechanism.now.report.shocks += approaching;
  }
  return struck ? before - kinetic_energy(model, s) : 0;
}

DriveLaws::Parts DriveLaws::parts(const JointedMechanism& mechanism, const VecX& u, const DriveLaw& law) const {
  const Joint& joint = mechanism.model.joints[law.joint];
  const auto& [number, drive] = joint.drives[law.drive];
  const Standing at = stand(mechanism.model, mechanism.kinematics, u, law);
  Parts out{.axis = number, .rate = at.rate, .motor = drive.motor_torque};
  const double multiplier = law.held || law.given ? mechanism.now.joints[law.linkage].lambda[law.row] : 0;
  if (!switching_) {  // impulses do the rest, but for motions that are given, which are rows of the joint
    if (law.given) out.motor += multiplier;
    return out;
  }
  out.spring = spring(drive, number, {at.axis, 0});
  if (law.saturated != 0)
    out.motor += law.saturated * drive.spring_strength - out.spring;
  else
    out.damper = -drive.damping * at.rate;
  const bool moves = std::abs(at.rate) > at_rest_share * law.rate_unit;
  out.friction = -drive.friction * (moves ? sign_of(at.rate) : law.way_of_zero);
  out.motor += law.push - out.friction;
  if (law.given && drive.armature > 0)  // it moves its rotor too
    out.motor +=
        drive.armature * axis_acceleration(mechanism.model, joint, number, mechanism.kinematics, mechanism.last_accelerations());
  const bool by_motor = law.given || (drive.motor_strength > 0 && (moves || drive.motor_speed == 0));
  (by_motor ? out.motor : out.holding) += multiplier;
  return out;
}

void DriveLaws::add_flow(const JointedMechanism& mechanism, const VecX& u, Flow& out) const {
  for (const DriveLaw& law : laws_) {
    if (law.one_sided) continue;
    const Parts by = parts(mechanism, u, law);
    out[Agent::motors] += by.motor * by.rate;
    out[Agent::dampers] += by.damper * by.rate;
    out[Agent::joint_friction] += (by.friction + by.holding) * by.rate;
    // Rows that know the time are counted as guides where constraints are; these are drives.
    if (law.row < 0) continue;
    const Island& island = mechanism.islands[law.linkage];
    out[Agent::guides] += mechanism.now.joints[law.linkage].lambda[law.row] * island.values.C_t[law.row];
  }
}

void DriveLaws::exerted(const JointedMechanism& mechanism, int joint, std::array<double, 6>& out) const {
  for (const DriveLaw& law : laws_) {
    if (law.joint != joint || law.one_sided) continue;
    const auto& [number, drive] = mechanism.model.joints[joint].drives[law.drive];
    if (switching_) {
      const BodyLanes<double>&a = mechanism.kinematics[mechanism.model.joints[joint].a],
            &b = mechanism.kinematics[mechanism.model.joints[joint].b];
      Standing at{drive_axis(mechanism.model.joints[joint], number, mechanism.kinematics)};
      at.rate =
          at.axis.linear_a.dot(a.v) + at.axis.angular_a.dot(a.omega) + at.axis.linear_b.dot(b.v) + at.axis.angular_b.dot(b.omega);
      out[number] += smooth(drive, law, number, at);
    } else {
      out[number] += drive.motor_torque;
    }
    if (law.row >= 0) out[number] += mechanism.now.joints[law.linkage].lambda[law.row];
  }
}

}  // namespace rotule
