// What steps by impulses put on the books: impulse times mean velocity, which is the change of kinetic energy exactly; and the
// blows within a step, which contacts at its end know nothing of.
#include <algorithm>

#include "base/spans.h"
#include "constraint/joint_coordinates.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

namespace {

const Drive* drive_of(const Model& model, const DriveRow& row) {
  for (const Joint::AxisDrive& axis : model.joints[row.joint].drives)
    if (axis.axis == row.axis) return &axis.drive;
  return nullptr;
}

}  // namespace

void ReferenceStepper::keep_books(bool keep, const State& s, double t) {
  mechanism.books = keep;
  if (!keep) {
    totals.books = {};
  } else if (totals.books.opened == 0) {
    contacts(s, mechanism.h);  // soft ones hold energy
    ledger.look_at_hands(mechanism, s, t, totals);
  }
}

void ReferenceStepper::book_rows(const Island& island, double share, double h) {
  if (share == 0) return;
  Flow& flow = mechanism.now.flow;
  const ConstraintProblem& p = island.problem;
  mean_local_.resize(island.local.size());
  after_local_.resize(island.local.size());
  island.gather(mean_, mean_local_);
  island.gather(after_, after_local_);
  const auto mean = [&](const ConstraintBlock& block, int row) { return row_velocity(p, block, row, view(mean_local_)); };
  const auto after = [&](const ConstraintBlock& block, int row) { return row_velocity(p, block, row, view(after_local_)); };
  for (std::size_t k = 0; k < island.drives.size(); ++k) {
    const DriveRow& drive = mechanism.now.drives[island.drives[k]];
    const ConstraintBlock& block = island.drive_block(k);
    const int row = block.first_row;
    const double led = share * island.x[row] * drive.given, work = share * island.x[row] * mean(block, row) + led;
    flow[Agent::guides] -= led;
    switch (drive.kind) {
      case DriveRow::Kind::motor:
        flow[Agent::motors] += work;
        break;
      case DriveRow::Kind::friction:
        flow[Agent::joint_friction] += work;
        break;
      case DriveRow::Kind::spring:  // what its spring gives is in the potential energy; its damper acts at the end's velocity
        if (const Drive* of = drive_of(mechanism.model, drive))
          flow[Agent::dampers] -= share * h * of->damping * (after(block, row) + drive.given) * (mean(block, row) + drive.given);
        break;
      default:
        flow[Agent::impacts] += work;
    }
  }
  for (std::size_t k = 0; k < island.contacts.size(); ++k) {
    const Contact& c = mechanism.now.contacts[island.contacts[k]];
    const ConstraintBlock& block = island.contact_block(k);
    const int normal = block.first_row;
    // Of velocities that bodies with a given motion have, the work is theirs.
    const auto work = [&](int r) {
      const double led = share * island.x[r] * c.given[r - normal];
      flow[Agent::guides] -= led;
      return share * island.x[r] * mean(block, r) + led;
    };
    if (c.law.stiffness > 0) {
      const double given = c.given[0];
      flow[Agent::guides] -= share * island.x[normal] * given;
      if (island.x[normal] > 0)
        flow[Agent::dampers] -= share * h * c.law.damping * (after(block, normal) + given) * (mean(block, normal) + given);
    } else {
      flow[Agent::impacts] += work(normal);
    }
    for (int r = normal + 1; r < normal + block.rows; ++r) flow[Agent::contact_friction] += work(r);
  }
}

void ReferenceStepper::book_impulses(double t, double h) {
  mean_ = 0.5 * (before_ + after_);
  rate_ = (after_ - before_) / h;
  Flow flow;
  mechanism.flow_over(t, mechanism.now.state, rate_, mean_, flow);
  mechanism.book(flow, h);
  for (int i = 0; i < island_count_; ++i) {
    book_rows(islands_[i], 1 - bounce_shares_[i], h);
    book_rows(bouncing_[i], bounce_shares_[i], h);
  }
  book_soft();
}

void ReferenceStepper::keep_bounces() {
  std::vector<Struck>& struck = mechanism.now.struck;
  const auto keep = [&](const Island& island, double share) {
    for (std::size_t k = 0; k < island.contacts.size(); ++k) {
      Contact c = mechanism.now.contacts[island.contacts[k]];
      const ConstraintBlock& block = island.contact_block(k);
      c.x.head(block.rows) = share * island.x.segment(block.first_row, block.rows);
      if (c.x[0] != 0) struck.push_back({c.a, c.b, c.point, c.normal, c.impulse()});
    }
  };
  for (int i = 0; i < island_count_; ++i) {
    if (bounce_shares_[i] == 0) continue;
    keep(islands_[i], -bounce_shares_[i]);
    keep(bouncing_[i], bounce_shares_[i]);
  }
}

void ReferenceStepper::keep_contacts() {
  for (const Contact& c : mechanism.now.contacts)
    if (c.x[0] != 0) mechanism.now.struck.push_back({c.a, c.b, c.point, c.normal, c.impulse()});
}

JointMotion ReferenceStepper::joint_motion(const State& s, int number) const {
  DriveForces forces = drive_forces(mechanism.now.drives, number, part_h_ > 0 ? 1 / part_h_ : 0);
  for (const DriveLaw& law : mechanism.drives.laws()) {
    if (law.joint != number || law.one_sided) continue;
    const DriveLaws::Parts by = mechanism.drives.parts(mechanism, s.u, law);
    forces.motor[by.axis] += by.motor;
    forces.passive[by.axis] += by.spring + by.damper + by.friction + by.holding;
  }
  return rotule::joint_motion(mechanism.model, mechanism.model.joints[number], s, forces);
}

const VecX& ReferenceStepper::accelerations(const State& s, double t) {
  if (by_impulses()) {
    if (start_u_.size() == s.u.size() && last_h_ > 0)
      accelerations_ = (s.u - start_u_) / last_h_;
    else
      accelerations_.setZero(s.u.size());
    return accelerations_;
  }
  const JointedMechanism::Untraced untraced(mechanism);
  mechanism.accelerations(t, s, accelerations_);
  return accelerations_;
}

}  // namespace rotule
