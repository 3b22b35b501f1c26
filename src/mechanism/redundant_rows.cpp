#include "mechanism/redundant_rows.h"

#include <rotule/error.h>
#include <rotule/solvers/ldlt.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "base/budget.h"
#include "base/shares.h"
#include "base/spans.h"
#include "mechanism/loop_rows.h"
#include "problem/operators.h"
#include "solve/direct/sparse_system.h"
#include "solve/solve.h"

namespace rotule {

namespace {

/// A pivot this small, with masses and lengths taken out, is a sign of dependence. Rounding leaves 1e-15. Rows of joints that are
/// open by a share d of their levers miss dependence by about d, and their pivots by d^2. Anything larger belongs to a mechanism
/// near a singular pose, which still holds: rows dropped there would let it drift until they come back.
constexpr double least_dependent_pivot = 1e-12, largest_dependent_pivot = 1e-9;
double dependent_pivot_of(double open) { return std::clamp(100 * open * open, least_dependent_pivot, largest_dependent_pivot); }
/// Below this one the choice of dropped rows is worth making again, if it was better when it was made.
constexpr double poor_pivot = 1e-3;
/// A dropped row of which more than so many dependent pivots are left, once the kept ones have been taken out of it, follows from
/// them no longer.
constexpr double independent_remainder = 10;
/// Beyond so many null vectors, loops are looked at one by one first; and what is so small a share of the largest number of one
/// is taken for the zero that it would be without rounding and slack: tables of thousands are then sparse.
constexpr std::size_t many_null_vectors = 64;
constexpr double negligible_share = 1e-9;

/// Numbers of a null vector that are not zero, by ascending row, and the largest of them.
struct NullVector {
  std::vector<std::pair<int, double>> entries;
  double largest = 0;
  int row = 0;

