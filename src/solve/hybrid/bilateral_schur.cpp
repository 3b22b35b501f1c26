#include "solve/hybrid/bilateral_schur.h"

#include <algorithm>

#include "base/budget.h"
#include "linalg/dense_ldlt.h"

namespace rotule {

namespace {

/// Below this ratio of a pivot to its diagonal entry, columns of S are refined.
constexpr double refined_ratio = 1e-5;
/// Below this share of its own entry of A, a row's entry of S is what rounding left: joints hold all that it could move.
constexpr double immovable = 1e-11;

/// Lists by key, compressed: `start` gets one more than `keys` entries, `items` the items in the order given.
template <class KeysOf>
void group_by(int keys, int items, KeysOf&& keys_of, std::vector<std::int32_t>& start, std::vector<std::int32_t>& list) {
  start.assign(keys + 2, 0);
  for (int i = 0; i < items; ++i)
    for (const int key : keys_of(i))
      if (key >= 0) ++start[key + 2];
  std::partial_sum(start.begin(), start.end(), start.begin());
  list.resize(start.back());
  for (int i = 0; i < items; ++i)
    for (const int key : keys_of(i))
      if (key >= 0) list[start[key + 1]++] = i;
  start.pop_back();
}

std::span<const std::int32_t> part(const std::vector<std::int32_t>& start, const std::vector<std::int32_t>& list, int key) {
  return {list.data() + start[key], static_cast<std::size_t>(start[key + 1] - start[key])};
}

}  // namespace

void BilateralSchur::split(const ConstraintProblem& problem) {
  classify(problem, sets_);
  others_.clear();
  new_row_.assign(problem.rows(), -1);
  joint_row_list_.clear();
  reduced_rows_ = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const bool joint = sets_[i].kind == RowSet::bilateral;
    if (!joint) others_.push_back(static_cast<std::int32_t>(i));
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      if (joint)
        joint_row_list_.push_back(r);
      else
        new_row_[r] = reduced_rows_++;
    }
  }
  joint_rows_ = problem.rows() - reduced_rows_;
  joint_blocks_.clear();
  from_matrix_ = problem.has_matrix();
  if (from_matrix_) {
    for (std::size_t i = 0; i < problem.blocks.size(); ++i)
      if (sets_[i].kind == RowSet::bilateral) joint_blocks_.push_back(problem.blocks[i]);
    entries_ = std::int64_t{reduced_rows_} * reduced_rows_;
  } else {
    find_assemblies(problem);
  }
}

void BilateralSchur::find_assemblies(const ConstraintProblem& problem) {
  const int bodies = problem.bodies(), blocks = static_cast<int>(problem.blocks.size());
  const auto moves = [&](int body) { return body >= 0 && mobility_of(problem.inverse_mass[body]) != Mobility::none; };

  // Bodies that joints connect.
  connected_.reset(bodies);
  for (int i = 0; i < blocks; ++i) {
    if (sets_[i].kind != RowSet::bilateral) continue;
    int tied = -1;  // the block's first body that moves
    for_each_body(problem, problem.blocks[i], [&](int body, const JacobianRows&, int) {
      if (!moves(body)) return;
      if (tied >= 0)
        connected_.join(tied, body);
      else
        tied = body;
    });
  }
  group_.resize(bodies);
  for (int body = 0; body < bodies; ++body) group_[body] = moves(body) ? connected_.root(body) : -1;

  // Joints by assembly; those that nothing can move are one more, the last.
  const auto joint_group = [&](int i) {
    int group = -1;
    for_each_body(problem, problem.blocks[i], [&](int body, const JacobianRows&, int) {
      if (group < 0) group = group_[body];
    });
    return group;
  };
  assembly_.assign(bodies + 1, -1);
  count_.clear();
  for (int i = 0; i < blocks; ++i) {
    if (sets_[i].kind != RowSet::bilateral) continue;
    const int g = joint_group(i), key = g >= 0 ? g : bodies;
    if (assembly_[key] < 0) {
      assembly_[key] = static_cast<std::int32_t>(count_.size());
      count_.push_back(0);
    }
    ++count_[assembly_[key]];
  }
  assembly_start_.assign(1, 0);
  for (const std::int32_t n : count_) assembly_start_.push_back(assembly_start_.back() + n);
  joint_blocks_.resize(assembly_start_.back());
  std::copy(assembly_start_.begin(), assembly_start_.end() - 1, count_.begin());
  for (int i = 0; i < blocks; ++i) {
    if (sets_[i].kind != RowSet::bilateral) continue;
    const int g = joint_group(i);
    joint_blocks_[count_[assembly_[g >= 0 ? g : bodies]]++] = problem.blocks[i];
  }

  group_by(
      bodies, bodies, [&](int body) { return std::span<const std::int32_t>(&group_[body], 1); }, members_start_, members_);
  group_by(
      bodies, static_cast<int>(joint_blocks_.size()),
      [&](int i) -> const std::vector<int>& {
        keys_.clear();
        for_each_body(problem, joint_blocks_[i], [&](int body, const JacobianRows&, int) { keys_.push_back(body); });
        return keys_;
      },
      incident_start_, incident_);
  group_by(
      bodies, static_cast<int>(others_.size()),
      [&](int i) -> const std::vector<int>& {
        find_groups(problem, problem.blocks[others_[i]]);
        return keys_;
      },
      touching_start_, touching_);

  entries_ = 0;
  for (int g = 0; g < bodies; ++g) {
    std::int64_t rows = 0;
    for (const int i : part(touching_start_, touching_, g)) rows += problem.blocks[others_[i]].rows;
    entries_ += rows * rows;
  }
}

