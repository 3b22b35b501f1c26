// Lemke's complementary pivoting (D5): v = M z + q, 0 <= z, 0 <= v, z^T v = 0, with an artificial variable z0 that starts large
// and leaves at the answer; ties broken lexicographically, so that it cannot cycle. Lemke, Management Science 11, 1965; Cottle,
// Pang, Stone, "The Linear Complementarity Problem", 1992, 4.4 and 4.9.
//
// Joints and rows without bounds are eliminated first. Each row left becomes, after scaling by its diagonal entry,
//
//   one bound     x = l + z                       0 <= z _|_ w >= 0
//   two bounds    x = l + z                       0 <= z _|_ w + s >= 0,   0 <= s _|_ u - l - z >= 0
//   friction box  x = p - q, |x| <= mu x_n        0 <= p _|_ w + s >= 0,   0 <= q _|_ s - w >= 0,   0 <= s _|_ mu x_n - p - q >=
//   0
//
// so that the box follows its normal inside the complementarity problem itself (Stewart and Trinkle's form, one direction pair
// per row): M is copositive, and there are no outer passes. Cones are refused. Dense: memory grows with the square of the
// unknowns, five per sliding contact row pair and more, time with the cube. It may end on a ray where no answer exists or
// rounding has won: reported.
#include <rotule/solvers/lemke.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "linalg/dense_ldlt.h"
#include "solve/pivot/dense_problem.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

/// What an unknown z is of its row.
enum class Part : std::uint8_t { above_lower, below_upper, slack, plus, minus, slip };

struct Unknown {
  std::int32_t row;
  Part part;
};

struct LemkeMemory {
  DenseProblem problem;
  std::vector<Unknown> unknowns;
  std::vector<std::int32_t> free, rows, first;  // eliminated rows; the others; per row, its first unknown
  DenseProblem::Matrix S;                       // over `rows`, scaled, free rows eliminated
  VecX q, s_b, scale, pivot_row, shift;
  std::vector<double> factor, diagonal, work, solution;
  DenseProblem::Matrix T;                       // the dictionary: basic = q + T nonbasic; the last column is z0 at first
  std::vector<std::int32_t> basic, nonbasic;    // 0 .. m-1 are v, m .. 2m-1 are z, 2m is z0
  std::vector<std::int32_t> row_of, column_of;  // where each variable stands, or -1
  VecX z;
};

/// S and its right-hand side over the rows with bounds: S = A_cc - A_cf A_ff^-1 A_fc, rows and columns divided by sqrt(A_ii).
void eliminate_free_rows(LemkeMemory& m) {
  DenseProblem& p = m.problem;
  m.free.clear();
  m.rows.clear();
  for (int i = 0; i < p.size(); ++i) (p.is_free(i) ? m.free : m.rows).push_back(i);
  const int f = static_cast<int>(m.free.size()), n = static_cast<int>(m.rows.size());
  m.factor.resize(static_cast<std::size_t>(f) * f);
  m.diagonal.resize(f);
  m.work.resize(f);
  m.solution.resize(static_cast<std::size_t>(f) * (n + 1));
  for (int i = 0; i < f; ++i) {
    for (int j = 0; j < f; ++j) m.factor[static_cast<std::size_t>(i) * f + j] = p.A(m.free[i], m.free[j]);
    m.diagonal[i] = p.A(m.free[i], m.free[i]);
  }
  factor_dense_ldlt(m.factor.data(), f, 1e-12, m.diagonal.data(), m.work.data(), [](int) {});
  for (int c = 0; c <= n; ++c) {
    double* const y = m.solution.data() + static_cast<std::size_t>(c) * f;
    for (int i = 0; i < f; ++i) y[i] = c < n ? p.A(m.free[i], m.rows[c]) : p.b[m.free[i]];
    solve_dense_ldlt(m.factor.data(), f, y);
  }
  m.S.resize(n, n);
  m.s_b.resize(n);
  m.scale.resize(p.size());
  for (const int i : m.rows) m.scale[i] = 1 / std::sqrt(std::max(p.A(i, i), 1e-300));
  for (int r = 0; r < n; ++r) {
    Budget::listen();
    const int i = m.rows[r];
    for (int c = 0; c <= n; ++c) {
      const double* const y = m.solution.data() + static_cast<std::size_t>(c) * f;
      double value = c < n ? p.A(i, m.rows[c]) : p.b[i];
      for (int k = 0; k < f; ++k) value -= p.A(i, m.free[k]) * y[k];
      if (c < n)
        m.S(r, c) = m.scale[i] * value * m.scale[m.rows[c]];
      else
        m.s_b[r] = m.scale[i] * value;
    }
  }
}

