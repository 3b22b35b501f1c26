// The choice of a solver by what a problem looks like, and by how it goes. Who begins, the first that fits:
//
//   only joints                                     ldlt, and that is all
//   joints, many rows of contacts or limits, no
//   friction                                        prox_newton, 15 steps
//   joints, many rows of contacts, limits or
//   motors, and no large mass ratio                 prox_newton
//   joints, and so many others, in touch with each
//   other through them, that sweeps are cheaper     anderson
//   joints and contacts, limits or motors           hybrid
//   boxes and bounds alone, at most 150 rows        block_pivoting
//   a stack: few touching pairs per body, and 4 or
//   more on top of each other, by faces, or a body
//   30 times as heavy as one it touches             two_level, 12 sweeps
//   anything else, and what the last leaves         anderson
//
// Sweeps watch their own rate (rival.h) and go on for as long as it promises the tolerance sooner than Newton's steps would be
// there; then those that factor take turns (solve_by_factors), each from the best answer so far, until the tolerance is met or
// max_iterations sweeps' worth of work is done, or the step's share of work (step_rows). Where that is too little for Newton to
// come near, sweeps have all of it: what they leave is small at any time. The report names the one whose answer it is, and counts
// the iterations of all. Measured in docs/contact_solvers.md.
#include <rotule/solvers/admm.h>
#include <rotule/solvers/anderson.h>
#include <rotule/solvers/auto.h>
#include <rotule/solvers/block_gauss_seidel.h>
#include <rotule/solvers/block_pivoting.h>
#include <rotule/solvers/homotopy.h>
#include <rotule/solvers/hybrid.h>
#include <rotule/solvers/interior_point.h>
#include <rotule/solvers/ldlt.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/prox_newton.h>
#include <rotule/solvers/two_level.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/budget.h"
#include "base/shared_work.h"
#include "problem/row_sets.h"
#include "solve/best_answer.h"
#include "solve/newton/block_system.h"
#include "solve/newton/homotopy.h"
#include "solve/rival.h"
#include "solve/solve.h"

