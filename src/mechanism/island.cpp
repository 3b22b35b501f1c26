#include "mechanism/island.h"

#include <rotule/solvers/dense_ldlt.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/budget.h"
#include "base/shares.h"
#include "base/spans.h"
#include "dynamics/forces/added_mass.h"
#include "linalg/decompositions.h"
#include "solve/solve.h"

namespace rotule {

void Island::assemble(const IslandParts& parts, std::span<const int> local_of, Rows rows) {
  problem.blocks.clear();
  problem.more.clear();
  problem.friction.clear();
  one_sided_.clear();
  any_one_sided_ = false;
  of_bodies_known_ = false;
  split.forget_blocks();
  const auto place = [&](int body) { return body == world_body ? -1 : local_of[body]; };
  int row = 0, more_row = 0;
  for (const int j : linkages) {
    const Linkage& linkage = parts.linkages[j];
    const auto first_more = static_cast<std::int32_t>(problem.more.size());
    int number = 0;
    for (ConstraintBlock block : linkage.constraints.blocks()) {
      one_sided_.push_back(linkage.constraints.bounded(number++) ? 1 : 0);
      any_one_sided_ = any_one_sided_ || one_sided_.back() != 0;
      for (std::int32_t* body : {&block.body_a, &block.body_b})
        if (*body >= 0) *body = local_of[linkage.bodies[*body]];
      block.first_row += row;
      block.first_more += first_more;
      problem.blocks.push_back(block);
    }
    for (const BlockPartner& partner : linkage.constraints.more())
      problem.more.push_back({local_of[linkage.bodies[partner.body]], partner.first + more_row});
    row += linkage.constraints.rows();
    more_row += linkage.constraints.more_rows();
  }
  problem.J_more.resize(more_row, 6);
  values.resize(row);
  first_drive_ = problem.blocks.size();
  for (const int k : drives) {
    const DriveRow& drive = parts.drives[k];
    problem.blocks.push_back({row++, 1, place(drive.a), place(drive.b), drive.joint});
  }
  first_contact_ = problem.blocks.size();
  for (const int k : contacts) {
    const Contact& c = parts.contacts[k];
    const int count = rows == Rows::normals ? 1 : c.rows();
    problem.blocks.push_back({row, count, place(c.a), place(c.b), parts.joint_count + k});
    row += count;
  }

  problem.resize(static_cast<int>(bodies.size()), row);
  for (Mat6& W : problem.inverse_mass) W.setZero();
  local.resize(6 * static_cast<Eigen::Index>(bodies.size()));
  x.setZero(row);
  for (std::size_t n = 0; n < first_drive_; ++n)
    if (problem.blocks[n].rows > 0 && one_sided_[n])
      problem.lower.segment(problem.blocks[n].first_row, problem.blocks[n].rows).setZero();
  for (std::size_t k = 0; k < drives.size(); ++k) {
    const int r = drive_block(k).first_row;
    problem.lower[r] = parts.drives[drives[k]].lower;
    problem.upper[r] = parts.drives[drives[k]].upper;
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    if (rows == Rows::normals)
      problem.lower[contact_block(k).first_row] = 0;
    else
      write_laws(parts.contacts[contacts[k]], parts.cone, contact_block(k), problem);
  }
  space.assemble(parts.trees, parts.linkages, linkages, local_of, parts.drives, drives, first_drive_, problem);
}

void Island::take_parts(const Island& other) {
  bodies = other.bodies;
  slots = other.slots;
  linkages = other.linkages;
  drives = other.drives;
  contacts = other.contacts;
}

void Island::evaluate(std::span<const Linkage> all, const Model& model, const Kinematics& kinematics, double t) {
  int row = 0, more_row = 0;
  for (const int j : linkages) {
    const ConstraintSet& constraints = all[j].constraints;
    constraints.evaluate(kinematics, t, problem, values, row, more_row, gang);
    auto compliance = problem.C.segment(row, constraints.rows());
    share_evenly(gang, constraints.rows(), [&](std::int64_t first, std::int64_t end) {
      compliance.segment(first, end - first) = all[j].compliance.segment(first, end - first);
    });
    row += constraints.rows();
    more_row += constraints.more_rows();
  }
  share_pieces(gang, static_cast<int>(bodies.size()), [&](int first, int end) {
    for (int i = first; i < end; ++i) kinematics.write_inverse_mass(model, bodies[i], problem.inverse_mass[i]);
  });
  problem.coupled = model.has_added_mass();
  space.forget_matrix();
  take_groups(model, kinematics, bodies, split);
  // What is at least zero may have no gradient where it has room, as in the middle of a cone: such a row can do nothing.
  constexpr double no_gradient = 1e-24;
  for (std::size_t n = 0; any_one_sided_ && n < first_drive_; ++n) {
    const ConstraintBlock& block = problem.blocks[n];
    for (int r = block.first_row; one_sided_[n] && r < block.first_row + block.rows; ++r) {
      double square = 0;
      for_each_body(problem, block,
                    [&](int, const JacobianRows& J, int first) { square += J.row(first + r - block.first_row).squaredNorm(); });
      if (square < no_gradient) problem.C[r] = 1;
    }
  }
}

void Island::evaluate(const IslandParts& parts, const Model& model, const Kinematics& kinematics, double t) {
  evaluate(parts.linkages, model, kinematics, t);
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

void Island::gather(const VecX& global, VecX& into) const {
  share_pieces(gang, static_cast<int>(bodies.size()), [&](int first, int end) {
    for (int i = first; i < end; ++i) into.segment<6>(6 * i) = slots[i].read(global);
  });
}

void Island::scatter(VecX& global) const {
  share_pieces(gang, static_cast<int>(bodies.size()), [&](int first, int end) {
    for (int i = first; i < end; ++i) slots[i].write(local.segment<6>(6 * i), global);
  });
}

const ConstraintProblem& Island::solved() {
  if (space.in_use()) return space.problem;
  return split.in_use() ? split.form(problem) : problem;
}

void Island::take_masses(const Island& other) {
  problem.inverse_mass = other.problem.inverse_mass;
  split.groups = other.split.groups;
  split.forget_matrix();
}

void Island::measure_by_length(const Model& model) {
  for (std::size_t i = 0; i < bodies.size(); ++i) problem.inverse_mass[i] *= model.mass(bodies[i]);
  for (SplitMass::Group& group : split.groups)
    for (std::size_t i = 0; i < group.places.size(); ++i)
      for (std::size_t k = 0; k < group.places.size(); ++k)
        group.inverse.block<6, 6>(static_cast<Eigen::Index>(6 * i), static_cast<Eigen::Index>(6 * k)) *=
            std::sqrt(model.mass(bodies[static_cast<std::size_t>(group.places[i])]) *
                      model.mass(bodies[static_cast<std::size_t>(group.places[k])]));
  split.forget_matrix();
}

void Island::solve(const SolverChoice& solver) {
  const SolveBudget budget;
  if (space.in_use()) {
    int iterations = 0;
    do {
      solve_by_rates(solver);
      iterations += report.iterations;
    } while (space.is_overrun(problem, x));
    report.iterations = iterations;
  } else {
    rotule::solve(solved(), solver, workspace, view(x), report);
  }
  if (!report.converged && !(drives.empty() && contacts.empty())) shorten();
}

void Island::solve_by_rates(const SolverChoice& solver) {
  space.form(problem);
  // Direct solvers of joints read the structure of bodies, which this problem has none of: its matrix is dense.
  if (space.problem.rows() == 0)
    report = {};
  else if (solver.traits().exact && !solver.traits().bounds)
    rotule::solve(space.problem, DenseLdltSettings{}, workspace, view(space.x), report);
  else
    rotule::solve(space.problem, solver, workspace, view(space.x), report);
  space.spread(problem, x);
}

void Island::shorten() {
  after.setZero(static_cast<Eigen::Index>(6 * bodies.size()));
  apply_impulses(after);
  double length = 0;
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      length += x[r] * (row_velocity(problem, block, r, view(after)) + problem.C[r] * x[r]);
  const double wanted = x.dot(problem.b);
  if (length > wanted) x *= std::max(0.0, wanted / length);
}

double Island::largest_error() const {
  return share_largest(gang, values.C.size(), [&](Eigen::Index first, Eigen::Index end) {
    double largest = 0;
    for (Eigen::Index r = first; r < end; ++r) {
      const double own = error(r);
      largest = std::isnan(own) ? infinity : std::max(largest, own);
    }
    return largest;
  });
}

void Island::keep() {
  if (space.in_use()) space.gather(x);
  kept_problem = solved();
  kept_x = space.in_use() ? space.x : x;
}

void Island::judge() {
  if (space.in_use() && space.problem.rows() == 0) {
    residual = 0;
    return;
  }
  if (space.in_use()) space.gather(x);
  const bool shared = gang != nullptr && !space.in_use() && !split.in_use();
  if (shared) find_blocks_of_bodies();
  rows_judge.begin(solved(), &of_bodies_, shared ? gang : nullptr);
  residual = rows_judge.judge(view(space.in_use() ? space.x : x));
}

void Island::weigh_rows() {
  if (space.in_use()) space.form(problem);
  rows_judge.begin(solved());
}

double Island::entry(int row) const {
  const int place = space.in_use() ? space.place_of(row) : row;
  return place < 0 ? 0 : rows_judge.diagonal()[static_cast<std::size_t>(place)];
}

void Island::apply_impulses(VecX& velocities) {
  if (space.in_use()) return space.apply_impulses(problem, x, view(velocities));
  if (split.in_use()) {
    static_cast<void>(solved());
    return split.apply_impulses(view(x), velocities);
  }
  if (!gang) return rotule::apply_impulses(problem, view(x), view(velocities));
  find_blocks_of_bodies();
  of_bodies_.apply_impulses(problem, view(x), view(velocities), gang);
}

void Island::find_blocks_of_bodies() {
  if (!of_bodies_known_) of_bodies_.find(problem);
  of_bodies_known_ = true;
}

void Island::apply_impulses() { apply_impulses(local); }

void make_islands(const Model& model, std::span<const Linkage> linkages, std::vector<Island>& islands,
                  std::span<const int> stood) {
  std::vector<Island> before = std::exchange(islands, std::vector<Island>(linkages.size()));
  std::vector<int> local(model.partner_count(), -1);
  for (std::size_t k = 0; k < linkages.size(); ++k) {
    Island& island = islands[k];
    const bool known = !stood.empty() && stood[k] >= 0;
    if (known) island = std::move(before[stood[k]]);
    island.bodies = linkages[k].bodies;
    island.linkages = {static_cast<int>(k)};
    island.slots.clear();
    for (const int body : island.bodies) island.slots.push_back(model.slot(body));
    if (known) {  // the same rows of the same bodies, whatever those are called now
      const std::vector<ConstraintBlock>& blocks = linkages[k].constraints.blocks();
      for (std::size_t n = 0; n < blocks.size(); ++n) island.problem.blocks[n].source = blocks[n].source;
      continue;
    }
    for (std::size_t i = 0; i < island.bodies.size(); ++i) local[island.bodies[i]] = static_cast<int>(i);
    island.assemble({linkages, {}, {}}, local);
    island.pull.setZero(island.joint_rows());
    for (VecX* v : {&island.u, &island.local}) v->setZero(6 * static_cast<Eigen::Index>(island.bodies.size()));
  }
}

void soften(const Model& model, const Kinematics& kinematics, const Linkage& linkage, const JointAnswer& answer, double t,
            double h, std::span<const int> local_of, Island& island) {
  LumpedStiffness& K = island.stiffness;
  const int count = static_cast<int>(linkage.bodies.size());
  lump_stiffness(linkage.constraints, kinematics, t, answer.lambda, count, K, island.gang);
  const auto soften_one = [&](int k) {
    const int body = linkage.bodies[k], place = local_of[body];
    const Mat3& R = kinematics.bodies[body].R;
    const double m = model.mass(body);
    // Particles do not turn; theirs is what Kinematics puts there.
    const Mat3 I = model.is_particle(body) ? Mat3(m * Mat3::Identity()) : Mat3(R * model.inertia[body] * R.transpose());
    const Mat3 mass = m * Mat3::Identity() + h * h * K.linear[k];
    const Mat3 inertia = I + h * h * K.angular[k];
    Mat6& W = island.problem.inverse_mass[place];
    if (model.has_added_mass() && !model.is_particle(body)) {
      if (model.added_mass.group_of[body] >= 0) return;
      Mat6 whole = Mat6::Zero();
      if (const int block = model.added_mass.first[body]; block < model.added_mass.first[body + 1])
        whole = in_world(model.added_mass.blocks[block].mass, R);
      whole.topLeftCorner<3, 3>().diagonal().array() += m;
      whole.bottomRightCorner<3, 3>() += I;
      const Vec6 momentum = whole * island.local.segment<6>(6 * place);
      whole.topLeftCorner<3, 3>() += h * h * K.linear[k];
      whole.bottomRightCorner<3, 3>() += h * h * K.angular[k];
      W = inverse_of(whole);
      island.local.segment<6>(6 * place) = W * momentum;
      return;
    }
    W.topLeftCorner<3, 3>() = mass.inverse();
    W.bottomRightCorner<3, 3>() = inertia.inverse();
    // `local` holds M^-1 times the momentum; the softened mass divides the same momentum.
    auto v = island.local.segment<3>(6 * place);
    auto omega = island.local.segment<3>(6 * place + 3);
    v = W.topLeftCorner<3, 3>() * (m * Vec3(v));
    omega = W.bottomRightCorner<3, 3>() * (I * Vec3(omega));
  };
  share_pieces(island.gang, count, [&](int first, int end) {
    for (int k = first; k < end; ++k) soften_one(k);
  });
  for (SplitMass::Group& group : island.split.groups) {
    const std::vector<int>& members = model.added_mass.groups[static_cast<std::size_t>(group.source)];
    if (!std::ranges::binary_search(linkage.bodies, members.front())) continue;
    MatX whole = kinematics.groups[static_cast<std::size_t>(group.source)].mass;
    VecX own(whole.rows());
    for (std::size_t i = 0; i < members.size(); ++i)
      own.segment<6>(static_cast<Eigen::Index>(6 * i)) = island.local.segment<6>(6 * group.places[i]);
    const VecX momentum = whole * own;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      const auto k = static_cast<std::size_t>(std::ranges::lower_bound(linkage.bodies, members[i]) - linkage.bodies.begin());
      whole.block<3, 3>(at, at) += h * h * K.linear[k];
      whole.block<3, 3>(at + 3, at + 3) += h * h * K.angular[k];
    }
    group.inverse = inverse_of(whole);
    own = group.inverse * momentum;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(6 * i);
      island.local.segment<6>(6 * group.places[i]) = own.segment<6>(at);
      island.problem.inverse_mass[static_cast<std::size_t>(group.places[i])] = group.inverse.block<6, 6>(at, at);
    }
  }
  island.split.forget_matrix();
}

}  // namespace rotule
