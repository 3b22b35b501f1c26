// Two levels: sweeps of block Gauss-Seidel, to and fro, settle what happens within each pair of touching bodies; between them a
// coarse problem with one wrench per pair (coarse_contacts.h), factored, carries loads along their whole path at once. Sweeps
// alone need more of them with the square of a stack's height and with its mass ratio; these two together do not.
//
// Safeguard: a coarse correction that does not halve the residual is compared with the same sweeps without it, and the better of
// the two is kept; where it loses, it is tried less and less often. So it is never worse, by the judge, than its sweeps alone. It
// gains little where contacts keep opening and sliding anew (a pile in motion). A problem given by its matrix has no pairs
// of bodies: it goes to nncg.
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/two_level.h>

#include "base/budget.h"
#include "solve/best_answer.h"
#include "solve/hybrid/coarse_contacts.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct TwoLevel {
  BlockSweeps sweeps;
  BestAnswer answer;
  CoarseContacts coarse;
  std::vector<double> w, dx, before, trial;
};

/// Whether a correction came to its end before time was up: the best x so far is an answer too.
template <class Correct>
bool in_time(Correct&& correct) {
  try {
    const Dispensable correction;
    correct();
    return true;
  } catch (const OutOfTime&) {
    static_cast<void>(Budget::spent());  // said
    return false;
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const TwoLevelSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int corrections_in_a_row = 2;
  if (problem.has_matrix()) {
    NncgSettings sweeps;
    sweeps.tolerance = settings.tolerance;
    sweeps.max_iterations = settings.max_iterations;
    return solve(problem, sweeps, workspace, x, report);
  }
  auto& work = workspace.get<TwoLevel>();
  BestAnswer& answer = work.answer;
  answer.begin(problem, "two_level", report);
  work.w.resize(x.size());
  work.dx.resize(x.size());
  work.before.resize(x.size());
  work.trial.resize(x.size());
  work.coarse.prepare(problem);

  work.sweeps.with_operator(problem, BlockStorage{}, [&](auto& blocks) {
    blocks.prepare(problem, x);
    const auto smooth = [&](std::span<double> at) {
      blocks.op().start(at);
      for (int k = 0; k < settings.smoothing; ++k) {
        blocks.sweep(false, 1, at);
        blocks.sweep(true, 1, at);
      }
      report.iterations += 2 * settings.smoothing;
      Budget::count(2 * settings.smoothing);
      return answer.judge(at);
    };

    double now = answer.judge(x);
    if (now <= settings.tolerance) return;
    now = smooth(x);
    using Guess = CoarseContacts::Guess;
    Guess favourite = Guess::all_stick;
    int losses = 0, wait = 0;
    while (now > settings.tolerance && report.iterations < settings.max_iterations && !Budget::spent()) {
      if (wait > 0) {
        now = smooth(x);
        --wait;
        continue;
      }
      // From both guesses of what slides, the one that last helped first, a few corrections in a row: sets of contacts that open
      // and slide are found by trial. Then the sweeps alone. The best of all goes on.
      std::copy(x.begin(), x.end(), work.before.begin());
      double best = infinity;
      for (const Guess first : {favourite, favourite == Guess::as_is ? Guess::all_stick : Guess::as_is}) {
        std::copy(work.before.begin(), work.before.end(), work.trial.begin());
        Guess guess = first;
        for (int k = 0; k < corrections_in_a_row && best > 0.5 * now; ++k, guess = Guess::as_is) {
          blocks.op().residual(work.trial, work.w);
          work.coarse.guess(problem, guess, work.w, work.trial);
          blocks.op().residual(work.trial, work.w);
          if (!in_time([&] { work.coarse.correct(problem, work.w, work.dx); })) return;
          for (std::size_t r = 0; r < x.size(); ++r) work.trial[r] += work.dx[r];
          blocks.local().make_feasible(work.trial);
          const double corrected = smooth(work.trial);
          if (corrected < best) {
            best = corrected;
            favourite = first;
            std::copy(work.trial.begin(), work.trial.end(), x.begin());
          }
        }
      }
      losses = best <= 0.5 * now ? 0 : losses;
      if (best > 0.5 * now) {
        const double plain = smooth(work.before);
        if (plain < best) {
          best = plain;
          std::copy(work.before.begin(), work.before.end(), x.begin());
          wait = std::min(1 << ++losses, 64) - 1;
        }
      }
      now = best;
    }
  });
  answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
