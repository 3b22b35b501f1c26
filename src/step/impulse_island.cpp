#include "step/impulse_island.h"

#include <algorithm>
#include <numeric>

#include "solve/solve.h"

namespace rotule {

void ImpulseIsland::assemble(const Parts& parts, std::span<const int> local_of, bool normals_only) {
  problem.blocks.clear();
  problem.more.clear();
  problem.J_more.resize(0, 6);
  problem.friction.clear();
  const auto place = [&](int body) { return body == world_body ? -1 : local_of[body]; };
  int row = 0;
  for (const int j : jointed) {
    const Island& island = parts.jointed[j];
    append_blocks(
        island.problem, row, [&](int body) { return local_of[island.bodies[body]]; }, problem);
    row += island.problem.rows();
  }
  joint_rows_ = row;
  first_drive_ = problem.blocks.size();
  for (const int k : drives) {
    const DriveRow& drive = parts.drives[k];
    problem.blocks.push_back({row++, 1, place(drive.a), place(drive.b), drive.joint});
  }
  first_contact_ = problem.blocks.size();
  for (const int k : contacts) {
    const Contact& c = parts.contacts[k];
    const int rows = normals_only ? 1 : c.rows();
    problem.blocks.push_back({row, rows, place(c.a), place(c.b), parts.joint_count + k});
    row += rows;
  }

  problem.resize(static_cast<int>(bodies.size()), row);
  for (Mat6& W : problem.inverse_mass) W.setZero();
  local.resize(6 * static_cast<Eigen::Index>(bodies.size()));
  x.setZero(row);
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const int r = drive_block(k).first_row;
    problem.lower[r] = parts.drives[drives[k]].lower;
    problem.upper[r] = parts.drives[drives[k]].upper;
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (normals_only)
      problem.lower[contact_block(k).first_row] = 0;
    else
      write_laws(parts.contacts[contacts[k]], parts.cone, contact_block(k), problem);
  }
}

void ImpulseIsland::write_rows(const Parts& parts, const Model& model, const Kinematics& kinematics) {
  for (std::size_t i = 0; i < bodies.size(); ++i) kinematics.write_inverse_mass(model, bodies[i], problem.inverse_mass[i]);
  int row = 0, more_row = 0;
  for (const int j : jointed) {
    const Island& island = parts.jointed[j];
    const int rows = island.problem.rows(), more_rows = static_cast<int>(island.problem.J_more.rows());
    problem.J_more.middleRows(more_row, more_rows) = island.problem.J_more;
    more_row += more_rows;
    problem.J_a.middleRows(row, rows) = island.problem.J_a;
    problem.J_b.middleRows(row, rows) = island.problem.J_b;
    problem.C.segment(row, rows) = island.problem.C;
    row += rows;
    // Their masses may be softened (F1).
    for (std::size_t i = 0; i < island.bodies.size(); ++i) {
      const auto place = std::lower_bound(bodies.begin(), bodies.end(), island.bodies[i]) - bodies.begin();
      problem.inverse_mass[static_cast<std::size_t>(place)] = island.problem.inverse_mass[i];
    }
  }
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const DriveRow& drive = parts.drives[drives[k]];
    const int r = drive_block(k).first_row;
    problem.J_a.row(r) = drive.J_a.transpose();
    problem.J_b.row(r) = drive.J_b.transpose();
    problem.C[r] = drive.compliance;
  }
  for (std::size_t k = 0; k < contacts.size(); ++k)
    write_jacobian(parts.contacts[contacts[k]], kinematics, contact_block(k), problem);
}

void ImpulseIsland::gather(const VecX& global) {
  for (std::size_t i = 0; i < bodies.size(); ++i) local.segment<6>(6 * i) = slots[i].read(global);
}

void ImpulseIsland::take_parts(const ImpulseIsland& other) {
  bodies = other.bodies;
  slots = other.slots;
  jointed = other.jointed;
  drives = other.drives;
  contacts = other.contacts;
}

void ImpulseIsland::scatter(VecX& global) const {
  for (std::size_t i = 0; i < bodies.size(); ++i) slots[i].write(local.segment<6>(6 * i), global);
}

void ImpulseIsland::solve(const SolverSettings& solver) {
  rotule::solve(problem, solver, workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
}

void ImpulseIsland::judge() {
  residual = rotule::residual(problem, {x.data(), static_cast<std::size_t>(x.size())}, residual_scratch).relative;
}

void ImpulseIsland::apply() {
  apply_impulses(problem, {x.data(), static_cast<std::size_t>(x.size())}, {local.data(), static_cast<std::size_t>(local.size())});
}

int split_into_impulse_islands(const Model& model, const Parts& parts, std::vector<ImpulseIsland>& out, IslandSearch& search) {
  auto& [local_of, parent, island_of] = search;
  parent.resize(model.partner_count());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parents = search.parent](int i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
  };
  const auto join = [&](int p, int q) {
    const int a = root(p), b = root(q);
    search.parent[std::max(a, b)] = std::min(a, b);
  };
  for (const Island& island : parts.jointed)
    for (const int body : island.bodies) join(island.bodies.front(), body);
  for (const Contact& c : parts.contacts)
    if (model.movable(c.a) && model.movable(c.b)) join(c.a, c.b);

  // Islands in the order of their first body; bodies that nothing touches belong to none.
  island_of.assign(model.partner_count(), -1);
  const auto mark = [&](int body) { search.island_of[root(body)] = 0; };
  for (const Island& island : parts.jointed) mark(island.bodies.front());
  for (const Contact& c : parts.contacts) mark(model.movable(c.a) ? c.a : c.b);
  int count = 0;
  for (int i = 0; i < model.partner_count(); ++i)
    if (model.movable(i) && root(i) == i && island_of[i] == 0) island_of[i] = count++;
  if (count > static_cast<int>(out.size())) out.resize(count);
  for (int k = 0; k < count; ++k) {
    out[k].bodies.clear();
    out[k].slots.clear();
    out[k].jointed.clear();
    out[k].drives.clear();
    out[k].contacts.clear();
  }
  local_of.assign(model.partner_count(), -1);
  for (int i = 0; i < model.partner_count(); ++i) {
    if (!model.movable(i) || island_of[root(i)] < 0) continue;
    ImpulseIsland& island = out[island_of[root(i)]];
    local_of[i] = static_cast<int>(island.bodies.size());
    island.bodies.push_back(i);
    island.slots.push_back(model.slot(i));
  }
  const auto island_with = [&](int a, int b) -> ImpulseIsland& { return out[search.island_of[root(model.movable(a) ? a : b)]]; };
  for (std::size_t j = 0; j < parts.jointed.size(); ++j) {
    const int body = parts.jointed[j].bodies.front();
    island_with(body, body).jointed.push_back(static_cast<int>(j));
  }
  for (std::size_t k = 0; k < parts.drives.size(); ++k)
    island_with(parts.drives[k].a, parts.drives[k].b).drives.push_back(static_cast<int>(k));
  for (std::size_t k = 0; k < parts.contacts.size(); ++k)
    island_with(parts.contacts[k].a, parts.contacts[k].b).contacts.push_back(static_cast<int>(k));
  return count;
}

}  // namespace rotule