void BilateralSchur::find_groups(const ConstraintProblem& problem, const ConstraintBlock& block) {
  keys_.clear();
  for_each_body(problem, block, [&](int body, const JacobianRows&, int) {
    if (group_[body] >= 0 && std::ranges::find(keys_, group_[body]) == keys_.end()) keys_.push_back(group_[body]);
  });
}

void BilateralSchur::factor(const ConstraintProblem& problem, double pivot_tolerance, SolveReport& report) {
  joint_x_.assign(problem.rows(), 0.0);
  velocities_.assign(6 * problem.bodies(), 0.0);
  product_.resize(problem.rows());
  if (problem.has_matrix()) return factor_matrix(problem, pivot_tolerance, report);
  const std::size_t assemblies = assembly_start_.size() - 1;
  if (systems_.size() < assemblies) systems_.resize(assemblies);
  refine_.resize(assemblies);
  joint_sum_.resize(problem.rows());
  for (std::size_t k = 0; k < assemblies; ++k) {
    const std::span<const ConstraintBlock> blocks(joint_blocks_.data() + assembly_start_[k],
                                                  joint_blocks_.data() + assembly_start_[k + 1]);
    SparseSystem& system = systems_[k];
    if (!system.matches(problem, blocks)) system.analyse(problem, blocks);
    system.assemble(problem);
    const BlockLdlt::Outcome outcome = system.factor.factor(pivot_tolerance, report.redundant_rows);
    report.smallest_pivot = std::min(report.smallest_pivot, outcome.smallest_ratio);
    refine_[k] = outcome.smallest_ratio < refined_ratio || system.has_hubs();
  }
  std::ranges::sort(report.redundant_rows);
}

void BilateralSchur::factor_matrix(const ConstraintProblem& problem, double pivot_tolerance, SolveReport& report) {
  const int n = joint_rows_;
  dense_.assign(static_cast<std::size_t>(n) * n, 0.0);
  scale_.resize(n);
  work_.resize(n);
  dense_x_.resize(n);
  count_.assign(problem.rows(), -1);  // place of a row among the joints'
  for (int k = 0; k < n; ++k) count_[joint_row_list_[k]] = k;
  const auto& [start, column, value] = problem.matrix;
  for (int k = 0; k < n; ++k) {
    const int r = joint_row_list_[k];
    for (int e = start[r]; e < start[r + 1]; ++e)
      if (count_[column[e]] >= 0) dense_[static_cast<std::size_t>(k) * n + count_[column[e]]] += value[e];
    dense_[static_cast<std::size_t>(k) * (n + 1)] += problem.C[r];
    scale_[k] = dense_[static_cast<std::size_t>(k) * (n + 1)];
  }
  report.smallest_pivot = factor_dense_ldlt(dense_.data(), n, pivot_tolerance, scale_.data(), work_.data(),
                                            [&](int k) { report.redundant_rows.push_back(joint_row_list_[k]); });
}

void BilateralSchur::solve_joints(std::span<double> x) {
  if (!from_matrix_) {
    for (std::size_t k = 0; k + 1 < assembly_start_.size(); ++k) systems_[k].solve(x);
    return;
  }
  for (int k = 0; k < joint_rows_; ++k) dense_x_[k] = x[joint_row_list_[k]];
  solve_dense_ldlt(dense_.data(), joint_rows_, dense_x_.data());
  for (int k = 0; k < joint_rows_; ++k) x[joint_row_list_[k]] = dense_x_[k];
}

