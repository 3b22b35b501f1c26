// Incremental pivoting (D5): rows enter one after the other; each is driven towards w = 0 or its bound while all rows before it
// keep their conditions, a free row that reaches a bound and a bounded row whose w reaches 0 changing sides on the way.
// Cottle and Dantzig, Lin. Algebra Appl. 1, 1968; Baraff, "Fast contact force computation for nonpenetrating rigid bodies",
// SIGGRAPH 1994. The free rows' LDL^T is kept up to date row by row.
//
// A friction box gets its bounds from the normal at the time that its rows enter, as game engines do; whole passes are repeated
// with the last pass's normals, and each pass's index set is tried with bounds that follow (dense_problem.h), until the answer is
// exact. Ends always on bounds alone; with friction the passes may cycle: reported. Quadratic memory, about cubic time.
#include <rotule/solvers/dantzig.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "linalg/growing_ldlt.h"
#include "solve/pivot/dense_problem.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct DantzigMemory {
  DenseProblem problem;
  GrowingLdlt factor;
  std::vector<std::int32_t> order, free, bound;  // rows to come, and those that are in
  VecX direction, slope, column, limits;
};

class Pass {
 public:
  Pass(DantzigMemory& memory) : m_(memory), p_(memory.problem) {
    m_.factor.clear(p_.size());
    m_.free.clear();
    m_.bound.clear();
    m_.direction.setZero(p_.size());
    m_.slope.setZero(p_.size());
    m_.column.resize(p_.size());
    for (int i = 0; i < p_.size(); ++i) p_.x[i] = std::clamp(0.0, p_.lower[i], p_.upper[i]);
    p_.update_w();
  }

  void enter(int row) {
    if (p_.lower[row] == p_.upper[row]) return stop_at(row, RowState::at_lower);
    const double tiny = 1e-13 * std::max(p_.b.lpNorm<Eigen::Infinity>(), 1e-300);
    const int most_turns = 20 + 4 * p_.size();
    for (int turn = 0; turn < most_turns; ++turn) {
      Budget::listen();
      if (std::abs(p_.w[row]) <= tiny) return release(row);
      const double sign = p_.w[row] < 0 ? 1.0 : -1.0;
      if (sign < 0 && p_.x[row] <= p_.lower[row]) return stop_at(row, RowState::at_lower);
      if (sign > 0 && p_.x[row] >= p_.upper[row]) return stop_at(row, RowState::at_upper);
      find_direction(row, sign);

      // How far until something happens, and to whom.
      double step = std::max(0.0, -p_.w[row] / m_.slope[row]);
      int who = row;
      RowState becomes = RowState::free;
      const auto limit = [&](int i, double distance, RowState state) {
        if (distance < step) {
          step = std::max(0.0, distance);
          who = i;
          becomes = state;
        }
      };
      const auto limit_by_bounds = [&](int i) {
        const double d = m_.direction[i];
        if (d < 0 && p_.lower[i] > -infinity) limit(i, (p_.lower[i] - p_.x[i]) / d, RowState::at_lower);
        if (d > 0 && p_.upper[i] < infinity) limit(i, (p_.upper[i] - p_.x[i]) / d, RowState::at_upper);
      };
      limit_by_bounds(row);
      for (const int i : m_.free) limit_by_bounds(i);
      for (const int i : m_.bound) {
        if (p_.lower[i] == p_.upper[i]) continue;
        const bool towards_zero = p_.state[i] == RowState::at_lower ? m_.slope[i] < 0 : m_.slope[i] > 0;
        if (towards_zero) limit(i, -p_.w[i] / m_.slope[i], RowState::free);
      }

      p_.x += step * m_.direction;
      p_.w += step * m_.slope;
      if (who == row) {
        if (becomes == RowState::free) {
          p_.w[row] = 0;
          return release(row);
        }
        p_.x[row] = becomes == RowState::at_lower ? p_.lower[row] : p_.upper[row];
        return stop_at(row, becomes);
      }
      if (becomes == RowState::free) {
        p_.w[who] = 0;
        std::erase(m_.bound, who);
        release(who);
      } else {
        const auto at = std::ranges::find(m_.free, who) - m_.free.begin();
        m_.factor.remove(static_cast<int>(at));
        m_.free.erase(m_.free.begin() + at);
        p_.x[who] = becomes == RowState::at_lower ? p_.lower[who] : p_.upper[who];
        stop_at(who, becomes);
      }
    }
    stop_at(row, p_.x[row] >= p_.upper[row] ? RowState::at_upper : RowState::at_lower);  // rounding keeps it from settling
  }

