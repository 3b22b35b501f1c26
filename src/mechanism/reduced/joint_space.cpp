#include "mechanism/reduced/joint_space.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "base/spans.h"
#include "problem/operators.h"

namespace rotule {

void JointSpace::take_rows(const ConstraintProblem& whole, int block_number, int first, int end) {
  if (first == end) return;
  const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(block_number)];
  problem.blocks.push_back({static_cast<std::int32_t>(row_of_.size()), end - first, -1, -1, block.source});
  for (int r = first; r < end; ++r) {
    place_of_[static_cast<std::size_t>(r)] = static_cast<int>(row_of_.size());
    row_of_.push_back(r);
    block_of_.push_back(block_number);
  }
}

void JointSpace::assemble(std::span<LinkageTree> trees, std::span<const Linkage> linkages, std::span<const int> in_island,
                          std::span<const int> local_of, std::span<const DriveRow> drives, std::span<const int> in_drives,
                          std::size_t first_drive, const ConstraintProblem& whole) {
  known_ = any_soft_ = false;
  parts_.resize(trees.empty() ? 0 : in_island.size());
  if (parts_.empty()) return;

  // Of a joint of a tree there are the rows of axes that something holds; of others all but those that nothing does.
  problem.blocks.clear();
  problem.friction.clear();
  place_of_.assign(static_cast<std::size_t>(whole.rows()), -1);
  row_of_.clear();
  block_of_.clear();
  joint_rows_.clear();
  int n = 0, first_row = 0;
  const auto keep = [&](int block_number, int first, int end) { take_rows(whole, block_number, first, end); };
  homes_.assign(static_cast<std::size_t>(whole.bodies()), {-1, -1});
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    const Linkage& linkage = linkages[static_cast<std::size_t>(in_island[k])];
    part.tree = &trees[static_cast<std::size_t>(in_island[k])];
    part.places.clear();
    for (const int body : linkage.bodies) {
      const int place = local_of[static_cast<std::size_t>(body)];
      const auto in_linkage = static_cast<int>(part.places.size());
      part.places.push_back(place);
      if (part.tree->has(in_linkage)) homes_[static_cast<std::size_t>(place)] = {static_cast<int>(k), in_linkage};
    }
    part.impulses.resize(6 * part.places.size());
    part.velocities.resize(6 * part.places.size());
    part.soft.clear();
    part.first_block = n;
    part.held.clear();
    const auto blocks = static_cast<int>(linkage.constraints.blocks().size());
    for (int i = 0; i < blocks; ++i, ++n) {
      const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(n)];
      const int held = part.tree->holds(block.source) ? block.rows - static_cast<int>(linkage.constraints.driven(i).size()) : 0;
      part.held.push_back(held);
      int begin = block.first_row + held;
      const int end = block.first_row + block.rows;
      for (int r = begin; r < end; ++r)
        if (std::binary_search(linkage.idle.begin(), linkage.idle.end(), r - first_row)) {
          keep(n, begin, r);
          begin = r + 1;
        }
      keep(n, begin, end);
    }
    first_row += linkage.constraints.rows();
  }
  for (std::size_t k = 0; k < row_of_.size(); ++k)
    if (whole.lower[row_of_[k]] == -infinity && whole.upper[row_of_[k]] == infinity) joint_rows_.push_back(static_cast<int>(k));
  stops_.clear();
  const auto is_soft = [&](const DriveRow& drive, const ConstraintBlock& block) {
    if (drive.kind != DriveRow::Kind::spring || drive.lower != -infinity || drive.upper != infinity) return false;
    const int body = block.body_a >= 0 ? block.body_a : block.body_b;
    const Home home = body < 0 ? Home{} : homes_[static_cast<std::size_t>(body)];
    if (home.place < 0) return false;
    Part& part = parts_[static_cast<std::size_t>(home.owner)];
    const int rate = part.tree->rate_of(drive.joint, drive.axis);
    if (rate >= 0) part.soft.push_back({block.first_row, rate});
    return rate >= 0;
  };
  for (; n < static_cast<int>(whole.blocks.size()); ++n) {
    const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(n)];
    const std::size_t k = static_cast<std::size_t>(n) - first_drive;
    const DriveRow* const drive = k < in_drives.size() ? &drives[static_cast<std::size_t>(in_drives[k])] : nullptr;
    if (drive && is_soft(*drive, block))
      any_soft_ = true;
    else if (drive && (drive->kind == DriveRow::Kind::lower || drive->kind == DriveRow::Kind::upper))
      stops_.push_back({n, false});
    else
      keep(n, block.first_row, block.first_row + block.rows);
  }
  for (FrictionRows friction : whole.friction) {
    friction.first_row = place_of(friction.first_row);
    friction.normal_row = place_of(friction.normal_row);
    problem.friction.push_back(friction);
  }
  auto owners = static_cast<int>(parts_.size());
  for (Home& home : homes_)
    if (home.owner < 0) home.owner = owners++;
  owners_.resize(static_cast<std::size_t>(owners));
  for (std::size_t k = 0; k < owners_.size(); ++k) owners_[k].width = k < parts_.size() ? parts_[k].tree->width() : 6;
  always_ = {row_of_.size(), problem.blocks.size()};
}

