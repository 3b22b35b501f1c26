#pragma once
// What a run in parallel slices of time (analyse.h, `run_parareal`) did.
namespace rotule {

struct PararealReport {
  int rounds = 0;
  int fine_slices = 0;    // runs of the fine method, one slice each
  double jump = 0;        // m, rad, m/s, rad/s: the largest change of the last round
  double estimate = 0;    // of the error against the fine run that is left, in the same units
  bool converged = true;  // whether that is below the tolerance
};

}  // namespace rotule
