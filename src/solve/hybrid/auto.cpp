// The choice of a solver by what a problem looks like, and by how it goes. Who begins, the first that fits:
//
//   only joints                                     ldlt, and that is all
//   contacts of trees whose coordinates are joints,
//   at most 150 rows                                prox_newton
//   joints, many rows of contacts or limits, no
//   friction                                        prox_newton, 15 steps
//   joints and contacts, where none need rest       anderson, for as long as 4 steps of Newton, then as below
//   joints, many rows of contacts, limits or
//   motors, and no large mass ratio                 prox_newton
//   joints, and so many others, in touch with each
//   other through them, that sweeps are cheaper     anderson
//   joints and contacts, limits or motors           hybrid
//   boxes and bounds alone, at most 150 rows        block_pivoting
//   a stack: few touching pairs per body, and 4 or
//   more on top of each other, by faces, or a body
//   30 times as heavy as one below                  two_level, 12 sweeps
//   anything else, and what the last leaves         anderson
//
// Sweeps watch their own rate (rival.h) and go on for as long as it promises the tolerance sooner than Newton's steps would be
// there; then those that factor take turns (solve_by_factors), each from the best answer so far, until the tolerance is met or
// max_iterations sweeps' worth of work is done, or the step's share of work (step_rows). Where that is too little for Newton to
// come near, sweeps have all of it: what they leave is small at any time. Each says itself how good its answer is, by the same
// judge. The report names the one whose answer it is, and counts the iterations of all. Measured in docs/contact_solvers.md and
// docs/laboratory.md.
#include <rotule/error.h>
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
#include "problem/judge.h"
#include "problem/row_sets.h"
#include "solve/newton/block_system.h"
#include "solve/newton/dense_form.h"
#include "solve/newton/homotopy.h"
#include "solve/rival.h"
#include "solve/solve.h"
#include "solve/structure.h"

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
constexpr double few_newton_steps = 4, newton_steps_from_near = 8, newton_steps_from_afar = 20;
constexpr double least_newton_cost = 25;  // sweeps that a step of Newton is worth, without its factor
constexpr double most_pairs_per_body = 1.5, least_contacts_per_face = 2;

/// Multiplications of a sweep over all rows.
double operations_of_sweep(const ConstraintProblem& problem) { return 60.0 * problem.rows(); }