namespace rotule {

namespace {

constexpr int most_rows_for_pivoting = 150;
constexpr int most_rows_for_complement = 60;
constexpr double most_sweeps_for_complement = 4;
constexpr int tall = 4;
constexpr double heavy = 30;
constexpr double at_rest = 1e-10;  // a residual that leaves stacks where they are
constexpr int least_newton = 20;   // steps below which Newton, from afar, rarely comes near
constexpr double nearly_right = 0.03;
constexpr double few_newton_steps = 4;
constexpr double least_newton_cost = 25;  // sweeps that a step of Newton is worth, without its factor
constexpr double most_pairs_per_body = 1.5, least_contacts_per_face = 2;

/// Multiplications of a sweep over all rows.
double operations_of_sweep(const ConstraintProblem& problem) { return 60.0 * problem.rows(); }

struct Looks {
  int joint_rows = 0, other_rows = 0;
  bool cones = false;
  int height = 0;         // most pairs between a body and the ground, along the shortest way
  double mass_ratio = 1;  // largest between bodies that touch
  int pairs = 0;          // runs of blocks between the same two bodies; further bodies of a block make pairs with its first
  /// Whether bodies touch by faces, several contacts a pair: loads are shared in many ways, which sweeps find out slowly.
  [[nodiscard]] bool faces(const ConstraintProblem& problem) const {
    return pairs > 0 && static_cast<double>(problem.blocks.size()) >= least_contacts_per_face * pairs && !problem.has_matrix();
  }
  /// Few pairs that carry much: by faces, on top of each other, or very different masses.
  [[nodiscard]] bool stack(const ConstraintProblem& problem) const {
    return pairs <= most_pairs_per_body * problem.bodies() && ((height >= tall && faces(problem)) || mass_ratio >= heavy);
  }
  /// Whether the Schur complement of the joints would be so large that the sparse factor of everything is cheaper.
  [[nodiscard]] bool crowded() const {
    return other_rows > most_rows_for_complement && 4 * other_rows > joint_rows && mass_ratio < heavy;
  }
  /// Whether an iteration on that complement, a full matrix if all joints hang together, costs several sweeps over everything.
  [[nodiscard]] bool dear_complement(const ConstraintProblem& problem) const {
    return !crowded() && static_cast<double>(other_rows) * other_rows > most_sweeps_for_complement * operations_of_sweep(problem);
  }
};

struct Auto {
  BestAnswer answer;
  SolveReport rung;
  ConstraintProblem restarted;
  std::vector<BlockSet> sets;
  std::vector<int> level, queue, start, around;
};

/// Calls visit(a, b) for the pairs of bodies that a block makes neighbours.
template <class Visit>
void for_each_pair(const ConstraintProblem& problem, const ConstraintBlock& block, Visit&& visit) {
  visit(block.body_a, block.body_b);
  const int first = block.body_a >= 0 ? block.body_a : block.body_b;
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) visit(first, problem.more[k].body);
}

bool only_joints(const ConstraintProblem& problem) {
  return problem.rows() > 0 && !problem.has_matrix() && problem.friction.empty() && (problem.lower.array() == -infinity).all() &&
         (problem.upper.array() == infinity).all();
}

Looks look(const ConstraintProblem& problem, Auto& work) {
  Looks looks;
  classify(problem, work.sets);
  for (std::size_t i = 0; i < work.sets.size(); ++i)
    (work.sets[i].kind == RowSet::bilateral ? looks.joint_rows : looks.other_rows) += problem.blocks[i].rows;
  for (const FrictionRows& f : problem.friction) looks.cones = looks.cones || f.cone;

  // Neighbours of every body; one that cannot move is ground.
  const int bodies = problem.bodies();
  const auto inverse_mass = [&](int body) { return body < 0 ? 0.0 : problem.inverse_mass[body](0, 0); };
  work.start.assign(bodies + 2, 0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_pair(problem, block, [&](int a, int b) {
      if (a >= 0) ++work.start[a + 2];
      if (b >= 0) ++work.start[b + 2];
    });
  for (int body = 0; body <= bodies; ++body) work.start[body + 1] += work.start[body];
  work.around.resize(work.start[bodies + 1]);
  work.level.assign(bodies, -1);
  work.queue.clear();
  const auto see_pair = [&](int a, int b) {
    const double p = inverse_mass(a), q = inverse_mass(b);
    if (a >= 0) work.around[work.start[a + 1]++] = b;
    if (b >= 0) work.around[work.start[b + 1]++] = a;
    if (p > 0 && q > 0) looks.mass_ratio = std::max({looks.mass_ratio, p / q, q / p});
    for (const auto& [body, other] : {std::pair(a, q), std::pair(b, p)})
      if (body >= 0 && other == 0 && work.level[body] < 0) {
        work.level[body] = 1;
        work.queue.push_back(body);
      }
  };
  for (const ConstraintBlock& block : problem.blocks) {
    const bool same = &block != &problem.blocks.front() && (&block)[-1].body_a == block.body_a &&
                      (&block)[-1].body_b == block.body_b && block.more_count == 0;
    looks.pairs += (same ? 0 : 1) + block.more_count;
    for_each_pair(problem, block, see_pair);
  }
  for (std::size_t k = 0; k < work.queue.size(); ++k) {
    const int body = work.queue[k];
    looks.height = std::max(looks.height, work.level[body]);
    for (int n = work.start[body]; n < work.start[body + 1]; ++n) {
      const int other = work.around[n];
      if (other < 0 || work.level[other] >= 0) continue;
      work.level[other] = work.level[body] + 1;
      work.queue.push_back(other);
    }
  }
  return looks;
}

/// What a solve has done and may still do. Work is counted in sweeps over all rows.
class Ladder {
 public:
  Ladder(const ConstraintProblem& problem, const AutoSettings& settings, Auto& work, Workspace& workspace, std::span<double> x,
         SolveReport& report)
      : problem_(problem), from_(&problem), settings_(settings), work_(work), workspace_(workspace), x_(x), report_(report) {
    // Whoever comes when all is spent still makes a few sweeps: they are cheap, and the first ones do most.
    constexpr double least = 10;
    const double shared = std::max(SharedWork::left_here() / std::max(problem.rows(), 1), least);
    most_ = std::min(shared, static_cast<double>(settings.max_iterations));
    shared_ends_ = shared < settings.max_iterations;
  }
  ~Ladder() {
    // Besides, rows and laws were written, the structure looked at, the first x judged.
    constexpr double to_begin = 8;
    SharedWork::use_here((spent_ + to_begin) * problem_.rows());
    if (shared_ends_ && !solved() && left() < 1) SharedWork::cut_here();
  }
  Ladder(const Ladder&) = delete;
  Ladder& operator=(const Ladder&) = delete;

  [[nodiscard]] double best() const { return work_.answer.best(); }
  [[nodiscard]] bool solved() const { return best() <= settings_.tolerance; }
  [[nodiscard]] double left() const { return most_ - spent_; }
  [[nodiscard]] bool over() const { return solved() || left() < 1 || (from_ != &problem_ && Budget::spent()); }

  /// One solver goes on from the best answer so far, with at most so many iterations, each worth `cost` sweeps.
  template <class Settings>
  void climb(Settings rung, double iterations, double cost) {
    climb_to(settings_.tolerance, rung, iterations, cost);
  }
  template <class Settings>
  void climb_to(double tolerance, Settings rung, double iterations, double cost) {
    if (from_ != &problem_ && Budget::spent()) return;  // the best so far is what the step's budget bought
    const double most = std::min(iterations, left() / cost);
    if (most < 1) return;
    rung.tolerance = tolerance;
    rung.max_iterations = static_cast<int>(most);
    if (from_ != &problem_) std::ranges::copy(work_.answer.best_x(), work_.restarted.x0.begin());
    solve(*from_, rung, workspace_, x_, work_.rung);
    report_.iterations += work_.rung.iterations;
    report_.smallest_pivot = std::min(report_.smallest_pivot, work_.rung.smallest_pivot);
    spent_ += cost * iterations_of(rung);
    const double before = best();
    if (work_.answer.judge(x_) < before) report_.solver = Settings::name;
    if (from_ == &problem_ && !solved()) {
      work_.restarted = problem_;
      from_ = &work_.restarted;
    }
  }

  /// Pivots, each of which factors a dense matrix: next to nothing where rows are few, and much where they are a hundred. Of the
  /// step's work they take what they cost.
  void pivot(double most) {
    constexpr double rows_per_sweep = 3, multiplications_per_row = 180;
    const double n = problem_.rows(), cost = n * n / (3 * multiplications_per_row), form = n / rows_per_sweep;
    constexpr double least = 10;
    climb(BlockPivotingSettings{}, std::clamp(SharedWork::left_here() / (n * cost), least, most), 1);
    SharedWork::use_here(n * (form + cost * work_.rung.iterations));
  }

  /// Accelerated sweeps, until they promise to take longer than the rival would.
  template <class Settings>
  void climb_before(double rival, const Settings& rung) {
    climb_before(rival, settings_.tolerance, rung);
  }
  template <class Settings>
  void climb_before(double rival, double tolerance, const Settings& rung) {
    const RivalInForce limit(workspace_.get<Rival>(), rival);
    climb_to(tolerance, rung, left(), 1);
  }

  /// Whether Newton can be tried before anybody knows what his factors cost.
  [[nodiscard]] bool has_plenty() const {
    constexpr double plenty = 80;  // steps without a factor
    return left() >= plenty * least_newton_cost && Budget::seconds_left() == infinity;
  }
  /// Whether so many steps of Newton are left, in work and, where time is limited, in time: a row takes a sweep some 20 ns.
  [[nodiscard]] bool affords(int newton_steps) {
    constexpr double seconds_per_row = 20e-9;
    return std::min(left(), Budget::seconds_left() / (seconds_per_row * problem_.rows())) >= newton_steps * newton_cost();
  }

  /// How many sweeps one step of Newton is worth: 25 for all that is no factor (20 to 40 were measured on piles, walls and
  /// machines of 25 to 800 contacts), and the factor's multiplications, which are about three times as fast as those of a sweep.
  double newton_cost() {
    if (newton_cost_ == 0) {
      auto& linear = workspace_.get<BlockSystem>();
      linear.prepare(problem_);
      newton_cost_ = least_newton_cost + linear.work() / (3 * operations_of_sweep(problem_));
    }
    return newton_cost_;
  }

 private:
  /// Of the last rung; those of paths are factors, their sweeps being cheap beside them.
  template <class Settings>
  [[nodiscard]] double iterations_of(const Settings&) {
    if constexpr (std::is_same_v<Settings, HomotopySettings>) {
      const auto [sweeps, factors] = workspace_.get<PathWork>();
      return factors + sweeps / newton_cost();
    } else {
      return work_.rung.iterations;
    }
  }

  const ConstraintProblem& problem_;
  const ConstraintProblem* from_;
  const AutoSettings& settings_;
  Auto& work_;
  Workspace& workspace_;
  std::span<double> x_;
  SolveReport& report_;
  double most_ = 0, spent_ = 0, newton_cost_ = 0;
  bool shared_ends_ = false;  // whether what the step has left is less than a solve may take
};

/// Whether most of the contacts that carry something hold by friction: what slides nowhere is at rest, or moves as one.
bool mostly_sticks(const ConstraintProblem& problem, std::span<const double> x) {
  constexpr double inside = 0.999, most = 0.8;
  int loaded = 0, sticking = 0;
  for (const FrictionRows& f : problem.friction) {
    if (f.first_row != f.normal_row + 1 || !(x[f.normal_row] > 0)) continue;
    double squares = 0;
    for (int r = f.first_row; r < f.first_row + f.count; ++r) squares += x[r] * x[r];
    ++loaded;
    sticking += std::sqrt(squares) < inside * f.mu * x[f.normal_row];
  }
  return loaded > 0 && sticking >= most * loaded;
}

/// Sweeps for as long as the rate at which the residual falls promises the tolerance sooner than Newton would be there; bodies
/// that touch by faces are his.
void sweep(bool faces, bool settled, Ladder& ladder) {
  constexpr double newton_steps = 8, much_dearer = 1.5;
  if (ladder.over()) return;
  const double first_rival = (faces ? few_newton_steps : newton_steps) * least_newton_cost;
  if (settled)
    ladder.climb_before(first_rival, NncgSettings{});
  else
    ladder.climb_before(first_rival, AndersonSettings{});
  if (ladder.over() || (faces && ladder.has_plenty())) return;
  // From here on somebody has to know what a factor costs.
  if (!ladder.affords(least_newton)) return ladder.climb(NncgSettings{}, ladder.left(), 1);
  if (ladder.newton_cost() <= much_dearer * least_newton_cost) return;
  const double rival = newton_steps * ladder.newton_cost();
  ladder.climb_before(rival, NncgSettings{});
  if (!ladder.over()) ladder.climb_before(rival, AndersonSettings{});
}

/// Bodies that touch by faces and did so before: they come to rest only where the answer is right, whatever the tolerance.
void settle(bool near, double goal, Ladder& ladder) {
  constexpr int newton_steps = 30;
  ladder.climb_before(few_newton_steps * least_newton_cost, goal, AndersonSettings{});
  if (ladder.best() > goal && (near || ladder.affords(least_newton)))
    ladder.climb_to(goal, ProxNewtonSettings{}, newton_steps, ladder.newton_cost());
}

/// What sweeps do not get to. From afar the interior point is soonest near a solution, from nearby Newton; alternating directions
/// are at rough answers that it does not find; a path leads through jams. None of them is sure: each gets more from round to
/// round, until the budget is spent.
void solve_by_factors(double tolerance, bool faces, bool near, Ladder& ladder) {
  constexpr double jam = 1e-4, rough = 1e-5;
  constexpr double cost_of_a_solve = 0.3;  // of a factor's
  constexpr int interior = 40, first_directions = 300, first_newton = 100, first_path = 500, path_sweeps = 400,
                more_sweeps = 1000;
  // Bodies on faces will rest, if what is left over does not move them: a few steps more.
  constexpr double steady = 1e-8;
  if (!near)
    ladder.climb_to(faces ? std::min(tolerance, steady) : tolerance, InteriorPointSettings{}, interior,
                    ladder.has_plenty() ? least_newton_cost : ladder.newton_cost());
  const double cost = ladder.over() ? 1 : ladder.newton_cost();
  for (int round = 0; !ladder.over(); ++round) {
    const double last = ladder.best(), growth = std::pow(2.0, round);
    // Once Newton is near, the rest comes in two or three steps, and a start for the next problem that is right.
    if (round == 0)
      ladder.climb_to(near ? std::min(tolerance, at_rest) : tolerance, ProxNewtonSettings{}, first_newton, cost);
    else
      ladder.climb(ProxNewtonSettings{}, first_newton * growth, cost);
    if (ladder.over()) return;
    if (tolerance >= rough) ladder.climb(AdmmSettings{}, first_directions * growth, std::max(2.0, cost_of_a_solve * cost));
    if (ladder.over()) return;
    if (round > 0 || ladder.best() > jam) {
      HomotopySettings path;
      path.first_sweeps = static_cast<int>(path_sweeps * growth);
      ladder.climb(path, first_path * growth, cost);
    }
    if (ladder.over()) return;
    if (ladder.best() > 0.1 * last) ladder.climb(NncgSettings{}, more_sweeps * growth, 1);
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const AutoSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  if (only_joints(problem)) {
    solve(problem, LdltSettings{}, workspace, x, report);
    report.solver = LdltSettings::name;
    return;
  }
  auto& work = workspace.get<Auto>();
  const Looks looks = look(problem, work);
  work.answer.begin(problem, "auto", report);
  report.solver = AutoSettings::name;
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  const double start = work.answer.judge(x);
  Ladder ladder(problem, settings, work, workspace, x, report);
  const bool follows = problem.x0.squaredNorm() > 0;  // another problem, and will be followed by one: it has a warm start
  const bool near = follows && start < nearly_right;
  if (!ladder.over()) {
    constexpr int hybrid_iterations = 240, pivots = 200, two_level_sweeps = 12, steps_without_friction = 15;
    if (looks.joint_rows > 0) {
      if (problem.friction.empty() && looks.other_rows > most_rows_for_complement)
        ladder.climb(ProxNewtonSettings{.first_sweeps = 0}, steps_without_friction, ladder.newton_cost());
      if (ladder.over()) {
        // Newton needs a handful of steps where nothing slips.
      } else if (looks.dear_complement(problem))
        sweep(false, false, ladder);
      else if (!looks.crowded())
        ladder.climb(HybridSettings{}, hybrid_iterations, 2);
    } else if (!looks.cones && problem.rows() <= most_rows_for_pivoting) {
      ladder.pivot(pivots);
    } else {
      if (looks.stack(problem)) ladder.climb(TwoLevelSettings{}, two_level_sweeps, 2);
      const bool faces = looks.faces(problem), settled = faces && follows && !ladder.over();
      if (settled) settle(near, std::min(settings.tolerance, at_rest), ladder);
      sweep(faces, settled, ladder);
    }
    if (!ladder.over()) solve_by_factors(settings.tolerance, looks.faces(problem), near, ladder);
  }
  // A start that was nearly right belongs to what is at rest, or soon will be. What a rough tolerance leaves of the residual
  // keeps it moving, points of contact come and go, and every step costs anew; sweeps or a few steps of Newton end that. An
  // answer also undoes what the last one left of the velocities, so that two in a row must be clean for the third to be right as
  // it stands: starts that pass, but not by far, get some sweeps too.
  const double clean = std::max(0.1 * at_rest, 4 * work.answer.best_rounding());
  constexpr double restless = 3 * at_rest;
  constexpr int last_sweeps = 10;
  const int last_steps = near ? 4 : 12;
  if (follows && ladder.solved() && start > clean && ladder.best() > (near ? 0.1 * clean : restless) &&
      (near || mostly_sticks(problem, work.answer.best_x()))) {
    if (ladder.best() <= restless)
      ladder.climb_to(0.1 * clean, BlockGaussSeidelSettings{}, last_sweeps, 1);  // mostly local
    else if (start > settings.tolerance)
      ladder.climb_before(last_steps * least_newton_cost, 0.1 * clean, AndersonSettings{});
    if (start > restless && ladder.best() > clean)
      ladder.climb_to(0.1 * clean, ProxNewtonSettings{.first_sweeps = 0}, last_steps, ladder.newton_cost());
  }
  work.answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
