// The constraint problem that a real-time step is worth: rows, masses and right-hand sides as the reference would write them for
// one step of h from where it began, and as its answer the impulses that the parts of the step gave, summed.
#include "base/spans.h"
#include "constraint/formulation/formulations.h"
#include "step/realtime/articulations.h"
#include "step/realtime/records.h"
#include "step/realtime/touches.h"

namespace rotule::realtime {

void Records::begin_problem(const Model& model, const State& s, double t, double h, const VecX& forces, const ContactRules& rules,
                            double size, Touches& touches, const Articulations& articulations) {
  start.update(model, s, t);
  free = s.u;
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    free.segment<3>(6 * i) += h * model.gravity;
    if (forces.size() != free.size()) continue;
    free.segment<3>(6 * i) += h * model.inverse_mass[i] * forces.segment<3>(6 * i);
    free.segment<3>(6 * i + 3) += h * start.inverse_inertia[i] * forces.segment<3>(6 * i + 3);
  }
  touches.list(s, 1, contacts);
  for (Contact& c : contacts) {
    c.size = size;
    c.x.setZero();
    write_given(model, start, c);
    look_at_start(rules, start, s.u, free, h, c);
  }
  joints.resize(articulations.linkages().size());
  for (std::size_t i = 0; i < joints.size(); ++i) joints[i].setZero(articulations.linkages()[i].constraints.rows());
  drives.clear();
  evaluate_drives(model, start, h, drives);
  for (DriveRow& row : drives) row.x = 0;
}

void Records::add_part(const State& s, Touches& touches, const Articulations& articulations) {
  touches.list(s, 1, at_hand);
  for (std::size_t k = 0; k < contacts.size(); ++k) contacts[k].x += at_hand[k].x;
  for (std::size_t i = 0; i < joints.size(); ++i) joints[i] += articulations.impulses(i);
  for (std::size_t k = 0; k < drives.size(); ++k) drives[k].x += articulations.drives()[k].x;
}

double Records::close_problem(const Model& model, double t, double h, const ContactRules& rules,
                              const Articulations& articulations) {
  const IslandParts parts{articulations.linkages(), drives, contacts, static_cast<int>(model.joints.size()), true};
  island_count = split_into_islands(model, parts, islands, search);
  double worst = 0;
  for (int i = 0; i < island_count; ++i) {
    Island& island = islands[i];
    ConstraintProblem& p = island.problem;
    island.assemble(parts, search.local_of);
    island.evaluate(parts, model, start, t);
    island.local.resize(static_cast<Eigen::Index>(6 * island.bodies.size()));
    island.gather(free, island.local);
    p.h = h;
    formulate_velocity(island.values, island.local, 0, p);
    island.x.setZero(p.rows());
    int row = 0;
    for (const int j : island.linkages) {
      island.x.segment(row, joints[j].size()) = joints[j];
      row += static_cast<int>(joints[j].size());
    }
    for (std::size_t k = 0; k < island.drives.size(); ++k) {
      formulate_velocity(drives[island.drives[k]], island.drive_block(k), island.local, p);
      island.x[island.drive_block(k).first_row] = drives[island.drives[k]].x;
    }
    for (std::size_t k = 0; k < island.contacts.size(); ++k) {
      const Contact& c = contacts[island.contacts[k]];
      const ConstraintBlock& block = island.contact_block(k);
      formulate_velocity(c, rules, h, block, island.local, p);
      island.x.segment(block.first_row, block.rows) = c.x.head(block.rows);
    }
    p.x0.setZero();
    island.keep();
    island.judge();
    island.report.residual = island.residual;
    island.report.solver = "realtime";
    worst = std::max(worst, island.residual);
  }
  return worst;
}

}  // namespace rotule::realtime
