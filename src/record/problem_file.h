#pragma once
// Recorded problems (D6): the algebra of every island of every recorded step, so that any solver can be tried on it without
// the scene, and what it looks like in a few numbers (problem/features.h). The arrays of all problems stand one after the other
// under ConstraintProblem's own names; `index` says where each one's rows, blocks, bodies begin, and how many there are.
//
// The file is streamed to: from its first second on it can be read, also while the run goes on or after it was killed. What a
// problem's numbers add up to is in the index; what does not is refused as damaged. A thread of its own does that, beside the
// steps, which only hand over copies; problems are written in the order in which they came.
#include <rotule/problem.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rotule {

class ProblemWriter {
 public:
  /// `joints` are the names that the blocks' `source` counts.
  ProblemWriter(const std::string& path, const std::string& scene, const std::string& recipe,
                const std::vector<std::string>& joints);
  ~ProblemWriter();
  ProblemWriter(ProblemWriter&&) noexcept;
  ProblemWriter& operator=(ProblemWriter&&) noexcept;
  /// Throws what has gone wrong with those before, if anything has.
  void append(std::int64_t frame, double time, int island, const ConstraintProblem& problem, std::span<const double> x);
  void close();   // under the temporary name still, where it has no other yet
  void finish();  // puts the file in its place

 private:
  class Stream;
  std::unique_ptr<Stream> stream_;
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