void JointSpace::call_stops(const ConstraintProblem& whole) {
  for (std::size_t k = always_.rows; k < row_of_.size(); ++k) place_of_[static_cast<std::size_t>(row_of_[k])] = -1;
  row_of_.resize(always_.rows);
  block_of_.resize(always_.rows);
  problem.blocks.resize(always_.blocks);
  for (Stop& stop : stops_) {
    const int row = whole.blocks[static_cast<std::size_t>(stop.block)].first_row;
    stop.called = stop.called || whole.b[row] > 0 || whole.x0[row] > 0;
    if (stop.called) take_rows(whole, stop.block, row, row + 1);
  }
  problem.resize(0, static_cast<int>(row_of_.size()));
  x.setZero(static_cast<Eigen::Index>(row_of_.size()));
}

bool JointSpace::is_overrun(const ConstraintProblem& whole, const VecX& of_whole) {
  bool any = false, known = false;
  for (Stop& stop : stops_) {
    if (stop.called) continue;
    if (!known) {
      moved_.setZero(6 * static_cast<Eigen::Index>(whole.bodies()));
      apply_impulses(whole, of_whole, view(moved_));
      known = true;
    }
    const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(stop.block)];
    stop.called = row_velocity(whole, block, block.first_row, view(moved_)) < whole.b[block.first_row];
    any = any || stop.called;
  }
  if (any) known_ = false;
  return any;
}

void JointSpace::find_shares(const ConstraintProblem& whole) {
  for (Owner& owner : owners_) {
    owner.rows.clear();
    owner.y.clear();
    owner.Dy.clear();
  }
  if (shares_.size() < row_of_.size()) shares_.resize(row_of_.size());
  for (std::size_t k = 0; k < row_of_.size(); ++k) {
    std::vector<Share>& shares = shares_[k];
    shares.clear();
    const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(block_of_[k])];
    for_each_body(whole, block, [&](int body, const JacobianRows& J, int first) {
      const Home home = homes_[static_cast<std::size_t>(body)];
      Owner& owner = owners_[static_cast<std::size_t>(home.owner)];
      const auto width = static_cast<std::size_t>(owner.width);
      if (owner.rows.empty() || owner.rows.back() != static_cast<int>(k)) {
        shares.push_back({home.owner, static_cast<int>(owner.rows.size())});
        owner.rows.push_back(static_cast<int>(k));
        owner.y.resize(owner.y.size() + width, 0.0);
        owner.Dy.resize(owner.Dy.size() + width, 0.0);
      }
      double* const y = owner.y.data() + owner.y.size() - width;
      double* const Dy = owner.Dy.data() + owner.Dy.size() - width;
      const Vec6 impulse = J.row(first + row_of_[k] - block.first_row).transpose();
      if (home.place >= 0) {
        parts_[static_cast<std::size_t>(home.owner)].tree->innovate(home.place, impulse, y, Dy);
      } else {
        Eigen::Map<Vec6>(y) += impulse;
        Eigen::Map<Vec6>(Dy) += multiply_inverse_mass(whole, body, impulse);
      }
    });
    std::ranges::sort(shares, {}, &Share::owner);
  }
}

