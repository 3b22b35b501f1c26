#pragma once
// What `rotule tune` and `rotule study` share: frames tuned over threads and ranks, kept in a journal as they are done.
//
// A journal is OUT.part: a line of JSON that says of what it is, then one line per frame. A run that is interrupted, or killed,
// leaves it behind; the same command goes on from there. Under mpirun every rank has a journal of its own, OUT.part.RANK, and
// takes every size-th frame; the first rank waits for the others' lines. What a frame gives does not depend on who tunes it:
// tables are the same for any number of threads and ranks.
#include <rotule/problem.h>

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "tune/tuner.h"

namespace rotule::app {

/// Which process of how many this is, as mpirun (Open MPI, MPICH) or srun says in the environment; without them the only one.
struct Ranks {
  int rank = 0, size = 1;
  std::string job;  // tells one launch from the next
};
Ranks ranks_of_environment();

struct FrameRow {
  std::int64_t frame = 0;
  double time = 0;  // s
  tune::TunedFrame tuned;
};
Json to_json(const FrameRow& row);
FrameRow frame_row(const Json& json);
/// A table of all frames; the first line names the columns.
std::string to_csv(const std::vector<FrameRow>& rows);

class Journal {
 public:
  /// Takes up what earlier runs left for `out`; throws Error where that was of other settings. No `out`: nothing is kept.
  Journal(const std::string& out, const Json& identity, Ranks ranks);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  [[nodiscard]] bool has(std::int64_t frame) const { return rows_.contains(frame); }
  [[nodiscard]] const Ranks& ranks() const { return ranks_; }
  void add(FrameRow row);
  /// All rows in order of frames. The first rank waits for the others; they get an empty list, and are done.
  std::vector<FrameRow> finish();
  /// What runs with any number of ranks left for `out`: once all is written elsewhere.
  static void remove(const std::string& out, const Ranks& ranks);

 private:
  [[nodiscard]] std::string path(int rank) const;
  void read(const std::string& path, bool& ended);
  void write(const std::string& line);

  std::string out_, identity_;
  Ranks ranks_;
  std::map<std::int64_t, FrameRow> rows_;
  std::FILE* file_ = nullptr;
};

struct FrameProblem {
  std::int64_t frame = 0;
  double time = 0;
  ConstraintProblem problem;
};
/// Tunes them over threads and adds them to the journal; where it is interrupted, those that were done.
void tune_frames(std::vector<FrameProblem>& frames, const tune::TuneSettings& settings, int threads, std::int64_t keep_course_of,
                 Journal& journal);

tune::TuneSettings tune_settings(const TuningChoices& choices);
tune::FrictionLaw friction_law(const std::string& name);
Json to_json(const TuningChoices& choices);

}  // namespace rotule::app