/// M and q of the complementarity problem, as the first dictionary.
void write_dictionary(LemkeMemory& m) {
  const DenseProblem& p = m.problem;
  const int n = static_cast<int>(m.rows.size());
  m.unknowns.clear();
  m.first.assign(p.size(), -1);
  m.shift.setZero(n);
  for (int r = 0; r < n; ++r) {
    const int i = m.rows[r];
    m.first[i] = static_cast<std::int32_t>(m.unknowns.size());
    if (p.normal[i] >= 0) {
      if (p.mu[i] > 0)
        for (const Part part : {Part::plus, Part::minus, Part::slip}) m.unknowns.push_back({r, part});
    } else if (p.fixed_lower[i] == p.fixed_upper[i]) {
      m.shift[r] = p.fixed_lower[i] / m.scale[i];
    } else if (p.fixed_lower[i] > -infinity) {
      m.shift[r] = p.fixed_lower[i] / m.scale[i];
      m.unknowns.push_back({r, Part::above_lower});
      if (p.fixed_upper[i] < infinity) m.unknowns.push_back({r, Part::slack});
    } else {
      m.shift[r] = p.fixed_upper[i] / m.scale[i];
      m.unknowns.push_back({r, Part::below_upper});
    }
  }
  const int size = static_cast<int>(m.unknowns.size());
  m.T.setZero(size, size + 1);
  m.q.setZero(size);
  m.s_b.noalias() -= m.S * m.shift;  // so that w = S (x - shift) - s_b

  // How much x of its row an unknown is worth: the columns of w.
  const auto sign = [](Part part) {
    switch (part) {
      case Part::above_lower:
      case Part::plus:
        return 1.0;
      case Part::below_upper:
      case Part::minus:
        return -1.0;
      default:
        return 0.0;
    }
  };
  for (int u = 0; u < size; ++u) {
    Budget::listen();
    const auto [r, part] = m.unknowns[u];
    const int i = m.rows[r];
    const double s = sign(part);
    if (s != 0) {
      for (int v = 0; v < size; ++v) m.T(u, v) = s * m.S(r, m.unknowns[v].row) * sign(m.unknowns[v].part);
      m.q[u] = -s * m.s_b[r];
    }
    switch (part) {
      case Part::above_lower:
        if (p.fixed_upper[i] < infinity) m.T(u, u + 1) += 1;
        break;
      case Part::slack:
        m.T(u, u - 1) -= 1;
        m.q[u] = (p.fixed_upper[i] - p.fixed_lower[i]) / m.scale[i];
        break;
      case Part::plus:
        m.T(u, u + 2) += 1;
        break;
      case Part::minus:
        m.T(u, u + 1) += 1;
        break;
      case Part::slip:
        m.T(u, u - 2) -= 1;
        m.T(u, u - 1) -= 1;
        m.T(u, m.first[p.normal[i]]) += p.mu[i] * m.scale[p.normal[i]] / m.scale[i];
        break;
      default:
        break;
    }
    m.T(u, size) = 1;
  }
}

class Dictionary {
 public:
  Dictionary(LemkeMemory& memory) : m_(memory), size_(static_cast<int>(memory.q.size())) {
    m_.basic.resize(size_);
    m_.nonbasic.resize(size_ + 1);
    m_.row_of.assign(2 * size_ + 1, -1);
    m_.column_of.assign(2 * size_ + 1, -1);
    for (int k = 0; k < size_; ++k) {
      place(k, k, -1);
      place(size_ + k, -1, k);
    }
    place(2 * size_, -1, size_);
    m_.pivot_row.resize(size_ + 1);
  }

  /// True where z0 has left; pivots are counted.
  bool run(int max_pivots, int& pivots) {
    int row = 0;
    for (int i = 1; i < size_; ++i)
      if (m_.q[i] < m_.q[row]) row = i;
    if (size_ == 0 || m_.q[row] >= 0) return true;
    int column = size_;
    while (pivots < max_pivots && !Budget::spent()) {
      Budget::count();
      const int leaves = m_.basic[row];
      exchange(row, column);
      ++pivots;
      if (leaves == 2 * size_) return true;
      column = m_.column_of[leaves < size_ ? leaves + size_ : leaves - size_];
      row = leaving_row(column);
      if (row < 0) return false;  // a ray
    }
    return false;
  }

  void read_z() {
    m_.z.setZero(size_);
    for (int i = 0; i < size_; ++i)
      if (m_.basic[i] >= size_ && m_.basic[i] < 2 * size_) m_.z[m_.basic[i] - size_] = m_.q[i];
  }