void JointSpace::form_matrix() {
  // Six rates of a tree are a body of mass 1; bodies by themselves stay what they are.
  ConstraintProblem& p = problem;
  next_.clear();  // per owner, its first body
  int bodies = 0;
  for (std::size_t k = 0; k < owners_.size(); ++k) {
    next_.push_back(bodies);
    bodies += k < parts_.size() ? (owners_[k].width + 5) / 6 : 1;
  }
  p.inverse_mass.assign(static_cast<std::size_t>(bodies), Mat6::Identity());
  p.more.clear();
  const auto chunk = [&](const Share& share, int n) {
    const Owner& owner = owners_[static_cast<std::size_t>(share.owner)];
    Vec6 out = Vec6::Zero();
    const int count = std::min(6, owner.width - 6 * n);
    out.head(count) = Eigen::Map<const VecX>(
        owner.y.data() + static_cast<std::ptrdiff_t>(share.at) * owner.width + 6 * static_cast<std::ptrdiff_t>(n), count);
    return out;
  };
  const auto visit = [&](int row, auto&& what) {
    for (const Share& share : shares_[static_cast<std::size_t>(row)])
      for (int n = 0; 6 * n < owners_[static_cast<std::size_t>(share.owner)].width; ++n)
        if (const Vec6 part = chunk(share, n); !part.isZero(0)) what(next_[static_cast<std::size_t>(share.owner)] + n, part);
  };
  int more_rows = 0;
  for (ConstraintBlock& block : p.blocks) {
    columns_.clear();  // the block's bodies
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      visit(r, [&](int body, const Vec6&) { columns_.push_back(body); });
    std::ranges::sort(columns_);
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    block.body_a = columns_.empty() ? -1 : columns_[0];
    block.body_b = columns_.size() < 2 ? -1 : columns_[1];
    block.first_more = static_cast<std::int32_t>(p.more.size());
    block.more_count = std::max(0, static_cast<int>(columns_.size()) - 2);
    for (std::size_t k = 2; k < columns_.size(); ++k, more_rows += block.rows) p.more.push_back({columns_[k], more_rows});
  }
  p.J_a.setZero(p.rows(), 6);
  p.J_b.setZero(p.rows(), 6);
  p.J_more.setZero(more_rows, 6);
  for (const ConstraintBlock& block : p.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      visit(r, [&](int body, const Vec6& part) {
        if (body == block.body_a) {
          p.J_a.row(r) = part.transpose();
        } else if (body == block.body_b) {
          p.J_b.row(r) = part.transpose();
        } else {
          const auto first = p.more.begin() + block.first_more;
          const auto at = std::lower_bound(first, first + block.more_count, body,
                                           [](const BlockPartner& partner, int other) { return partner.body < other; });
          p.J_more.row(at->first + r - block.first_row) = part.transpose();
        }
      });
}

void JointSpace::set_dependent_aside(const ConstraintProblem& whole) {
  constexpr double slack = 1e12;  // over what the row would answer if its bodies were free
  slack_.assign(row_of_.size(), 0.0);
  if (joint_rows_.empty()) return;
  const auto count = static_cast<Eigen::Index>(joint_rows_.size());
  elimination_.setZero(count, count);
  free_.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto r = static_cast<std::size_t>(joint_rows_[static_cast<std::size_t>(i)]);
    free_[i] = diagonal_entry(whole, whole.blocks[static_cast<std::size_t>(block_of_[r])], row_of_[r]);
    for (Eigen::Index j = 0; j <= i; ++j) {
      double sum = 0;
      for (const Share& a : shares_[r])
        for (const Share& b : shares_[static_cast<std::size_t>(joint_rows_[static_cast<std::size_t>(j)])]) {
          if (a.owner != b.owner) continue;
          const Owner& owner = owners_[static_cast<std::size_t>(a.owner)];
          const std::ptrdiff_t width = owner.width;
          sum += Eigen::Map<const VecX>(owner.y.data() + a.at * width, width)
                     .dot(Eigen::Map<const VecX>(owner.Dy.data() + b.at * width, width));
        }
      elimination_(i, j) = elimination_(j, i) = sum;
    }
  }
  dependent_.find(elimination_, free_);
  for (std::size_t i = 0; i < joint_rows_.size(); ++i)
    if (dependent_.dropped[i] != 0)
      slack_[static_cast<std::size_t>(joint_rows_[i])] =
          free_[static_cast<Eigen::Index>(i)] > 0 ? slack * free_[static_cast<Eigen::Index>(i)] : 1;
}

