// Shock propagation over levels: a body's level is its distance from what never moves, through the contacts and joints of the
// island. A pass goes up, solving the blocks of each level while the bodies below are held at the velocities that they have been
// given (as if they weighed infinitely much: Guendelman, Bridson, Fedkiw 2003), and then down, so that each level takes the load
// of what stands on it; bodies below still count as held. Where every body rests on the level below alone, loads travel the whole
// height in one pass, whatever the mass ratio. Elsewhere (bridges, arches, loads that come from the side, no ground at all) a
// pass may lead away: block Gauss-Seidel follows each, and the best x by the judge is what is returned. An approximate method.
// Without bodies there are no levels, and it is block Gauss-Seidel.
#include <rotule/solvers/shock_propagation.h>

#include "problem/operators.h"
#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

/// Blocks by levels: a block belongs to the level of its upper body; its other bodies are held where they are lower.
struct Levels {
  std::vector<std::int32_t> level;         // per body; -1 where nothing leads to the ground
  std::vector<std::int32_t> start, order;  // blocks by level
  std::vector<std::int32_t> block_level, next;
  int count = 0;

  void find(const ConstraintProblem& problem) {
    const int bodies = problem.bodies();
    level.assign(bodies, -1);
    const auto is_ground = [&](int body) { return body < 0 || problem.inverse_mass[body].isZero(0); };
    count = 0;
    // Rounds of relaxation over all blocks: as many as there are levels.
    for (bool changed = true; changed;) {
      changed = false;
      const auto climb = [&](int from, int to) {
        if (is_ground(to)) return;
        const int below = is_ground(from) ? 0 : level[from];
        if (below < 0 || (level[to] >= 0 && level[to] <= below + 1)) return;
        level[to] = below + 1;
        changed = true;
      };
      for (const ConstraintBlock& block : problem.blocks) {
        climb(block.body_a, block.body_b);
        climb(block.body_b, block.body_a);
        if (block.more_count > 0)
          for_each_body(problem, block, [&](int from, const JacobianRows&, int) {
            for_each_body(problem, block, [&](int to, const JacobianRows&, int) { climb(from, to); });
          });
      }
    }
    block_level.resize(problem.blocks.size());
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
      block_level[i] = 0;
      for_each_body(problem, problem.blocks[i], [&](int body, const JacobianRows&, int) {
        if (!is_ground(body)) block_level[i] = std::max(block_level[i], level[body]);
      });
      count = std::max(count, block_level[i] + 1);
    }
    start.assign(count + 1, 0);
    order.resize(problem.blocks.size());
    for (const int l : block_level) ++start[l + 1];
    for (int l = 0; l < count; ++l) start[l + 1] += start[l];
    next.assign(start.begin(), start.end());
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) order[next[block_level[i]]++] = static_cast<std::int32_t>(i);
  }
};