  void find_largest() {
    largest = 0;
    for (const auto& [r, value] : entries)
      if (std::abs(value) > largest) {
        largest = std::abs(value);
        row = r;
      }
  }
  [[nodiscard]] double at(int r) const {
    const auto found =
        std::lower_bound(entries.begin(), entries.end(), r, [](const auto& entry, int x) { return entry.first < x; });
    return found != entries.end() && found->first == r ? found->second : 0;
  }
  /// this -= factor other
  void subtract(const NullVector& other, double factor, std::vector<std::pair<int, double>>& scratch) {
    scratch.clear();
    auto a = entries.begin();
    for (const auto& [r, value] : other.entries) {
      while (a != entries.end() && a->first < r) scratch.push_back(*a++);
      const double mine = a != entries.end() && a->first == r ? (a++)->second : 0;
      if (const double left = mine - value * factor; left != 0) scratch.emplace_back(r, left);
    }
    scratch.insert(scratch.end(), a, entries.end());
    std::swap(entries, scratch);
    find_largest();
  }
};

/// A pair of bodies with no more rows than this is left to the search among all rows.
constexpr std::size_t most_rows_of_a_pair = 24;

/// The rows on which null vectors lean most, by elimination with complete pivoting.
void rows_leaned_on(std::vector<NullVector>& vectors, std::vector<int>& rows) {
  const int count = static_cast<int>(vectors.size());
  std::vector<std::pair<int, double>> scratch;
  for (int k = 0; k < count; ++k) {
    if (k % 64 == 0) Budget::listen();
    int most = k;
    for (int other = k + 1; other < count; ++other)
      if (vectors[other].largest > vectors[most].largest) most = other;
    std::swap(vectors[most], vectors[k]);
    const NullVector& pivot = vectors[k];
    rows[k] = pivot.row;
    const double value = pivot.at(pivot.row);
    for (int other = k + 1; other < count; ++other)
      if (const double share = vectors[other].at(pivot.row); share != 0) vectors[other].subtract(pivot, share / value, scratch);
  }
}

}  // namespace

void RedundantRows::resize(const ConstraintProblem& problem) {
  for (VecX* v : {&x_, &unit_, &product_}) v->resize(problem.rows());
  velocities_.resize(6 * problem.bodies());
}

void RedundantRows::set_aside(ConstraintProblem& problem, Workspace& workspace, double open, std::span<const int> idle) {
  resize(problem);
  idle_ = idle;

  // Dependence is a matter of geometry: equal masses, and lengths measured by the longest lever, keep heavy and light or large
  // and small parts from looking dependent.
  Gang* const gang = workspace.get<Helpers>().gang;
  double longest = 0;
  for (const JacobianRows* J : {&problem.J_a, &problem.J_b, &problem.J_more}) {
    const double own = share_largest(gang, J->rows(), [&](Eigen::Index first, Eigen::Index end) {
      double square = 0;
      for (Eigen::Index r = first; r < end; ++r)
        if (J->row(r).head<3>().squaredNorm() > 0) square = std::max(square, J->row(r).tail<3>().squaredNorm());
      return std::sqrt(square);
    });
    longest = std::max(longest, own);
  }
  dependent_pivot_ = dependent_pivot_of(longest > 0 ? open / std::min(longest, 1.0) : open);
  Mat6 unit = Mat6::Identity();
  if (longest > 0) unit.diagonal().tail<3>().setConstant(1 / (longest * longest));
  mass_.assign(problem.inverse_mass.size(), unit);
  set_parallel_aside(problem, longest > 0 ? longest : 1);
  std::swap(problem.inverse_mass, mass_);
  while (!rows_.empty() && restore_one(problem, workspace)) {
  }
  if (!still_good(problem, workspace)) choose(problem, workspace);
  std::swap(problem.inverse_mass, mass_);
  all_.clear();
  std::ranges::merge(rows_, parallel_, std::back_inserter(all_));
  write_compliance(problem);
}

void RedundantRows::find_pairs(const ConstraintProblem& problem) {
  structure_.keep(problem);
  pair_rows_.clear();
  pairs_.clear();
  std::vector<ConstraintBlock> blocks;
  for (const ConstraintBlock& block : problem.blocks)
    if (block.more_count == 0) blocks.push_back(block);
  const auto pair_of = [](const ConstraintBlock& block) { return std::pair(block.body_a, block.body_b); };
  std::ranges::stable_sort(blocks, {}, pair_of);
  for (auto first = blocks.begin(); first != blocks.end();) {
    const std::size_t begin = pair_rows_.size();
    auto block = first;
    for (; block != blocks.end() && pair_of(*block) == pair_of(*first); ++block)
      for (int k = 0; k < block->rows; ++k) pair_rows_.push_back(block->first_row + k);
    if (pair_rows_.size() - begin > most_rows_of_a_pair)
      pairs_.push_back({first->body_a, first->body_b, static_cast<int>(pair_rows_.size())});
    else
      pair_rows_.resize(begin);
    first = block;
  }
}

void RedundantRows::set_parallel_aside(const ConstraintProblem& problem, double lever) {
  if (!structure_.matches(problem)) find_pairs(problem);
  if (pairs_.empty()) return parallel_.clear();
  parallel_ambiguous_.assign(problem.rows(), 0);
  all_.swap(parallel_);  // those before
  parallel_.clear();
  int begin = 0;
  for (const Pair& pair : pairs_) {
    Budget::listen();
    vectors_.clear();
    for (const int row : std::span(pair_rows_).subspan(begin, pair.end - begin)) {
      PairVector v;
      v.row = row;
      v.kept_before = !all_.empty() && !std::ranges::binary_search(all_, row);
      if (pair.body_a >= 0) v.left.head<6>() = problem.J_a.row(row).transpose();
      if (pair.body_b >= 0) v.left.tail<6>() = problem.J_b.row(row).transpose();
      v.left.segment<3>(3) /= lever;
      v.left.tail<3>() /= lever;
      const double length = v.left.norm();
      if (!(length > 0)) continue;  // idle
      v.left /= length;
      vectors_.push_back(v);
    }
    drop_dependent();
    begin = pair.end;
  }
  std::ranges::sort(parallel_);
}

/// Keeps rows of one pair of bodies until all others follow from them, the most independent first: Gram and Schmidt with
/// pivoting, where one that was kept before is taken as long as it is half as good as the best.
void RedundantRows::drop_dependent() {
  std::array<const PairVector*, 6> kept{};
  std::size_t count = 0;
  for (; count < kept.size(); ++count) {
    PairVector *best = nullptr, *old = nullptr;
    double most = 0, most_of_old = 0;
    for (PairVector& v : vectors_) {
      const double square = v.kept ? 0 : v.left.squaredNorm();
      if (square > most) {
        most = square;
        best = &v;
      }
      if (v.kept_before && square > most_of_old) {
        most_of_old = square;
        old = &v;
      }
    }
    if (!(most > dependent_pivot_)) break;
    PairVector& next = old != nullptr && most_of_old > 0.25 * most ? *old : *best;
    next.kept = true;
    kept[count] = &next;
    const Eigen::Matrix<double, 12, 1> direction = next.left.normalized();
    for (PairVector& v : vectors_)
      for (int pass = 0; pass < 2 && !v.kept; ++pass) {  // twice is enough
        const double share = direction.dot(v.left);
        v.shares[count] += share;
        v.left -= share * direction;
      }
  }
  for (const PairVector& v : vectors_) {
    if (v.kept) continue;
    parallel_.push_back(v.row);
    parallel_ambiguous_[v.row] = 1;
    for (std::size_t k = 0; k < count; ++k)
      if (std::abs(v.shares[k]) > 1e-6) parallel_ambiguous_[kept[k]->row] = 1;
  }
}

bool RedundantRows::restore_one(ConstraintProblem& problem, Workspace& workspace) {
  // v, some vector on the dropped rows alone; x, what the kept rows must carry in its place; what A (v - x) leaves on the dropped
  // rows is S v, with S their Schur complement: zero as long as they follow from the kept ones.
  unit_.setZero();
  for (std::size_t k = 0; k < rows_.size(); ++k) unit_[rows_[k]] = 1 + 0.1 * static_cast<double>(k % 7);
  clear_compliance(problem);
  multiply(problem, view(unit_), view(velocities_), view(problem.b));
  write_compliance(problem);
  factor(problem, workspace);
  unit_ -= x_;
  clear_compliance(problem);
  multiply(problem, view(unit_), view(velocities_), view(product_));

  std::size_t most = 0;
  for (std::size_t k = 1; k < rows_.size(); ++k)
    if (std::abs(product_[rows_[k]]) > std::abs(product_[rows_[most]])) most = k;
  if (!(std::abs(product_[rows_[most]]) > independent_remainder * dependent_pivot_ * problem.b.lpNorm<Eigen::Infinity>()))
    return false;
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(most));
  return true;
}