void BilateralSchur::respond(const ConstraintProblem& problem, const ConstraintBlock& block, int row, int group) {
  const auto members = part(members_start_, members_, group);
  for (const int body : members) std::fill_n(velocities_.data() + 6 * body, 6, 0.0);
  for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
    if (group_[body] != group) return;
    Eigen::Map<Vec6>(velocities_.data() + 6 * body) +=
        multiply_inverse_mass(problem, body, J.row(first + row - block.first_row).transpose());
  });
  const int assembly = assembly_[group];
  if (assembly < 0) return;

  // What the joints feel of it, the impulses with which they answer, and the motion that those leave.
  const auto joints = std::span<const ConstraintBlock>(joint_blocks_.data() + assembly_start_[assembly],
                                                       joint_blocks_.data() + assembly_start_[assembly + 1]);
  for (const ConstraintBlock& joint : joints) std::fill_n(joint_x_.data() + joint.first_row, joint.rows, 0.0);
  for_each_body(problem, block, [&](int body, const JacobianRows&, int) {
    if (group_[body] != group) return;
    for (const int i : part(incident_start_, incident_, body)) {
      const ConstraintBlock& joint = joint_blocks_[i];
      for (int r = joint.first_row; r < joint.first_row + joint.rows; ++r)
        joint_x_[r] = -row_velocity(problem, joint, r, velocities_);
    }
  });
  // A second pass, for what the factor lost to cancellation, sees all joints of the assembly.
  const int passes = refine_[assembly] ? 2 : 1;
  for (int pass = 0; pass < passes; ++pass) {
    if (pass > 0)
      for (const ConstraintBlock& joint : joints)
        for (int r = joint.first_row; r < joint.first_row + joint.rows; ++r)
          joint_x_[r] = -row_velocity(problem, joint, r, velocities_) - problem.C[r] * joint_sum_[r];
    systems_[assembly].solve(joint_x_);
    for (const ConstraintBlock& joint : joints) {
      for (int r = joint.first_row; r < joint.first_row + joint.rows; ++r)
        joint_sum_[r] = joint_x_[r] + (pass > 0 ? joint_sum_[r] : 0.0);
      for_each_body(problem, joint, [&](int body, const JacobianRows& J, int first) {
        if (group_[body] != group) return;
        Vec6 impulse = Vec6::Zero();
        for (int r = 0; r < joint.rows; ++r) impulse += J.row(first + r).transpose() * joint_x_[joint.first_row + r];
        Eigen::Map<Vec6>(velocities_.data() + 6 * body) += multiply_inverse_mass(problem, body, impulse);
      });
    }
  }
}

void BilateralSchur::form(const ConstraintProblem& problem) {
  // Rows, bounds and friction of c.
  reduced.resize(0, reduced_rows_);
  reduced.h = problem.h;
  reduced.blocks.clear();
  reduced.friction.clear();
  for (const int i : others_) {
    const ConstraintBlock& block = problem.blocks[i];
    reduced.blocks.push_back({new_row_[block.first_row], block.rows, -1, -1, block.source});
    for (FrictionRows f : friction_of(problem, sets_[i])) {
      f.first_row = new_row_[f.first_row];
      f.normal_row = new_row_[f.normal_row];
      reduced.friction.push_back(f);
    }
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const int c = new_row_[r];
      reduced.C[c] = problem.C[r];
      reduced.lower[c] = problem.lower[r];
      reduced.upper[c] = problem.upper[r];
      reduced.x0[c] = problem.x0[r];
    }
  }
  if (problem.has_matrix())
    form_from_matrix(problem);
  else
    form_from_bodies(problem);
  yield_held_rows(problem);

  // b' is minus the w that c has where x_c = 0 and the joints hold.
  std::fill(joint_x_.begin(), joint_x_.end(), 0.0);
  recover_joints(problem, joint_x_);
  multiply(problem, joint_x_, velocities_, product_);
  for (int r = 0; r < problem.rows(); ++r)
    if (new_row_[r] >= 0) reduced.b[new_row_[r]] = problem.b[r] - product_[r];
}

void BilateralSchur::form_from_bodies(const ConstraintProblem& problem) {
  auto& [start, column, value] = reduced.matrix;
  start.assign(1, 0);
  column.clear();
  value.clear();
  column.reserve(entries_);
  value.reserve(entries_);
  row_.assign(reduced_rows_, 0.0);
  mark_.assign(others_.size(), -1);
  for (std::size_t k = 0; k < others_.size(); ++k) {
    Budget::listen();
    const ConstraintBlock& block = problem.blocks[others_[k]];
    find_groups(problem, block);
    columns_.clear();
    const auto add = [&](int j) {
      if (mark_[j] != static_cast<int>(k)) {
        mark_[j] = static_cast<std::int32_t>(k);
        columns_.push_back(j);
      }
    };
    add(static_cast<int>(k));
    for (const int g : keys_)
      for (const int j : part(touching_start_, touching_, g)) add(j);
    std::ranges::sort(columns_);

    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      for (const int g : keys_) {
        respond(problem, block, r, g);
        for (const int j : part(touching_start_, touching_, g)) {
          const ConstraintBlock& other = problem.blocks[others_[j]];
          for_each_body(problem, other, [&](int body, const JacobianRows& J, int first) {
            if (group_[body] != g) return;
            const double* const v = velocities_.data() + 6 * body;
            const double* p = J.data() + 6 * first;
            double* out = row_.data() + new_row_[other.first_row];
            for (int c = 0; c < other.rows; ++c, p += 6)
              out[c] += (p[0] * v[0] + p[1] * v[1] + p[2] * v[2]) + (p[3] * v[3] + p[4] * v[4] + p[5] * v[5]);
          });
        }
      }
      for (const int j : columns_) {
        const ConstraintBlock& other = problem.blocks[others_[j]];
        const int first = new_row_[other.first_row];
        for (int c = first; c < first + other.rows; ++c) {
          column.push_back(c);
          value.push_back(row_[c]);
          row_[c] = 0;
        }
      }
      start.push_back(static_cast<std::int32_t>(column.size()));
    }
  }
}

