#pragma once
// Recorded problems as version 2 of the format had them: one group per frame and island, /frame_000012/island_0, holding the
// arrays of ConstraintProblem under its own names, and the answer `x` that the run found. Only read.
#include "record/problem_file.h"

namespace rotule {

RecordedProblem read_problem_group(const Hdf5File& file, std::int64_t frame, int island);
std::vector<std::int64_t> problem_group_frames(const Hdf5File& file);
int problem_group_islands(const Hdf5File& file, std::int64_t frame);

}  // namespace rotule