 private:
  void release(int row) {
    for (std::size_t k = 0; k < m_.free.size(); ++k) m_.column[static_cast<Eigen::Index>(k)] = p_.A(row, m_.free[k]);
    m_.factor.append(m_.column.data(), p_.A(row, row) + p_.regularisation);
    m_.free.push_back(row);
    p_.state[row] = RowState::free;
  }
  void stop_at(int row, RowState state) {
    p_.state[row] = state;
    m_.bound.push_back(row);
  }

  /// x moves by `sign` in the row, and in the free ones so that their w stays; the slope of all w.
  void find_direction(int row, double sign) {
    const auto n = static_cast<Eigen::Index>(m_.free.size());
    for (Eigen::Index k = 0; k < n; ++k) m_.column[k] = -sign * p_.A(m_.free[k], row);
    m_.factor.solve(m_.column.data());
    m_.direction.setZero();
    for (Eigen::Index k = 0; k < n; ++k) m_.direction[m_.free[k]] = m_.column[k];
    m_.direction[row] = sign;
    m_.slope.noalias() = p_.A * m_.direction;
    m_.slope += p_.regularisation * m_.direction;
    for (const int i : m_.free) m_.slope[i] = 0;
    const double least = sign * p_.regularisation;  // definite, whatever rounding says
    m_.slope[row] = sign > 0 ? std::max(m_.slope[row], least) : std::min(m_.slope[row], least);
  }

  DantzigMemory& m_;
  DenseProblem& p_;
};

}  // namespace

void solve(const ConstraintProblem& problem, const DantzigSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& memory = workspace.get<DantzigMemory>();
  DenseProblem& p = memory.problem;
  if (p.start_is_answer(problem, settings.name, settings.tolerance, x, report)) return;
  p.load(problem, settings.name, false, report);
  memory.free.reserve(p.size());
  memory.bound.reserve(p.size());

  // Rows without bounds first, then normals and limits, then friction.
  memory.order.clear();
  for (int stage = 0; stage < 3; ++stage)
    for (int i = 0; i < p.size(); ++i)
      if ((p.normal[i] >= 0 ? 2 : p.is_free(i) ? 0 : 1) == stage) memory.order.push_back(i);

  const double target = 0.1 * settings.tolerance;
  bool settled = p.judge() <= target;
  memory.limits.setConstant(p.size(), -1.0);
  while (!settled && report.iterations < settings.max_iterations && !(report.iterations > 0 && Budget::spent())) {
    Budget::count();
    Pass pass(memory);
    for (const int row : memory.order) {
      Budget::listen();
      if (p.normal[row] >= 0) {
        const double normal = memory.limits[row] >= 0 ? memory.limits[row] : p.x[p.normal[row]];
        p.upper[row] = p.mu[row] * std::max(0.0, normal);
        p.lower[row] = -p.upper[row];
      }
      pass.enter(row);
    }
    ++report.iterations;
    for (int i = 0; i < p.size(); ++i)
      if (p.normal[i] >= 0) memory.limits[i] = p.x[p.normal[i]];
    settled = p.active_set_newton(8, target);
    if (problem.friction.empty()) break;
  }
  p.finish(problem, settings.tolerance, x, report);
}

}  // namespace rotule
