#include "step/reference/impacts.h"

#include <algorithm>
#include <cmath>

#include "base/shared_work.h"
#include "step/reference/kinetic.h"

namespace rotule {

namespace {

/// The speed at which the surfaces approach each other.
double closing_speed(const Contact& c, const Kinematics& bodies, const VecX& u) {
  const auto velocity = [&](int i) -> Vec3 {
    return Vec3(u.segment<3>(6 * i)) + Vec3(u.segment<3>(6 * i + 3)).cross(c.point - bodies[i].p);
  };
  return c.normal.dot(velocity(c.a) - velocity(c.b));
}

}  // namespace

void Impacts::strike(JointedMechanism& mechanism, const IslandParts& parts, Island& island, double t, VecX& u) {
  island.assemble(parts, search_.local_of);
  island.evaluate(parts, mechanism.model, mechanism.kinematics, t);
  island.gather(u, island.local);
  before_ = island.local;
  island.problem.h = 1;
  formulate_velocity(island.values, before_, 0, island.problem);
  for (std::size_t k = 0; k < island.drives.size(); ++k)
    formulate_velocity(parts.drives[island.drives[k]], island.drive_block(k), before_, island.problem);
  const auto keep_blow = [&] {
    for (std::size_t k = 0; k < island.contacts.size(); ++k) {
      Contact c = parts.contacts[island.contacts[k]];
      const ConstraintBlock& block = island.contact_block(k);
      c.x.head(block.rows) = island.x.segment(block.first_row, block.rows);
      if (c.x[0] > 0) mechanism.now.struck.push_back({c.a, c.b, c.point, c.normal, c.impulse()});
    }
  };
  const auto solve = [&](double restitution) {
    for (std::size_t k = 0; k < island.contacts.size(); ++k) {
      const Contact& c = parts.contacts[island.contacts[k]];
      formulate_blow(c, restitution * c.law.restitution * c.closing, island.contact_block(k), before_, island.problem);
    }
    island.solve(mechanism.recipe.solver);
    count(island.report, mechanism.now.report);
    island.local = before_;
    island.apply_impulses();
  };
  // A material that gains energy is taken at its word, and what a kinematic body strikes may have some of its.
  const bool gains = std::any_of(island.contacts.begin(), island.contacts.end(), [&](int k) {
    const Contact& c = parts.contacts[k];
    return (c.law.restitution > 1 && c.closing > 0) || !c.given.isZero(0);
  });
  const double most = gains ? infinity : kinetic_energy(mechanism, island, before_);
  solve(1);
  if (kinetic_energy(mechanism, island, island.local) > most) {
    thrown_ = island.local;
    thrown_x_ = island.x;
    solve(0);
    const double share = share_within_energy(mechanism, island, island.local, thrown_, most);
    island.local += share * (thrown_ - island.local);
    island.x += share * (thrown_x_ - island.x);
  }
  keep_blow();
  given_work += rotule::given_work(parts, island);
  island.scatter(u);
}

int Impacts::resolve(JointedMechanism& mechanism, const ContactRules& rules, std::span<const char> touching, bool cone, State& s,
                     double t) {
  const std::vector<Contact>& contacts = mechanism.now.contacts;
  const auto rigid_bounce = [&](const Contact& c) { return c.law.restitution > 0 && c.law.stiffness == 0; };
  const auto closes = [&](const Contact& c) {
    return rigid_bounce(c) && closing_speed(c, mechanism.kinematics, s.u) > rules.restitution_speed(c.size);
  };
  const auto any_closes = [&] {
    for (std::size_t k = 0; k < contacts.size(); ++k)
      if (touching[k] && closes(contacts[k])) return true;
    return false;
  };

  constexpr int most_rounds = 64;
  int bounced = 0;
  given_work = 0;
  bool at_once = false;
  for (int round = 0; !at_once; ++round) {
    if (round == 0) mechanism.kinematics.update(mechanism.model, s);
    if (!any_closes()) break;
    if (round == 0) mechanism.place_trees(s);
    if (round == 0) {
      stops_ = mechanism.now.drives;
      evaluate_drives(mechanism.model, mechanism.kinematics, mechanism.h, stops_);
      std::erase_if(stops_, [](const DriveRow& row) { return row.kind > DriveRow::Kind::upper || row.overshoot < 0; });
    }
    // Who takes part in this blow: what closes, and what holds without ever bouncing.
    at_once = round == most_rounds || SharedWork::spent_here();
    acting_.clear();
    bouncing_.clear();
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      const Contact& c = contacts[k];
      if (!touching[k] || c.law.stiffness > 0) continue;
      const bool closing = closes(c);
      if (!closing && rigid_bounce(c) && !at_once) continue;
      acting_.push_back(c);
      acting_.back().x.setZero();
      acting_.back().closing = closing && !at_once ? closing_speed(c, mechanism.kinematics, s.u) : 0;
      bouncing_.push_back(closing);
      bounced += closing;
    }
    const IslandParts parts{mechanism.linkages, stops_, acting_, static_cast<int>(mechanism.model.joints.size()), cone,
                            mechanism.trees};
    const int count = split_into_islands(mechanism.model, parts, islands_, search_);
    for (int i = 0; i < count; ++i) {
      Island& island = islands_[i];
      const bool struck = std::any_of(island.contacts.begin(), island.contacts.end(), [&](int k) { return bouncing_[k]; });
      if (!struck) continue;
      strike(mechanism, parts, island, t, s.u);
    }
  }
  return bounced;
}

}  // namespace rotule
