#include "step/reference/close_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "dynamics/forces/added_mass.h"
#include "step/island_pieces.h"
#include "step/reference/kinetic.h"

namespace rotule {

double PositionClosing::error_of(const ContactRules& rules, const JointedMechanism& mechanism, const Island& island,
                                 double tolerance) const {
  const std::vector<Contact>& contacts = mechanism.now.contacts;
  double joint = 0, overlap = 0;
  for (const int j : island.linkages) joint = std::max(joint, mechanism.islands[j].largest_error());
  for (const int k : island.drives) joint = std::max(joint, limits_[k].overshoot);
  for (const int k : island.contacts)
    if (contacts[k].law.stiffness == 0 && !held_[k])
      overlap = std::max(overlap, -gap_now(contacts[k], mechanism.kinematics) - rules.slop(contacts[k].size));
  return joint > tolerance || overlap > tolerance ? std::max(joint, overlap) : 0;
}

namespace {

constexpr double shallow_share = 1e-3;  // of a body's size: as deep as steps let bodies into each other
constexpr double small_part = 0.1;      // of what lifting all of an island would cost: most of it stays where it is
constexpr double most_paid = 0.9;       // of the energy of motion
constexpr double held_share = 1e-4;     // of its own entry of A, by which a contact gives way to joints

/// Of the smallest body that touches something, m.
double size_of(std::span<const Contact> contacts) {
  double size = infinity;
  for (const Contact& c : contacts) size = std::min(size, c.size);
  return contacts.empty() ? 0 : size;
}

/// Of motion and of weight, J.
double energy_of(const Model& model, const State& s, int body) {
  const Vec6 u = model.slot(body).read(s.u);
  double twice = model.mass(body) * (u.head<3>().squaredNorm() - 2 * model.gravity.dot(point_of(model, s, body, Vec3::Zero())));
  if (!model.is_particle(body)) {
    const Vec3 omega = s.theta[body].conjugate() * Vec3(u.tail<3>());
    twice += omega.dot(model.inertia[body] * omega);
    if (model.has_added_mass()) twice += twice_added_energy(model, s, body);
  }
  return 0.5 * twice;
}

/// Whether any contact of a problem of positions is deeper than is let be.
bool overlaps(const ContactRules& rules, std::span<const Contact> contacts, const Island& moved) {
  for (std::size_t k = 0; k < moved.contacts.size(); ++k)
    if (moved.problem.b[moved.contact_block(k).first_row] > rules.slop(contacts[moved.contacts[k]].size)) return true;
  return false;
}

/// Whether something with a motion of its own presses bodies against something else that does not move.
bool is_pressed(const Model& model, std::span<const Contact> contacts, const Island& moved) {
  int first = -1;
  bool two = false, kinematic = false;
  for (const int k : moved.contacts)
    for (const int body : {contacts[k].a, contacts[k].b}) {
      if (model.movable(body)) continue;
      if (first < 0) first = body;
      two = two || body != first;
      kinematic = kinematic || model.kinematic(body);
    }
  return two && kinematic;
}

/// The weight's potential energy of an island's bodies, where they touch something: joints have no business lifting anything.
double touching_potential(const Model& model, const Island& island, const State& s) {
  double sum = 0;
  if (!island.contacts.empty())
    for (const int body : island.bodies) sum -= model.mass(body) * model.gravity.dot(point_of(model, s, body, Vec3::Zero()));
  return sum;
}

}  // namespace

void PositionClosing::begin(const Model& model, const State& s, Gang* gang) {
  had_.resize(static_cast<std::size_t>(model.partner_count()));
  share_pieces(gang, model.partner_count(), [&](int first, int end) {
    for (int i = first; i < end; ++i)
      if (model.movable(i)) had_[i] = energy_of(model, s, i);
  });
}

double PositionClosing::lost_by(const Model& model, const Island& island, const State& s) const {
  double lost = 0;
  if (!island.contacts.empty())
    for (const int body : island.bodies) lost += had_[body] - energy_of(model, s, body);
  return std::max(lost, 0.0);
}

double PositionClosing::means_of(const JointedMechanism& mechanism, const Island& island, const State& s) {
  u_.resize(static_cast<Eigen::Index>(6 * island.bodies.size()));
  island.gather(s.u, u_);
  return kinetic_energy(mechanism, island, u_);
}

bool PositionClosing::may_stay(const JointedMechanism& mechanism, const Island& island, double depth) const {
  if (!island.linkages.empty() || island.contacts.empty()) return false;
  double size = infinity;
  for (const int k : island.contacts) size = std::min(size, mechanism.now.contacts[k].size);
  return depth <= shallow_share * size;
}

bool PositionClosing::close(const ProjectionSettings& settings, const ContactRules& rules, JointedMechanism& mechanism,
                            std::span<const Island> islands, const IslandSearch& search, State& s, double t, double h,
                            LeastMove least) {
  const StageClock::Scope stage(mechanism.clock, Stage::correct);
  const Model& model = mechanism.model;
  StepReport& report = mechanism.now.report;
  const auto count = static_cast<int>(islands.size());
  if (moved_.size() < islands.size()) moved_.resize(islands.size());
  heights_.resize(islands.size());
  lost_.resize(islands.size());
  stays_.assign(islands.size(), 0);
  held_.assign(mechanism.now.contacts.size(), 0);
  shallow_.assign(islands.size(), 0);
  for (int i = 0; i < count; ++i) {
    heights_[i] = touching_potential(model, islands[i], s);
    lost_[i] = lost_by(model, islands[i], s);
  }
  bool moved = false;
  double before = infinity;
  for (int iteration = 0; iteration <= settings.max_iterations; ++iteration) {
    mechanism.evaluate(s, t);
    limits_ = mechanism.now.drives;
    evaluate_drives(model, mechanism.kinematics, h, limits_);
    const double tolerance = std::max(settings.tolerance, 4 * std::numeric_limits<double>::epsilon() * mechanism.furthest());
    errors_.resize(islands.size());
    double worst = 0;
    for (int i = 0; i < count; ++i) {
      errors_[i] = error_of(rules, mechanism, islands[i], tolerance);
      if (iteration == 0 && errors_[i] > 0) {
        shallow_[i] = may_stay(mechanism, islands[i], errors_[i]);
        double weight = 0;
        for (const int body : islands[i].bodies) weight += model.mass(body) * model.gravity.norm();
        stays_[i] = shallow_[i] && lost_[i] + means_of(mechanism, islands[i], s) < small_part * weight * errors_[i];
      }
      if (stays_[i]) errors_[i] = 0;
      worst = std::max(worst, errors_[i]);
    }
    if (worst == 0) break;
    if (iteration == settings.max_iterations || (iteration >= 2 && worst > 0.5 * before) || (iteration > 0 && Budget::spent())) {
      report.converged = report.converged && worst < 1e3 * std::max(tolerance, rules.slop(size_of(mechanism.now.contacts)));
      break;
    }
    before = worst;
    mechanism.place_trees(s);
    if (!moved) kept_ = s;
    move_.setZero(s.u.size());
    for_each_piece(islands, mechanism.recipe.threads, 1, [&](int i) {
      if (errors_[i] > 0) move_apart(rules, mechanism, search, islands[i], t, least, moved_[i]);
    });
    for (int i = 0; i < count; ++i) {
      if (errors_[i] == 0) continue;
      ++report.solves;
      report.iterations += moved_[i].report.iterations;
    }
    mechanism.move(move_, s.u, s);
    moved = true;
    // What has been turned keeps its spin as seen from itself, and with it the energy; joints have velocities of their own.
    for (int i = 0; i < count; ++i)
      if (errors_[i] > 0 && islands[i].linkages.empty())
        for (const int body : islands[i].bodies)
          s.omega(body) = exp_rotation(move_.segment<3>(6 * body + 3)) * Vec3(s.omega(body));
  }
  for (std::size_t k = 0; moved && k < held_.size(); ++k)
    if (held_[k]) report.held_overlap = std::max(report.held_overlap, -gap_now(mechanism.now.contacts[k], mechanism.kinematics));
  for (int i = 0; moved && i < count; ++i) {
    const double lifted = touching_potential(model, islands[i], s) - heights_[i];
    if (!(lifted > 0)) continue;
    const double kinetic = means_of(mechanism, islands[i], s);
    const double affordable = lost_[i] + most_paid * kinetic;
    const double share = shallow_[i] && lifted > affordable ? affordable / lifted : 1;
    if (share < 1) go_part_of_the_way(islands[i], share, s);
    pay_for_height(mechanism, islands[i], share * lifted, kinetic, s);
  }
  for (const Island& island : islands)
    if (island.contacts.empty())
      for (const int j : island.linkages)
        if (mechanism.trees.empty() || mechanism.trees[j].has_outside()) mechanism.close_velocities(mechanism.islands[j], s);
  return moved;
}

void PositionClosing::pay_for_height(JointedMechanism& mechanism, const Island& island, double lifted, double kinetic, State& s) {
  const double paid = std::min(lifted, most_paid * kinetic);
  mechanism.now.push_energy += lifted - paid;
  if (!(paid > 0)) return;
  const double slower = std::sqrt(1 - paid / kinetic);
  for (const VelocitySlot& slot : island.slots) slot.write(Vec6(slower * slot.read(s.u)), s.u);
}

void PositionClosing::go_part_of_the_way(const Island& island, double share, State& s) const {
  for (const int body : island.bodies) {
    if (body < s.bodies()) {
      s.p[body] = kept_.p[body] + share * (s.p[body] - kept_.p[body]);
      const Quat turned = Quat::Identity().slerp(share, s.theta[body] * kept_.theta[body].conjugate());
      s.theta[body] = (turned * kept_.theta[body]).normalized();
      s.omega(body) = turned * Vec3(kept_.omega(body));
    } else {
      const Eigen::Index k = 3 * (body - s.bodies());
      s.x.segment<3>(k) = kept_.x.segment<3>(k) + share * (s.x.segment<3>(k) - kept_.x.segment<3>(k));
    }
  }
}

void PositionClosing::move_apart(const ContactRules& rules, JointedMechanism& mechanism, const IslandSearch& search,
                                 const Island& island, double t, LeastMove least, Island& moved) {
  const std::vector<Contact>& contacts = mechanism.now.contacts;
  moved.take_parts(island);
  if (moved.gang != island.gang) moved.lend(island.gang);
  std::erase_if(moved.contacts, [&](int k) { return contacts[k].law.stiffness > 0; });
  std::erase_if(moved.drives, [&](int k) { return limits_[k].kind > DriveRow::Kind::upper; });
  const IslandParts parts{mechanism.linkages, limits_, contacts, static_cast<int>(mechanism.model.joints.size()), true,
                          mechanism.trees};
  moved.assemble(parts, search.local_of, Island::Rows::normals);
  moved.evaluate(parts, mechanism.model, mechanism.kinematics, t);
  if (least == LeastMove::by_length && moved.linkages.empty()) moved.measure_by_length(mechanism.model);
  formulate_position(moved.values, moved.problem);
  for (std::size_t k = 0; k < moved.drives.size(); ++k)
    formulate_position(limits_[moved.drives[k]], moved.drive_block(k), moved.problem);
  for (std::size_t k = 0; k < moved.contacts.size(); ++k)
    formulate_position(contacts[moved.contacts[k]], mechanism.kinematics, moved.contact_block(k), moved.problem);
  const auto give_way = [&](double share) {
    moved.weigh_rows();
    for (std::size_t k = 0; k < moved.contacts.size(); ++k) {
      const int row = moved.contact_block(k).first_row;
      moved.problem.C[row] = share * moved.entry(row);
    }
  };
  const auto solve = [&] {
    moved.solve(mechanism.recipe.solver);
    moved.local.setZero();
    moved.apply_impulses();
  };
  // Joints and given motions may leave contacts no way out, and there is no answer then. Rows that give way by next to nothing
  // always have one; those that gave way by all they had to are held, and the others solved for what they are.
  if ((!moved.linkages.empty() || is_pressed(mechanism.model, contacts, moved)) && overlaps(rules, contacts, moved)) {
    give_way(held_share);
    solve();
    note_held(rules, contacts, moved);
    moved.problem.x0 = moved.x;
  }
  solve();
  // Squeezed between surfaces that are nearly parallel, it would leave through the narrow end, however far that is. Rows that
  // give way a little find the way back by which it came, or leave a rest for the next step.
  constexpr double far_off = 4, giving = 0.1;
  double overlap = 0, far = 0;
  for (std::size_t k = 0; k < moved.contacts.size(); ++k)
    overlap = std::max(overlap, moved.problem.b[moved.contact_block(k).first_row]);
  for (std::size_t i = 0; i < moved.bodies.size(); ++i)
    far = std::max(far, moved.local.segment<3>(static_cast<Eigen::Index>(6 * i)).norm());
  if (moved.linkages.empty() && far > far_off * overlap) {
    give_way(giving);
    solve();
  }
  moved.scatter(move_);
}

void PositionClosing::note_held(const ContactRules& rules, std::span<const Contact> contacts, Island& moved) {
  for (std::size_t k = 0; k < moved.contacts.size(); ++k) {
    const int row = moved.contact_block(k).first_row, contact = moved.contacts[k];
    const double b = moved.problem.b[row];
    if (b > rules.slop(contacts[contact].size) && moved.problem.C[row] * moved.x[row] > 0.5 * b)
      held_[contact] = 1;
    else
      moved.problem.C[row] = 0;
  }
}

}  // namespace rotule
