#pragma once
// Recorded problems (D6): the algebra of every island of every recorded step, so that any solver can be tried on it without
// the scene. One group per frame and island, /frame_000012/island_0, holding the arrays of ConstraintProblem under its own
// names, and the answer `x` that the run found.
#include <rotule/problem.h>

#include <string>
#include <vector>

#include "record/hdf5_file.h"

namespace rotule {

class ProblemWriter {
 public:
  /// `joints` are the names that the blocks' `source` counts.
  ProblemWriter(const std::string& path, const std::string& scene, const std::string& recipe,
                const std::vector<std::string>& joints);
  void append(std::int64_t frame, double time, int island, const ConstraintProblem& problem, std::span<const double> x);
  void close() { file_.close(); }    // under the temporary name still
  void finish() { file_.finish(); }  // puts the file in its place

 private:
  Hdf5File file_;
};

struct RecordedProblem {
  ConstraintProblem problem;
  VecX x;           // the answer of the run
  double time = 0;  // s
};

/// Throws Error where there is no such frame or island, or where its arrays do not make a problem.
RecordedProblem read_problem(const std::string& path, std::int64_t frame, int island);
/// The steps that were recorded, in order; one in which nothing had to be solved is not among them.
std::vector<std::int64_t> recorded_frames(const std::string& path);
int recorded_islands(const std::string& path, std::int64_t frame);

}  // namespace rotule