bool RedundantRows::still_good(ConstraintProblem& problem, Workspace& workspace) {
  write_compliance(problem);
  problem.b.setZero();
  factor(problem, workspace);
  return report_.redundant_rows.empty() && report_.smallest_pivot > std::min(poor_pivot, 0.1 * pivot_when_chosen_);
}

void RedundantRows::choose(ConstraintProblem& problem, Workspace& workspace) {
  // How many: those dropped so far, and those that the factor has just found among the others. Starting over would lose count
  // where the last row of a dependent set in the order of elimination happens to carry little of it.
  rows_.insert(rows_.end(), report_.redundant_rows.begin(), report_.redundant_rows.end());
  std::sort(rows_.begin(), rows_.end());
  pivot_when_chosen_ = report_.smallest_pivot;
  if (rows_.empty()) return;
  ambiguous_.assign(problem.rows(), 0);

  // Where there are very many, first those that follow from others of one short loop, unless less is found that way.
  std::vector<int> in_loops, others = rows_;
  if (others.size() > many_null_vectors) {
    const double lever = 1 / std::sqrt(problem.inverse_mass.front()(3, 3));  // as `set_aside` measures lengths
    in_loops = rows_that_follow_in_loops(problem, lever, dependent_pivot_, parallel_, ambiguous_);
    rows_ = in_loops;
    write_compliance(problem);
    problem.b.setZero();
    factor(problem, workspace);
    std::ranges::sort(report_.redundant_rows);
    if (in_loops.size() + report_.redundant_rows.size() < others.size())
      in_loops.clear();
    else
      others = report_.redundant_rows;
    rows_.clear();
    std::ranges::merge(in_loops, others, std::back_inserter(rows_));
  }
  const int count = static_cast<int>(others.size());

  // Null vectors: what the other rows must carry to stand in for each dropped one. All have the same matrix, and one factor.
  null_vectors_.resize(problem.rows(), count);
  write_compliance(problem);
  problem.b.setZero();
  factor(problem, workspace);
  auto& system = workspace.get<SparseSystem>();
  clear_compliance(problem);
  for (int k = 0; k < count; ++k) {
    Budget::listen();
    unit_.setZero();
    unit_[others[k]] = 1;
    multiply(problem, view(unit_), view(velocities_), view(x_));
    system.solve(view(x_), workspace.get<Helpers>().gang);
    if (!x_.allFinite()) throw Error("joints", "what their equations have in common is not finite: the motion has blown up");
    null_vectors_.col(k) = unit_ - x_;
  }
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      null_vectors_.row(r) *= std::sqrt(diagonal_entry(problem, block, r));

  for (int k = 0; k < count; ++k) {
    const double largest = null_vectors_.col(k).cwiseAbs().maxCoeff();
    for (int r = 0; r < problem.rows(); ++r) ambiguous_[r] |= std::abs(null_vectors_(r, k)) > 1e-6 * largest;
  }

  std::vector<NullVector> vectors(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const double least = others.size() > many_null_vectors ? negligible_share * null_vectors_.col(k).cwiseAbs().maxCoeff() : 0;
    for (int r = 0; r < problem.rows(); ++r)
      if (const double value = null_vectors_(r, k); std::abs(value) > least) vectors[k].entries.emplace_back(r, value);
    vectors[k].find_largest();
  }
  rows_leaned_on(vectors, others);
  std::ranges::sort(others);
  rows_.clear();
  std::ranges::merge(in_loops, others, std::back_inserter(rows_));
  write_compliance(problem);
  problem.b.setZero();
  factor(problem, workspace);
  pivot_when_chosen_ = report_.smallest_pivot;
}

void RedundantRows::clear_compliance(ConstraintProblem& problem) const {
  auto idle = idle_.begin();
  for (int r = 0; r < problem.rows(); ++r) {
    if (idle != idle_.end() && *idle == r)
      ++idle;
    else
      problem.C[r] = 0;
  }
}

void RedundantRows::write_compliance(ConstraintProblem& problem) const {
  clear_compliance(problem);
  for (const std::vector<int>* rows : {&rows_, &parallel_}) {
    if (rows->empty()) continue;
    for (const ConstraintBlock& block : problem.blocks)
      for (auto r = std::lower_bound(rows->begin(), rows->end(), block.first_row);
           r != rows->end() && *r < block.first_row + block.rows; ++r)
        problem.C[*r] = slack * diagonal_entry(problem, block, *r);
  }
}

void RedundantRows::factor(const ConstraintProblem& problem, Workspace& workspace) {
  Budget::listen();
  LdltSettings settings;
  settings.pivot_tolerance = dependent_pivot_;
  settings.max_refinements = 0;
  solve(problem, settings, workspace, view(x_), report_);
}

}  // namespace rotule