void BilateralSchur::form_from_matrix(const ConstraintProblem& problem) {
  auto& [start, column, value] = reduced.matrix;
  const auto& A = problem.matrix;
  start.assign(1, 0);
  column.clear();
  value.clear();
  // Row r of S is A_rc minus (A_jj^-1 A_jr)^T A_jc, with A_jr taken from row r, as A is symmetric but for rounding.
  row_.assign(problem.rows(), 0.0);
  for (int r = 0; r < problem.rows(); ++r) {
    if (new_row_[r] < 0) continue;
    std::fill(joint_x_.begin(), joint_x_.end(), 0.0);
    for (int e = A.start[r]; e < A.start[r + 1]; ++e) {
      if (new_row_[A.column[e]] >= 0)
        row_[A.column[e]] += A.value[e];
      else
        joint_x_[A.column[e]] += A.value[e];
    }
    solve_joints(joint_x_);
    for (const int j : joint_row_list_) {
      if (joint_x_[j] == 0) continue;
      for (int e = A.start[j]; e < A.start[j + 1]; ++e)
        if (new_row_[A.column[e]] >= 0) row_[A.column[e]] -= joint_x_[j] * A.value[e];
    }
    for (int c = 0; c < problem.rows(); ++c) {
      if (new_row_[c] < 0) continue;
      if (row_[c] != 0 || c == r) {
        column.push_back(new_row_[c]);
        value.push_back(row_[c]);
      }
      row_[c] = 0;
    }
    start.push_back(static_cast<std::int32_t>(column.size()));
  }
}

void BilateralSchur::yield_held_rows(const ConstraintProblem& problem) {
  if (problem.has_matrix()) return;
  const auto& [start, column, value] = reduced.matrix;
  for (const int i : others_) {
    const ConstraintBlock& block = problem.blocks[i];
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const int c = new_row_[r];
      double left = reduced.C[c];
      for (int e = start[c]; e < start[c + 1]; ++e)
        if (column[e] == c) left += value[e];
      if (const double own = diagonal_entry(problem, block, r); left <= immovable * own) reduced.C[c] = own;
    }
  }
}

void BilateralSchur::restrict_to(std::span<const double> x, std::span<double> x_c) const {
  for (std::size_t r = 0; r < x.size(); ++r)
    if (new_row_[r] >= 0) x_c[new_row_[r]] = x[r];
}

void BilateralSchur::scatter(std::span<const double> x_c, std::span<double> x) const {
  for (std::size_t r = 0; r < x.size(); ++r)
    if (new_row_[r] >= 0) x[r] = x_c[new_row_[r]];
}

void BilateralSchur::recover_joints(const ConstraintProblem& problem, std::span<double> x) {
  // From x_j = 0 each pass solves for what is left: the first finds x_j, the others are refinement.
  constexpr int passes = 3;
  for (const int r : joint_row_list_) x[r] = 0;
  if (work_.size() < x.size()) work_.resize(x.size());
  double last = infinity;
  for (int pass = 0; pass < passes; ++pass) {
    multiply(problem, x, velocities_, product_);
    double squares = 0;
    for (const int r : joint_row_list_) {
      work_[r] = problem.b[r] - product_[r];
      squares += work_[r] * work_[r];
    }
    if (squares == 0 || squares > 0.25 * last) break;
    last = squares;
    solve_joints({work_.data(), x.size()});
    for (const int r : joint_row_list_) x[r] += work_[r];
  }
}

void BilateralSchur::correct(const ConstraintProblem& problem, std::span<const double> x) {
  multiply(problem, x, velocities_, product_);
  const auto& [start, column, value] = reduced.matrix;
  restrict_to(x, row_);
  for (int r = 0; r < problem.rows(); ++r) {
    const int c = new_row_[r];
    if (c < 0) continue;
    double w = reduced.C[c] * row_[c];
    for (int e = start[c]; e < start[c + 1]; ++e) w += value[e] * row_[column[e]];
    reduced.b[c] = w - (product_[r] - problem.b[r]);
  }
}

}  // namespace rotule