 private:
  void place(int variable, int row, int column) {
    if (row >= 0) m_.basic[row] = variable;
    if (column >= 0) m_.nonbasic[column] = variable;
    m_.row_of[variable] = row;
    m_.column_of[variable] = column;
  }

  /// basic_row = q + T nonbasic is solved for the nonbasic variable and put into all other rows.
  void exchange(int row, int column) {
    const double inverse = 1 / m_.T(row, column);
    m_.pivot_row = -inverse * m_.T.row(row).transpose();
    m_.pivot_row[column] = inverse;
    const double constant = -inverse * m_.q[row];
    for (int i = 0; i < size_; ++i) {
      const double factor = m_.T(i, column);
      if (i == row || factor == 0) continue;
      Budget::listen();
      m_.T(i, column) = 0;
      m_.T.row(i) += factor * m_.pivot_row.transpose();
      m_.q[i] += factor * constant;
    }
    m_.T.row(row) = m_.pivot_row.transpose();
    m_.q[row] = constant;
    const int in = m_.nonbasic[column], out = m_.basic[row];
    place(in, row, -1);
    place(out, -1, column);
  }

  /// Who reaches 0 first as the entering variable grows; among equals z0, then the lexicographically least.
  int leaving_row(int column) const {
    constexpr double least_slope = 1e-11, tie = 1e-12;
    int best = -1;
    double best_ratio = infinity;
    for (int i = 0; i < size_; ++i) {
      if (m_.T(i, column) >= -least_slope) continue;
      const double ratio = std::max(0.0, m_.q[i]) / -m_.T(i, column);
      if (best < 0 || ratio < best_ratio - tie * (1 + best_ratio)) {
        best = i;
        best_ratio = ratio;
      } else if (ratio <= best_ratio + tie * (1 + best_ratio)) {
        if (m_.basic[i] == 2 * size_ || (m_.basic[best] != 2 * size_ && lexicographically_less(i, best, column))) {
          best = i;
          best_ratio = std::min(ratio, best_ratio);
        }
      }
    }
    return best;
  }

  /// Row i of B^-1, divided by its slope, against that of row j: what an infinitely small change of q would decide.
  bool lexicographically_less(int i, int j, int column) const {
    for (int k = 0; k < size_; ++k) {
      const auto entry = [&](int row) {
        if (m_.row_of[k] >= 0) return m_.row_of[k] == row ? 1.0 : 0.0;
        return -m_.T(row, m_.column_of[k]);
      };
      const double p = entry(i) / -m_.T(i, column), q = entry(j) / -m_.T(j, column);
      if (std::abs(p - q) > 1e-10 * (std::abs(p) + std::abs(q))) return p < q;
    }
    return false;
  }

  LemkeMemory& m_;
  int size_;
};

/// x and the index sets from z.
void read_answer(LemkeMemory& m) {
  DenseProblem& p = m.problem;
  VecX& y = m.shift;  // x of the rows, scaled
  for (std::size_t u = 0; u < m.unknowns.size(); ++u) {
    const auto [r, part] = m.unknowns[u];
    const double z = m.z[static_cast<Eigen::Index>(u)];
    if (part == Part::above_lower || part == Part::plus) y[r] += z;
    if (part == Part::below_upper || part == Part::minus) y[r] -= z;
  }
  for (std::size_t r = 0; r < m.rows.size(); ++r) p.x[m.rows[r]] = y[static_cast<Eigen::Index>(r)] * m.scale[m.rows[r]];
  // Free rows: the solution for b less that for each column times its x.
  const std::size_t f = m.free.size();
  for (std::size_t k = 0; k < f; ++k) {
    double value = m.solution[m.rows.size() * f + k];
    for (std::size_t r = 0; r < m.rows.size(); ++r) value -= m.solution[r * f + k] * p.x[m.rows[r]];
    p.x[m.free[k]] = value;
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const LemkeSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& memory = workspace.get<LemkeMemory>();
  DenseProblem& p = memory.problem;
  if (p.start_is_answer(problem, settings.name, settings.tolerance, x, report)) return;
  p.load(problem, settings.name, false, report);
  const double target = 0.1 * settings.tolerance;
  if (p.judge() > target) {
    eliminate_free_rows(memory);
    write_dictionary(memory);
    Dictionary dictionary(memory);
    dictionary.run(settings.max_iterations, report.iterations);
    dictionary.read_z();
    read_answer(memory);
    p.guess_states();
    p.active_set_newton(8, target);
  }
  p.finish(problem, settings.tolerance, x, report);
}

}  // namespace rotule