bool JointSpace::find_given(const ConstraintProblem& whole) {
  if (!any_soft_) return false;
  forces_.setZero(6 * static_cast<Eigen::Index>(whole.bodies()));
  for (Part& part : parts_) {
    if (part.soft.empty()) continue;
    part.pushes.setZero(part.tree->width());
    for (const auto& [row, rate] : part.soft) part.pushes[rate] += whole.b[row] / whole.C[row];
    std::ranges::fill(part.impulses, 0.0);
    std::ranges::fill(part.velocities, 0.0);
    part.tree->give_way(part.pushes, part.impulses, part.velocities);
    for (std::size_t k = 0; k < part.places.size(); ++k)
      forces_.segment<6>(6 * part.places[k]) = Eigen::Map<const Vec6>(part.velocities.data() + 6 * k);
  }
  return true;
}

void JointSpace::form(const ConstraintProblem& whole) {
  if (!known_) {
    call_stops(whole);
    for (Part& part : parts_) {
      part.weights.setZero(part.soft.empty() ? 0 : part.tree->width());
      for (const auto& [row, rate] : part.soft) part.weights[rate] += 1 / whole.C[row];
      part.tree->weigh_axes(part.weights);
    }
    find_shares(whole);
    form_matrix();
    for (std::size_t body = 0; body < homes_.size(); ++body)
      if (homes_[body].place < 0)
        problem.inverse_mass[static_cast<std::size_t>(next_[static_cast<std::size_t>(homes_[body].owner)])] =
            whole.inverse_mass[body];
    problem.coupled = whole.coupled;
    set_dependent_aside(whole);
    known_ = true;
  }
  const bool given = find_given(whole);
  for (std::size_t k = 0; k < row_of_.size(); ++k) {
    const auto at = static_cast<Eigen::Index>(k);
    const int r = row_of_[k];
    problem.b[at] = whole.b[r];
    if (given) problem.b[at] -= row_velocity(whole, whole.blocks[static_cast<std::size_t>(block_of_[k])], r, view(forces_));
    problem.C[at] = std::max(whole.C[r], slack_[k]);
    problem.lower[at] = whole.lower[r];
    problem.upper[at] = whole.upper[r];
    problem.x0[at] = slack_[k] > 0 ? 0 : whole.x0[r];
  }
  for (std::size_t k = 0; k < whole.friction.size(); ++k) problem.friction[k].mu = whole.friction[k].mu;
  problem.h = whole.h;
}

