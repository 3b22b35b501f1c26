#pragma once
// Parareal (Lions, Maday and Turinici 2001; A12): time is cut into slices, a coarse run through all of them gives each slice a
// start, the fine runs of all slices go on at the same time, and a second coarse run carries their corrections on,
//   U_(n+1) <- G(U_n) + (F(U_n before) - G(U_n before)).
// After k rounds the first k slices are exactly the fine run. The change of the last round, the jump, is what the one before was
// wrong by; what is left is (F' - G') times the jump. G' is seen at work, as the growth of jumps through a slice, and is wrong by
// about as much of itself as G was by the first jump, in units of one; after the second round the last contraction is known too,
// and the next one is no worse. What is left is estimated by the larger of the two. Stops where this is below the tolerance.
//
// With P threads a round costs a P-th of the fine run: it pays where fewer than P rounds are enough, that is, where G is good
// already and still much cheaper than F. It does not pay on chaotic motions over many times their doubling time. What comes out
// does not depend on the number of threads.
#include <rotule/parareal.h>
#include <rotule/types.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace rotule {

/// `at` holds the start and a place for the end of each slice. coarse(n, from, to) and fine(n, from, to) run slice n;
/// correct(n, g, f_before, g_before, out) adds the difference at its end; distance(a, b) measures.
template <class State, class Coarse, class Fine, class Correct, class Distance>
PararealReport parareal(std::vector<State>& at, int threads, double tolerance, Coarse&& coarse, Fine&& fine, Correct&& correct,
                        Distance&& distance) {
  const int slices = static_cast<int>(at.size()) - 1;
  std::vector<State> F(at.begin(), at.end() - 1), G = F;
  State g = at[0], corrected = at[0];
  for (int n = 0; n < slices; ++n) {
    coarse(n, at[n], G[n]);
    at[n + 1] = G[n];
  }
  PararealReport report;
  double first_jump = 0, growth = 1, before = infinity;
  for (int done = 0; done < slices;) {
    parallel_for(slices - done, threads, [&](int i) { fine(done + i, at[done + i], F[done + i]); });
    report.fine_slices += slices - done;
    ++report.rounds;
    double jump = distance(at[done + 1], F[done]);  // at the start of the slice at hand
    report.jump = jump;
    at[done + 1] = F[done];
    ++done;
    for (int n = done; n < slices; ++n) {
      coarse(n, at[n], g);
      correct(n, g, F[n], G[n], corrected);
      if (jump > 0) growth = std::max(growth, distance(g, G[n]) / jump);
      jump = distance(at[n + 1], corrected);
      report.jump = std::max(report.jump, jump);
      std::swap(at[n + 1], corrected);
      std::swap(G[n], g);
    }
    if (report.rounds == 1) first_jump = report.jump;
    report.estimate = done == slices ? 0 : report.jump * std::max(growth * first_jump, report.jump / before);
    before = report.jump;
    if (report.estimate <= tolerance) break;
  }
  report.converged = report.estimate <= tolerance;
  return report;
}

}  // namespace rotule
