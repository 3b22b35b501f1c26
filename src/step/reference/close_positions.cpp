#include "step/reference/close_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "step/reference/kinetic.h"

namespace rotule {

double PositionClosing::error_of(const ContactRules& rules, const JointedMechanism& mechanism, const Island& island,
                                 double tolerance) const {
  const std::vector<Contact>& contacts = mechanism.now.contacts;
  double joint = 0, overlap = 0;
  for (const int j : island.linkages) joint = std::max(joint, mechanism.islands[j].largest_error());
  for (const int k : island.drives) joint = std::max(joint, limits_[k].overshoot);
  for (const int k : island.contacts)
    if (contacts[k].law.stiffness == 0)
      overlap = std::max(overlap, -gap_now(contacts[k], mechanism.kinematics) - rules.slop(contacts[k].size));
  return joint > tolerance || overlap > tolerance ? std::max(joint, overlap) : 0;
}

namespace {

/// Of the smallest body that touches something, m.
double size_of(std::span<const Contact> contacts) {
  double size = infinity;
  for (const Contact& c : contacts) size = std::min(size, c.size);
  return contacts.empty() ? 0 : size;
}

/// The weight's potential energy of an island's bodies, where they touch something: joints have no business lifting anything.
double touching_potential(const Model& model, const Island& island, const State& s) {
  double sum = 0;
  if (!island.contacts.empty())
    for (const int body : island.bodies) sum -= model.mass(body) * model.gravity.dot(point_of(model, s, body, Vec3::Zero()));
  return sum;
}

}  // namespace

void PositionClosing::close(const ProjectionSettings& settings, const ContactRules& rules, JointedMechanism& mechanism,
                            std::span<const Island> islands, const IslandSearch& search, State& s, double t, double h) {
  const StageClock::Scope stage(mechanism.clock, Stage::correct);
  const Model& model = mechanism.model;
  StepReport& report = mechanism.now.report;
  const auto count = static_cast<int>(islands.size());
  if (moved_.size() < islands.size()) moved_.resize(islands.size());
  heights_.resize(islands.size());
  for (int i = 0; i < count; ++i) heights_[i] = touching_potential(model, islands[i], s);
  bool moved = false;
  double before = infinity;
  for (int iteration = 0; iteration <= settings.max_iterations; ++iteration) {
    mechanism.evaluate(s, t);
    limits_ = mechanism.now.drives;
    evaluate_drives(model, mechanism.kinematics, h, limits_);
    double reach = 0;
    for (const BodyLanes<double>& body : mechanism.kinematics.bodies) reach = std::max(reach, body.p.cwiseAbs().maxCoeff());
    const double tolerance = std::max(settings.tolerance, 4 * std::numeric_limits<double>::epsilon() * reach);
    errors_.resize(islands.size());
    double worst = 0;
    for (int i = 0; i < count; ++i) {
      errors_[i] = error_of(rules, mechanism, islands[i], tolerance);
      worst = std::max(worst, errors_[i]);
    }
    if (worst == 0) break;
    if (iteration == settings.max_iterations || (iteration >= 2 && worst > 0.5 * before) || (iteration > 0 && Budget::spent())) {
      report.converged = report.converged && worst < 1e3 * std::max(tolerance, rules.slop(size_of(mechanism.now.contacts)));
      break;
    }
    before = worst;
    move_.setZero(s.u.size());
    parallel_for(count, mechanism.recipe.threads, [&](int i) {
      if (errors_[i] > 0) move_apart(mechanism, search, islands[i], t, moved_[i]);
    });
    for (int i = 0; i < count; ++i) {
      if (errors_[i] == 0) continue;
      ++report.solves;
      report.iterations += moved_[i].report.iterations;
    }
    displace(s, move_, s);
    moved = true;
    // What has been turned keeps its spin as seen from itself, and with it the energy; joints have velocities of their own.
    for (int i = 0; i < count; ++i)
      if (errors_[i] > 0 && islands[i].linkages.empty())
        for (const int body : islands[i].bodies)
          s.omega(body) = exp_rotation(move_.segment<3>(6 * body + 3)) * Vec3(s.omega(body));
  }
  for (int i = 0; moved && i < count; ++i)
    pay_for_height(mechanism, islands[i], touching_potential(model, islands[i], s) - heights_[i], s);
  for (const Island& island : islands)
    if (island.contacts.empty())
      for (const int j : island.linkages) mechanism.close_velocities(mechanism.islands[j], s);
}

void PositionClosing::pay_for_height(JointedMechanism& mechanism, const Island& island, double lifted, State& s) {
  if (!(lifted > 0)) return;
  u_.resize(static_cast<Eigen::Index>(6 * island.bodies.size()));
  island.gather(s.u, u_);
  const double kinetic = kinetic_energy(mechanism, island, u_);
  constexpr double most_paid = 0.9;  // of the energy of motion
  const double paid = std::min(lifted, most_paid * kinetic);
  mechanism.now.push_energy += lifted - paid;
  if (!(paid > 0)) return;
  const double slower = std::sqrt(1 - paid / kinetic);
  for (const VelocitySlot& slot : island.slots) slot.write(Vec6(slower * slot.read(s.u)), s.u);
}

void PositionClosing::move_apart(const JointedMechanism& mechanism, const IslandSearch& search, const Island& island, double t,
                                 Island& moved) {
  const std::vector<Contact>& contacts = mechanism.now.contacts;
  moved.take_parts(island);
  std::erase_if(moved.contacts, [&](int k) { return contacts[k].law.stiffness > 0; });
  std::erase_if(moved.drives, [&](int k) { return limits_[k].kind > DriveRow::Kind::upper; });
  const IslandParts parts{mechanism.linkages, limits_, contacts, static_cast<int>(mechanism.model.joints.size())};
  moved.assemble(parts, search.local_of, Island::Rows::normals);
  moved.evaluate(parts, mechanism.model, mechanism.kinematics, t);
  formulate_position(moved.values, moved.problem);
  for (std::size_t k = 0; k < moved.drives.size(); ++k)
    formulate_position(limits_[moved.drives[k]], moved.drive_block(k), moved.problem);
  for (std::size_t k = 0; k < moved.contacts.size(); ++k)
    formulate_position(contacts[moved.contacts[k]], mechanism.kinematics, moved.contact_block(k), moved.problem);
  const auto solve = [&] {
    moved.solve(mechanism.recipe.solver);
    moved.local.setZero();
    moved.apply_impulses();
  };
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
    moved.rows_judge.begin(moved.problem);
    for (std::size_t k = 0; k < moved.contacts.size(); ++k) {
      const int row = moved.contact_block(k).first_row;
      moved.problem.C[row] = giving * moved.rows_judge.diagonal()[static_cast<std::size_t>(row)];
    }
    solve();
  }
  moved.scatter(move_);
}

}  // namespace rotule
