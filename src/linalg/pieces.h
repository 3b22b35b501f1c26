#pragma once
// Long loops over rows, cut into pieces of a fixed size: what a piece sums up does not depend on the number of threads.
#include <algorithm>

#include "base/parallel.h"

namespace rotule {

inline constexpr int rows_per_piece = 4096;

/// work(piece, first row, row after the last).
template <class Work>
void for_pieces(int rows, int threads, Work&& work) {
  parallel_for((rows + rows_per_piece - 1) / rows_per_piece, threads, [&](int piece) {
    const int first = piece * rows_per_piece;
    work(piece, first, std::min(rows, first + rows_per_piece));
  });
}

}  // namespace rotule