/// A where the lower bodies of each block are held: its own diagonal blocks, and two sets of velocities.
class HeldOperator {
 public:
  void assemble(const ConstraintProblem& problem, const Levels& levels) {
    problem_ = &problem;
    levels_ = &levels;
    u.assign(6 * static_cast<std::size_t>(problem.bodies()), 0.0);
    held.resize(u.size());
  }
  /// Whether the body of this block moves while the block's level is solved.
  [[nodiscard]] bool moves(int i, int body) const {
    return body >= 0 && (levels_->level[body] < 0 || levels_->level[body] == levels_->block_level[i]);
  }
  void diagonal(int i, double* D) const {
    const ConstraintBlock& block = problem_->blocks[i];
    for (int r = 0; r < block.rows; ++r)
      for (int c = 0; c < block.rows; ++c) {
        double sum = 0;
        for_each_body(*problem_, block, [&](int body, const JacobianRows& J, int first) {
          if (moves(i, body)) sum += J.row(first + r).dot(multiply_inverse_mass(*problem_, body, J.row(first + c).transpose()));
        });
        *D++ = sum + (r == c ? problem_->C[block.first_row + r] : 0.0);
      }
  }
  void row(int i, std::span<const double> x, double* w) const {
    const ConstraintBlock& block = problem_->blocks[i];
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      double sum = problem_->C[r] * x[r] - problem_->b[r];
      for_each_body(*problem_, block, [&](int body, const JacobianRows& J, int first) {
        const std::vector<double>& v = moves(i, body) ? u : held;
        sum += J.row(first + r - block.first_row).dot(Eigen::Map<const Eigen::Matrix<double, 1, 6>>(v.data() + 6 * body));
      });
      *w++ = sum;
    }
  }
  /// All bodies feel the change; those held show it only in u.
  void update(int i, const double* dx) {
    const ConstraintBlock& block = problem_->blocks[i];
    for_each_body(*problem_, block, [&](int body, const JacobianRows& J, int first) {
      Vec6 impulse = Vec6::Zero();
      for (int r = 0; r < block.rows; ++r) impulse += J.row(first + r).transpose() * dx[r];
      Eigen::Map<Vec6>(u.data() + 6 * body) += multiply_inverse_mass(*problem_, body, impulse);
    });
  }
  /// Bodies of this level are held from here on as they move now.
  void hold(int level) {
    for (int body = 0; body < problem_->bodies(); ++body)
      if (levels_->level[body] == level) std::copy_n(u.data() + 6 * body, 6, held.data() + 6 * body);
  }

  std::vector<double> u, held;  // as x makes them; as they are held

 private:
  const ConstraintProblem* problem_ = nullptr;
  const Levels* levels_ = nullptr;
};

struct ShockPropagation {
  BlockSweeps sweeps;
  BestAnswer answer;
  Levels levels;
  HeldOperator op;
  LocalSolver local;
};

void solve_level(const ConstraintProblem& problem, ShockPropagation& work, int level, int sweeps, std::span<double> x) {
  for (int k = 0; k < sweeps; ++k)
    for (int at = work.levels.start[level]; at < work.levels.start[level + 1]; ++at) {
      const int i = work.levels.order[at];
      const ConstraintBlock& block = problem.blocks[i];
      double w[6], dx[6];
      double* const x_i = x.data() + block.first_row;
      work.op.row(i, x, w);
      std::copy_n(x_i, block.rows, dx);
      work.local.solve(i, w, x_i);
      for (int r = 0; r < block.rows; ++r) dx[r] = x_i[r] - dx[r];
      work.op.update(i, dx);
    }
}

}  // namespace

void solve(const ConstraintProblem& problem, const ShockPropagationSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<ShockPropagation>();
  Iteration loop(problem, settings, work.answer, report);
  work.sweeps.with_operator(problem, BlockStorage(AutomaticStorage{}), [&](auto& blocks) {
    blocks.prepare(problem, x);
    if (loop.solved(x)) return;
    const bool has_levels = !problem.has_matrix();
    if (has_levels) {
      work.levels.find(problem);
      work.op.assemble(problem, work.levels);
      work.local.prepare(problem, work.op);
    }
    while (loop.goes_on()) {
      if (has_levels) {
        std::fill(work.op.u.begin(), work.op.u.end(), 0.0);
        apply_impulses(problem, x, work.op.u);
        work.op.held = work.op.u;
        for (int level = 0; level < work.levels.count; ++level) {
          solve_level(problem, work, level, settings.sweeps, x);
          work.op.hold(level);
        }
        for (int level = work.levels.count - 1; level >= 0; --level) solve_level(problem, work, level, settings.sweeps, x);
        if (loop.solved(x)) {
          ++report.iterations;
          break;
        }
      }
      blocks.op().start(x);
      for (int k = 0; k < settings.polish; ++k) blocks.sweep(false, 1, x);
      ++report.iterations;
      if (loop.solved(x)) break;
    }
  });
  loop.finish(x);
}

}  // namespace rotule
