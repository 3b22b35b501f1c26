#pragma once
// What the kernels of sweep_lanes.cpp read: a problem's rows, units and matrix in one precision, in the order of a sweep.
#include <cstdint>
#include <vector>

#include "tune/sweep_lanes.h"

namespace rotule::tune {

/// A row with bounds of its own or with those that a normal gives, or the rows of a disk |t| <= mu x_n.
template <class T>
struct SweepUnit {
  std::int32_t first_row = 0, count = 1, normal = -1;
  bool bounded = false;  // a row with bounds of its own, of which one is finite
  bool friction = false;
  T mu = 0, lower = 0, upper = 0, diagonal = 0;
};

/// Units of one block that are treated in one go, before the rest of A hears of their changes.
struct SweepVisit {
  std::int32_t first_unit = 0, units = 0;
  std::int32_t first_row = 0, rows = 0;        // of the visit
  std::int32_t block_row = 0, block_rows = 0;  // of the block that it belongs to
  std::int32_t diagonal = 0;                   // its block of A, from its first row on
  std::int32_t first_entry = 0, entries = 0;   // the others in its rows
  std::int32_t body_a = -1, body_b = -1;
};

/// A block of A beside the diagonal: the visit's rows, row-major, for all rows of another block.
struct SweepEntry {
  std::int32_t first_row = 0, rows = 0, value = 0;
};

/// The law of a sliding cone, for the error.
template <class T>
struct SweepCone {
  std::int32_t normal = 0, count = 0;
  T mu = 0;
};

template <class T>
struct SweepArrays {
  int rows = 0, bodies = 0;
  bool by_bodies = false;
  std::vector<SweepUnit<T>> units;
  std::vector<SweepVisit> visits[2];  // block by block; staggered
  std::vector<SweepEntry> entries[2];
  std::vector<T> values;  // of A
  std::vector<T> lines;   // per row: J_a, J_b, M^-1 J_a^T, M^-1 J_b^T
  std::vector<SweepCone<T>> cones;
  std::vector<std::uint8_t> in_cone;  // per unit: its error is counted with its cone's
  std::vector<T> b, C, x0;
};

/// A candidate's numbers and what came of it, per lane.
struct LaneJob {
  const SweepParameters* parameters = nullptr;
  SweepOutcome* outcome = nullptr;
};

/// What a run needs besides, kept from one to the next.
template <class T>
struct SweepScratch {
  std::vector<T> memory;
};

}  // namespace rotule::tune
