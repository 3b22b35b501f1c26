#include "solve/hybrid/coarse_contacts.h"

#include <rotule/solvers/ldlt.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/decompositions.h"
#include "problem/operators.h"
#include "solve/solve.h"

namespace rotule {

namespace {

/// Directions that move a pair less than this, against the one that moves it most, squared.
constexpr double least_movement = 1e-12;

/// A pair is kept as it is where it is a joint or limit, or has bodies of its own beyond two.
bool stands_alone(const ConstraintBlock& block, const BlockSet& set) {
  return set.kind != RowSet::contact || block.more_count > 0;
}

/// One side of a block as seen from a body.
const double* side(const ConstraintProblem& problem, const ConstraintBlock& block, int body, int row) {
  return (block.body_a == body ? problem.J_a : problem.J_b).data() + 6 * row;
}

}  // namespace

void CoarseContacts::prepare(const ConstraintProblem& problem) {
  classify(problem, sets_);
  const auto key = [&](int i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int low = std::min(block.body_a, block.body_b), high = std::max(block.body_a, block.body_b);
    return std::tuple(high, low, stands_alone(block, sets_[i]) ? i : -1);
  };
  order_.resize(problem.blocks.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::ranges::sort(order_, [&](int i, int j) { return key(i) != key(j) ? key(i) < key(j) : i < j; });
  pair_start_.clear();
  for (std::size_t k = 0; k < order_.size(); ++k)
    if (k == 0 || key(order_[k]) != key(order_[k - 1])) pair_start_.push_back(static_cast<std::int32_t>(k));
  pair_start_.push_back(static_cast<std::int32_t>(order_.size()));
  motion_.resize(problem.rows());
  follow_.resize(problem.rows());
  diagonal_.resize(problem.rows());
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      diagonal_[r] = std::max(diagonal_entry(problem, block, r) + problem.C[r], 1e-300);
  right_.resize(problem.rows());
  spread_.resize(6 * static_cast<std::size_t>(problem.rows()));
}

void CoarseContacts::add_unit(int block, int row) {
  Column column{.block = block, .e = {}};
  column.e[row] = 1;
  columns_.push_back(column);
}

void CoarseContacts::guess(const ConstraintProblem& problem, Guess guess, std::span<const double> w, std::span<double> x) {
  const auto image = [&](int r) { return x[r] - w[r] / diagonal_[r]; };
  const auto put = [&](int r, Motion motion, double value) {
    motion_[r] = motion;
    x[r] = value;
  };
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const BlockSet& set = sets_[i];
    const int first = block.first_row;
    if (set.kind != RowSet::contact) {
      for (int r = first; r < first + block.rows; ++r) {
        const double y = image(r);
        if (y <= problem.lower[r])
          put(r, Motion::stays, problem.lower[r]);
        else if (y >= problem.upper[r])
          put(r, Motion::stays, problem.upper[r]);
        else
          motion_[r] = Motion::free;
      }
      continue;
    }
    const double pressure = image(first);
    if (pressure <= 0) {
      for (int r = first; r < first + block.rows; ++r) put(r, Motion::stays, 0.0);
      continue;
    }
    motion_[first] = Motion::free;
    for (const FrictionRows& f : friction_of(problem, set)) {
      const bool stick = guess == Guess::all_stick && f.mu > 0;
      const auto decide = [&](int from, int count) {
        double squares = 0;
        for (int r = from; r < from + count; ++r) squares += image(r) * image(r);
        const double length = std::sqrt(squares);
        for (int r = from; r < from + count; ++r) {
          if (stick || length < f.mu * pressure) {
            motion_[r] = Motion::free;
            continue;
          }
          follow_[r] = length > 0 ? f.mu * image(r) / length : 0.0;
          motion_[r] = Motion::follows;
        }
        for (int r = from; r < from + count; ++r)
          if (motion_[r] == Motion::follows) x[r] = follow_[r] * x[first];
      };
      if (f.cone)
        decide(f.first_row, f.count);
      else
        for (int r = f.first_row; r < f.first_row + f.count; ++r) decide(r, 1);
    }
  }
}

void CoarseContacts::find_columns(const ConstraintProblem& problem, int i, std::span<const double> w) {
  const ConstraintBlock& block = problem.blocks[i];
  const int first = block.first_row;
  Column pressing{.block = i, .e = {}};
  const bool presses = sets_[i].kind == RowSet::contact && motion_[first] == Motion::free;
  for (int k = 0; k < block.rows; ++k) {
    const int r = first + k;
    right_[r] = motion_[r] == Motion::free ? -w[r] : 0.0;
    if (presses && k == 0)
      pressing.e[0] = 1;
    else if (presses && motion_[r] == Motion::follows)
      pressing.e[k] = follow_[r];
    else if (motion_[r] == Motion::free)
      add_unit(i, k);
  }
  if (presses) columns_.push_back(pressing);
}

void CoarseContacts::correct(const ConstraintProblem& problem, std::span<const double> w, std::span<double> dx) {
  const int pairs = static_cast<int>(pair_start_.size()) - 1;
  coarse_row_.resize(pairs);
  coarse_.inverse_mass = problem.inverse_mass;
  coarse_.coupled = problem.coupled;
  coarse_.blocks.clear();
  coarse_.more = problem.more;
  coarse_.J_more.resize(problem.J_more.rows(), 6);
  coarse_.resize(problem.bodies(), problem.rows());
  int rows = 0;
  std::fill(spread_.begin(), spread_.end(), 0.0);

  for (int p = 0; p < pairs; ++p) {
    const std::span<const std::int32_t> members(order_.data() + pair_start_[p], order_.data() + pair_start_[p + 1]);
    const ConstraintBlock& one = problem.blocks[members[0]];
    columns_.clear();
    for (const int i : members) find_columns(problem, i, w);
    // E Q: joints and limits as they are, contacts by the range of what they do to one of the bodies, in its own measure.
    int kept = 0;
    if (stands_alone(one, sets_[members[0]])) {
      for (const Column& column : columns_) {
        const int first = problem.blocks[column.block].first_row;
        for (int k = 0; k < 6; ++k)
          if (column.e[k] != 0) spread_[6 * static_cast<std::size_t>(first + k) + kept] = column.e[k];
        ++kept;
      }
    } else {
      const int high = std::max(one.body_a, one.body_b), low = std::min(one.body_a, one.body_b);
      const int body = problem.inverse_mass[high].trace() > 0 || low < 0 ? high : low;
      const Vec6 measure = problem.inverse_mass[body].diagonal().cwiseSqrt();
      const auto action = [&](const Column& column) {
        const ConstraintBlock& block = problem.blocks[column.block];
        Vec6 sum = Vec6::Zero();
        for (int k = 0; k < block.rows; ++k)
          if (column.e[k] != 0) sum += column.e[k] * Eigen::Map<const Vec6>(side(problem, block, body, block.first_row + k));
        return Vec6(sum.cwiseProduct(measure));
      };
      Mat6 gram = Mat6::Zero();
      for (const Column& column : columns_) {
        const Vec6 v = action(column);
        gram += v * v.transpose();
      }
      const SymmetricEigen6 eigen = symmetric_eigen(gram);
      Eigen::Matrix<double, 6, 6> basis;
      for (int k = 5; !columns_.empty() && k >= 0 && eigen.values[k] > least_movement * eigen.values[5]; --k)
        basis.col(kept++) = eigen.vectors.col(k) / std::sqrt(eigen.values[k]);
      for (const Column& column : columns_) {
        const ConstraintBlock& block = problem.blocks[column.block];
        const Vec6 v = action(column);
        for (int c = 0; c < kept; ++c) {
          const double q = v.dot(basis.col(c));
          for (int k = 0; k < block.rows; ++k) spread_[6 * static_cast<std::size_t>(block.first_row + k) + c] += q * column.e[k];
        }
      }
    }

    // Its rows in the coarse problem; those that are not needed now stand alone, so that the structure stays.
    int most = 0;
    for (const int i : members) most = std::min(6, most + problem.blocks[i].rows);
    coarse_row_[p] = rows;
    coarse_.blocks.push_back({rows, most, one.body_a, one.body_b, -1, one.first_more, one.more_count});
    for (int k = one.first_more; k < one.first_more + one.more_count; ++k) {
      const auto [body, first] = problem.more[k];
      for (int c = 0; c < most; ++c) {
        Vec6 J = Vec6::Zero();
        for (int r = 0; c < kept && r < one.rows; ++r)
          J += spread_[6 * static_cast<std::size_t>(one.first_row + r) + c] * problem.J_more.row(first + r).transpose();
        coarse_.J_more.row(first + c) = J.transpose();
      }
    }
    for (int c = 0; c < most; ++c, ++rows) {
      if (c >= kept) {
        coarse_.J_a.row(rows).setZero();
        coarse_.J_b.row(rows).setZero();
        coarse_.b[rows] = 0;
        coarse_.C[rows] = 1;
        continue;
      }
      Vec6 J_a = Vec6::Zero(), J_b = Vec6::Zero();
      double b = 0, C = 0;
      for (const int i : members) {
        const ConstraintBlock& block = problem.blocks[i];
        for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
          const double s = spread_[6 * static_cast<std::size_t>(r) + c];
          if (s == 0) continue;
          if (one.body_a >= 0) J_a += s * Eigen::Map<const Vec6>(side(problem, block, one.body_a, r));
          if (one.body_b >= 0) J_b += s * Eigen::Map<const Vec6>(side(problem, block, one.body_b, r));
          b += s * right_[r];
          C += s * s * problem.C[r];
        }
      }
      coarse_.J_a.row(rows) = J_a.transpose();
      coarse_.J_b.row(rows) = J_b.transpose();
      coarse_.b[rows] = b;
      coarse_.C[rows] = C;
    }
  }

  // Rows that no block has keep their place and do nothing.
  coarse_.b.tail(coarse_.rows() - rows).setZero();
  y_.resize(coarse_.rows());
  std::fill(dx.begin(), dx.end(), 0.0);
  if (rows == 0) return;
  solve(coarse_, LdltSettings{}, workspace_, y_, report_);
  for (int p = 0; p < pairs; ++p) {
    const int kept = coarse_.blocks[p].rows;
    for (int k = pair_start_[p]; k < pair_start_[p + 1]; ++k) {
      const ConstraintBlock& block = problem.blocks[order_[k]];
      for (int r = block.first_row; r < block.first_row + block.rows; ++r)
        for (int c = 0; c < kept; ++c) dx[r] += spread_[6 * static_cast<std::size_t>(r) + c] * y_[coarse_row_[p] + c];
    }
  }
}

}  // namespace rotule