void JointSpace::spread(const ConstraintProblem& whole, VecX& of_whole) {
  of_whole.setZero(static_cast<Eigen::Index>(place_of_.size()));
  for (std::size_t k = 0; k < row_of_.size(); ++k) of_whole[row_of_[k]] = x[static_cast<Eigen::Index>(k)];
  if (!any_soft_) return;
  sum_impulses(whole, of_whole);
  for (Part& part : parts_) {
    if (part.soft.empty()) continue;
    const VecX& rates = part.tree->give_way(part.pushes, part.impulses, part.velocities);
    for (const auto& [row, rate] : part.soft) of_whole[row] = (whole.b[row] - rates[rate]) / whole.C[row];
  }
}

void JointSpace::gather(const VecX& of_whole) {
  for (std::size_t k = 0; k < row_of_.size(); ++k) x[static_cast<Eigen::Index>(k)] = of_whole[row_of_[k]];
}

void JointSpace::sum_impulses(const ConstraintProblem& whole, const VecX& of_whole) {
  forces_.setZero(6 * static_cast<Eigen::Index>(whole.bodies()));
  for (std::size_t k = 0; k < row_of_.size(); ++k) {
    const int r = row_of_[k];
    if (of_whole[r] == 0) continue;
    const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(block_of_[k])];
    for_each_body(whole, block, [&](int body, const JacobianRows& J, int first) {
      forces_.segment<6>(6 * body) += of_whole[r] * J.row(first + r - block.first_row).transpose();
    });
  }
  for (const Part& part : parts_)
    for (const auto& [row, rate] : part.soft) {
      const auto at = std::ranges::upper_bound(whole.blocks, row, {}, &ConstraintBlock::first_row) - 1;
      for_each_body(whole, *at, [&](int body, const JacobianRows& J, int first) {
        forces_.segment<6>(6 * body) += of_whole[row] * J.row(first).transpose();
      });
    }
  for (Part& part : parts_)
    for (std::size_t k = 0; k < part.places.size(); ++k)
      Eigen::Map<Vec6>(part.impulses.data() + 6 * k) = forces_.segment<6>(6 * part.places[k]);
}

void JointSpace::apply_impulses(const ConstraintProblem& whole, const VecX& of_whole, std::span<double> velocities) {
  sum_impulses(whole, of_whole);
  for (Part& part : parts_) {
    std::ranges::fill(part.velocities, 0.0);
    part.tree->respond(part.impulses, part.velocities);
    for (std::size_t k = 0; k < part.places.size(); ++k)
      Eigen::Map<Vec6>(velocities.data() + 6 * static_cast<std::ptrdiff_t>(part.places[k])) +=
          Eigen::Map<const Vec6>(part.velocities.data() + 6 * k);
  }
  for (int body = 0; body < whole.bodies(); ++body)
    if (homes_[static_cast<std::size_t>(body)].place < 0)
      Eigen::Map<Vec6>(velocities.data() + 6 * static_cast<std::ptrdiff_t>(body)) +=
          multiply_inverse_mass(whole, body, forces_.segment<6>(6 * body));
}

void JointSpace::find_joint_impulses(const ConstraintProblem& whole, double h, VecX& of_whole) {
  sum_impulses(whole, of_whole);
  for (Part& part : parts_) {
    const std::span<const LinkageTree::Through> through = part.tree->joint_impulses(part.impulses, h);
    for (std::size_t i = 0; i < part.held.size(); ++i) {
      const int rows = part.held[i];
      if (rows == 0) continue;
      const ConstraintBlock& block = whole.blocks[static_cast<std::size_t>(part.first_block) + i];
      const auto at = std::ranges::lower_bound(through, block.source, {}, &LinkageTree::Through::joint);
      // J^T x is the impulse on the child, and rows of one joint are independent.
      const bool is_a = block.body_a == part.places[static_cast<std::size_t>(at->place)];
      const Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor, 6, 6> J =
          (is_a ? whole.J_a : whole.J_b).middleRows(block.first_row, rows);
      const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6> square = J * J.transpose();
      const Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 6, 1> moved = J * at->impulse;
      of_whole.segment(block.first_row, rows) = square.ldlt().solve(moved);
    }
  }
}

}  // namespace rotule