struct Looks {
  int joint_rows = 0, other_rows = 0;
  bool cones = false;
  int height = 0;         // most pairs between a body and the ground, along the shortest way
  double mass_ratio = 1;  // largest between bodies that touch
  double load_ratio = 1;  // the same, of a body to one that is nearer to the ground, or as near
  int pairs = 0;          // runs of blocks between the same two bodies; further bodies of a block make pairs with its first
  /// Whether bodies touch by faces, several contacts a pair: loads are shared in many ways, which sweeps find out slowly.
  [[nodiscard]] bool faces(const ConstraintProblem& problem) const {
    return pairs > 0 && static_cast<double>(problem.blocks.size()) >= least_contacts_per_face * pairs && !problem.has_matrix();
  }
  /// Few pairs that carry much: by faces, on top of each other, or a heavy body on a light one.
  [[nodiscard]] bool stack(const ConstraintProblem& problem) const {
    return pairs <= most_pairs_per_body * problem.bodies() && ((height >= tall && faces(problem)) || load_ratio >= heavy);
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
  Judge judge;  // of starts, and of what rounding leaves of an answer: solvers say themselves how good theirs are
  std::vector<double> best_x;
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

/// Whether no row asks for anything at x = 0: nothing touches, or all that does moves apart.
bool asks_for_nothing(const ConstraintProblem& problem) {
  std::size_t group = 0;
  for (int r = 0; r < problem.rows();) {
    while (group < problem.friction.size() && problem.friction[group].first_row < r) ++group;
    if (group < problem.friction.size() && problem.friction[group].first_row == r) {
      r += problem.friction[group].count;  // without a normal force there is none
    } else {
      if ((problem.b[r] > 0 && problem.upper[r] > 0) || (problem.b[r] < 0 && problem.lower[r] < 0)) return false;
      ++r;
    }
  }
  return true;
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
  if (looks.mass_ratio < heavy) return looks;
  for (const ConstraintBlock& block : problem.blocks)
    for_each_pair(problem, block, [&](int a, int b) {
      const double p = inverse_mass(a), q = inverse_mass(b);
      if (!(p > 0 && q > 0)) return;
      if (work.level[a] >= work.level[b]) looks.load_ratio = std::max(looks.load_ratio, q / p);
      if (work.level[b] >= work.level[a]) looks.load_ratio = std::max(looks.load_ratio, p / q);
    });
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

  /// The start, and its residual where that is known.
  void begin(double residual) {
    best_ = residual;
    work_.best_x.assign(x_.begin(), x_.end());
  }
  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] std::span<const double> best_x() const { return work_.best_x; }
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
    climb_from(from_, tolerance, rung, iterations, cost);
  }
  /// The same from the problem's own start: Newton from nothing is often there sooner than from what sweeps have left.
  template <class Settings>
  void climb_anew(double tolerance, Settings rung, double iterations, double cost) {
    climb_from(&problem_, tolerance, rung, iterations, cost);
  }
  template <class Settings>
  void climb_from(const ConstraintProblem* start, double tolerance, Settings rung, double iterations, double cost) {
    if (from_ != &problem_ && Budget::spent()) return;  // the best so far is what the step's budget bought
    const double most = std::min(iterations, left() / cost);
    if (most < 1) return;
    rung.tolerance = tolerance;
    rung.max_iterations = static_cast<int>(most);
    if (start != &problem_) std::ranges::copy(work_.best_x, work_.restarted.x0.begin());
    solve(*start, rung, workspace_, x_, work_.rung);
    report_.iterations += work_.rung.iterations;
    report_.smallest_pivot = std::min(report_.smallest_pivot, work_.rung.smallest_pivot);
    spent_ += cost * iterations_of(rung);
    if (work_.rung.residual < best_) {
      best_ = work_.rung.residual;
      std::ranges::copy(x_, work_.best_x.begin());
      report_.solver = Settings::name;
    }
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

  /// x becomes the best one.
  void finish() {
    if (!std::isfinite(best_))
      throw Error("solver auto", "the residual is not finite; check masses, Jacobians and right-hand side");
    std::ranges::copy(work_.best_x, x_.begin());
    report_.residual = best_;
    report_.converged = solved();
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
  double best_ = infinity, most_ = 0, spent_ = 0, newton_cost_ = 0;
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
void sweep(bool faces, bool settled, bool near, Ladder& ladder) {
  constexpr double much_dearer = 1.5;
  if (ladder.over()) return;
  const double steps = near ? newton_steps_from_near : newton_steps_from_afar;
  const double first_rival = (!faces ? steps : settled ? few_newton_steps : newton_steps_from_near) * least_newton_cost;
  if (settled)
    ladder.climb_before(first_rival, NncgSettings{});
  else
    ladder.climb_before(first_rival, AndersonSettings{});
  if (ladder.over() || (faces && ladder.has_plenty())) return;
  // From here on somebody has to know what a factor costs.
  if (!ladder.affords(least_newton)) return ladder.climb(NncgSettings{}, ladder.left(), 1);
  if (ladder.newton_cost() <= much_dearer * least_newton_cost) return;
  const double rival = steps * ladder.newton_cost();
  ladder.climb_before(rival, NncgSettings{});
  if (!ladder.over()) ladder.climb_before(rival, AndersonSettings{});
}

/// Bodies that touch by faces and did so before: they come to rest only where the answer is right, whatever the tolerance.
void settle(bool near, double goal, Ladder& ladder) {
  constexpr int last_steps = 30;
  ladder.climb_before(few_newton_steps * least_newton_cost, goal, AndersonSettings{});
  if (ladder.best() > goal && (near || ladder.affords(least_newton)))
    ladder.climb_to(goal, ProxNewtonSettings{}, last_steps, ladder.newton_cost());
}

/// What sweeps do not get to. From afar the interior point is soonest near a solution, from nearby Newton, and where much is
/// asked he is from nothing too; alternating directions are at rough answers that neither finds; a path leads through jams. None
/// of them is sure: each gets more from round to round, until the budget is spent.
void solve_by_factors(const AutoSettings& settings, bool faces, bool near, Ladder& ladder) {
  constexpr double jam = 1e-4, rough = 1e-5, very_rough = 5e-4, interior_reach = 5e-7;
  constexpr double cost_of_a_solve = 0.3;  // of a factor's
  constexpr int interior = 40, first_directions = 300, a_few_directions = 100, newton_anew = 300, first_newton = 100,
                first_path = 500, path_sweeps = 400, more_sweeps = 1000;
  // Bodies on faces will rest, if what is left over does not move them: a few steps more.
  constexpr double steady = 1e-8;
  const double tolerance = settings.tolerance;
  if (!near && faces && tolerance >= very_rough && !settings.rest)
    ladder.climb(AdmmSettings{}, a_few_directions, std::max(2.0, cost_of_a_solve * ladder.newton_cost()));
  if (ladder.over()) return;
  if (!near && (faces || settings.rest || tolerance >= interior_reach))
    ladder.climb_to(faces && settings.rest ? std::min(tolerance, steady) : tolerance, InteriorPointSettings{}, interior,
                    ladder.has_plenty() ? least_newton_cost : ladder.newton_cost());
  const double cost = ladder.over() ? 1 : ladder.newton_cost();
  for (int round = 0; !ladder.over(); ++round) {
    const double last = ladder.best(), growth = std::pow(2.0, round);
    // Once Newton is near, the rest comes in two or three steps, and a start for the next problem that is right.
    if (round == 0 && !near && !settings.rest)
      ladder.climb_anew(tolerance, ProxNewtonSettings{}, newton_anew, cost);
    else if (round == 0)
      ladder.climb_to(near && settings.rest ? std::min(tolerance, at_rest) : tolerance, ProxNewtonSettings{}, first_newton, cost);
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

/// Who begins, and who goes on from there.
void climb(const ConstraintProblem& problem, const AutoSettings& settings, const Looks& looks, bool rests, bool near,
           Ladder& ladder) {
  constexpr int hybrid_iterations = 240, pivots = 200, two_level_sweeps = 12, steps_without_friction = 15,
                steps_of_small_ones = 60;
  const bool faces = looks.faces(problem);
  // Rows that nearly all meet, and few enough: a factor costs no more than some sweeps, and points in a row and stops that share
  // a load, which sweeps find out slowly, cost Newton nothing where they were there before.
  if (DenseForm::fits(problem)) ladder.climb(ProxNewtonSettings{.first_sweeps = 0}, steps_of_small_ones, least_newton_cost);
  if (ladder.over()) {
    // Small and dense, and done.
  } else if (looks.joint_rows > 0) {
    if (problem.friction.empty() && looks.other_rows > most_rows_for_complement)
      ladder.climb(ProxNewtonSettings{.first_sweeps = 0}, steps_without_friction, ladder.newton_cost());
    else if (!settings.rest && !looks.dear_complement(problem))
      ladder.climb_before(few_newton_steps * least_newton_cost, AndersonSettings{});
    if (ladder.over()) {
      // Newton needs a handful of steps where nothing slips.
    } else if (looks.dear_complement(problem))
      sweep(false, false, near || settings.rest, ladder);
    else if (!looks.crowded())
      ladder.climb(HybridSettings{}, hybrid_iterations, 2);
  } else if (!looks.cones && problem.rows() <= most_rows_for_pivoting) {
    ladder.pivot(pivots);
  } else {
    if (looks.stack(problem)) ladder.climb(TwoLevelSettings{}, two_level_sweeps, 2);
    const bool settled = faces && rests && !ladder.over();
    if (settled) settle(near, std::min(settings.tolerance, at_rest), ladder);
    sweep(faces, settled, near || settings.rest, ladder);
  }
  if (!ladder.over()) solve_by_factors(settings, faces, near, ladder);
}

/// What was nearly right belongs to what is at rest, or soon will be. What a rough tolerance leaves of the residual keeps it
/// moving, points of contact come and go, and every step costs anew; sweeps or a few steps of Newton end that. An answer also
/// undoes what the last one left of the velocities, so that two in a row must be clean for the third to be right as it stands:
/// starts that pass, but not by far, get some sweeps too.
void come_to_rest(const ConstraintProblem& problem, double tolerance, double start, bool near, double rounding, Ladder& ladder) {
  const double clean = std::max(0.1 * at_rest, 4 * rounding);
  constexpr double restless = 3 * at_rest;
  constexpr int last_sweeps = 10;
  const int last_steps = near ? 4 : 12;
  if (start <= clean || ladder.best() <= (near ? 0.1 * clean : restless) || !(near || mostly_sticks(problem, ladder.best_x())))
    return;
  if (ladder.best() <= restless)
    ladder.climb_to(0.1 * clean, BlockGaussSeidelSettings{}, last_sweeps, 1);  // mostly local
  else if (start > tolerance)
    ladder.climb_before(last_steps * least_newton_cost, 0.1 * clean, AndersonSettings{});
  if (start > restless && ladder.best() > clean)
    ladder.climb_to(0.1 * clean, ProxNewtonSettings{.first_sweeps = 0}, last_steps, ladder.newton_cost());
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
  clear(report, problem.rows());
  report.solver = AutoSettings::name;
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  // A warm start is another problem's answer: near is what is at rest, or soon will be, and will be followed by one more.
  const bool warm = problem.x0.squaredNorm() > 0, rests = settings.rest && warm;
  double start = infinity;
  if (warm || asks_for_nothing(problem)) {
    work.judge.begin(problem);
    start = work.judge.judge(x);
  }
  Ladder ladder(problem, settings, work, workspace, x, report);
  ladder.begin(start);
  const bool near = start < nearly_right;
  if (!ladder.over()) climb(problem, settings, look(problem, work), rests, near, ladder);
  if (ladder.best() == infinity) {
    // Too little work was left for anybody to begin with: the start is the answer.
    std::copy_n(problem.x0.data(), x.size(), x.begin());
    work.judge.begin(problem);
    ladder.begin(work.judge.judge(x));
  }
  if (rests && ladder.solved() && start > 0.1 * at_rest) {
    if (ladder.best() != start) work.judge.judge(ladder.best_x());
    come_to_rest(problem, settings.tolerance, start, near, work.judge.rounding(), ladder);
  }
  ladder.finish();
}

}  // namespace rotule
