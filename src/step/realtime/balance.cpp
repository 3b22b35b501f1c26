// The books of energy and momentum (step/ledger.h). In a substep work is impulse times mean velocity, of its start and of its
// end, which is the change of kinetic energy exactly; forces are the same in all substeps, so that their work is that of the
// step's mean velocity. What is not work of anybody is left over: weight that works over the way of each substep, inertia that
// was raised for loads and stiffness, closing, falling asleep, and what implicit springs and elements of particles lose.
#include <algorithm>

#include "constraint/joint_coordinates.h"
#include "dynamics/forces/weight.h"
#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"
#include "step/realtime/soft/soft_solids.h"

namespace rotule {

namespace realtime {

namespace {

const Drive& drive_of(const Model& model, const DriveRow& row) {
  const auto& all = model.joints[row.joint].drives;
  return std::find_if(all.begin(), all.end(), [&](const auto& axis) { return axis.axis == row.axis; })->drive;
}

}  // namespace

void Articulations::book_part(const BodyLines& bodies, Flow& flow) {
  for (const int i : awake_) {
    const Group& group = groups_[i];
    if (!group.driven && group.drives.empty()) continue;
    flow[Agent::guides] -= answers_[i].x.dot(group.values.C_t);
    for (std::size_t k = 0; k < group.drives.size(); ++k) {
      const DriveRow& row = drives_[group.drives[k]];
      const Node& node = group.nodes[group.joints + k];
      const double x = group.drive_x[static_cast<Eigen::Index>(k)];
      const double before = along(group, node, bodies.last) + row.given, after = along(group, node, bodies.motion) + row.given;
      const double mean = 0.5 * (before + after);
      flow[Agent::guides] -= x * row.given;
      switch (row.kind) {
        case DriveRow::Kind::motor:
          flow[Agent::motors] += x * mean;
          break;
        case DriveRow::Kind::friction:
          flow[Agent::joint_friction] += x * mean;
          break;
        case DriveRow::Kind::spring:  // what its spring gives is in the potential energy
          flow[Agent::dampers] -= part_ * drive_of(model_, row).damping * after * mean;
          break;
        default:
          flow[Agent::impacts] += x * mean;
      }
    }
  }
}

}  // namespace realtime

using namespace realtime;

double RealtimeStepper::energy_of(const State& s, double t) {
  return kinetic_energy(model_, s) + weight_potential(model_, s) + joint_spring_potential(model_, s) +
         force_potential(model_, s, t, recipe_.threads, scratch_);
}

void RealtimeStepper::keep_books(bool keep, const State& s, double t) {
  records_->books = keep;
  if (!keep) {
    totals.books = {};
  } else if (totals.books.opened == 0) {
    Ledger::look_at_hands(energy_of(s, t), momentum_of(model_, s), totals);
  }
}

void RealtimeStepper::open_step(const State& s, double t) {
  records_->flow = {};
  if (!records_->books) return;
  Ledger::look_at_hands(energy_of(s, t), momentum_of(model_, s), totals);
  records_->mean.setZero(s.u.size());
}

void RealtimeStepper::book_part() {
  Records& records = *records_;
  if (!records.books && !model_.has_kinematic() && model_.belt_count == 0) return;
  const ContactWork work = stages_.work(touches_.slots, bodies_, false);
  records.flow[Agent::impacts] += work.normal;
  records.flow[Agent::contact_friction] += work.friction;
  records.flow[Agent::guides] += work.led;
  SoftWork soft;
  soft_->book(bodies_, soft);
  records.flow[Agent::impacts] += soft.normal;
  records.flow[Agent::contact_friction] += soft.friction;
  records.flow[Agent::guides] += soft.led;
  joints_->book_part(bodies_, records.flow);
  if (!records.books) return;
  const double share = 0.5 / settings_.substeps;
  for_each_awake([&](int i) {
    const int line = line_of(i);
    records.mean.segment<6>(6 * i) +=
        share * (velocity_of(line, bodies_.last[line].at) + velocity_of(line, bodies_.motion[line].at));
  });
}

Vec6 RealtimeStepper::velocity_of(int line, const float* w) const {
  const float* S = bodies_.pose[line].at + 10;
  const double light = bodies_.motion[line].at[6];
  Vec6 u;
  u << light * w[0], light * w[1], light * w[2], S[0] * w[3] + S[1] * w[4] + S[2] * w[5], S[1] * w[3] + S[3] * w[4] + S[4] * w[5],
      S[2] * w[3] + S[4] * w[4] + S[5] * w[5];
  return u;
}

void RealtimeStepper::book_bounces() {
  const ContactWork work = stages_.work(touches_.slots, bodies_, true);
  records_->flow[Agent::impacts] += work.normal;
  records_->flow[Agent::guides] += work.led;
}

void RealtimeStepper::book_forces(const State& s, double t, double h) {
  Records& records = *records_;
  Flow rates;
  soft_->add_way(1 / h, records.mean);
  // Dampers and drag of particles act in each substep anew: as at the step's mean velocities and places, where the rate of a
  // spring's length is that of the whole step, however far it turned.
  records.middle = s;
  records.middle.u.tail(s.x.size()) = records.mean.tail(s.x.size());
  records.middle.x += 0.5 * h * records.mean.tail(s.x.size());
  add_force_flow(model_, external_, records.middle, t, records.mean, recipe_.threads, records.flow_scratch, rates);
  if (joints_->has_torques()) {
    records.rate.setZero(s.u.size());
    joints_->add_torques(records.rate);
    rates[Agent::motors] += records.rate.dot(records.mean);
  }
  // What bodies gained, and weight and forces did not give, came from what does not move.
  records.rate.setZero(s.u.size());
  for_each_awake([&](int i) {
    records.rate.segment<6>(6 * i) = (velocity_of(line_of(i), bodies_.motion[line_of(i)].at) - start_u_.segment<6>(6 * i)) / h;
  });
  soft_->add_velocities(start_u_, 1 / h, records.rate);
  add_inertia(model_, s, records.rate, 1, rates.supports);
  for (std::size_t k = 0; k < rates.supports.size(); ++k) rates.supports[k] -= rates.weight[k] + rates.applied[k];
  records.flow.add(rates, h);
}

void RealtimeStepper::close_step(const State& s, double t) {
  totals.given_work += records_->flow[Agent::guides];
  if (records_->books) Ledger::close_step(energy_of(s, t), momentum_of(model_, s), records_->flow, totals);
}

}  // namespace rotule
