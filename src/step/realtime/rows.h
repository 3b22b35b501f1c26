#pragma once
// Memory for lanes: a row is one number of sixteen neighbours. Processors with narrower lanes go through a row in parts, so that
// the layout, and with it every result and snapshot, is the same on all of them.
#include <cstdint>

namespace rotule::realtime {

inline constexpr int row_lanes = 16;

struct alignas(64) Row {
  float lane[row_lanes];
};
struct alignas(64) WholeRow {
  std::int32_t lane[row_lanes];
};
struct Rows3 {
  Row x, y, z;
};

inline void put(Rows3& rows, int lane, double x, double y, double z) {
  rows.x.lane[lane] = static_cast<float>(x);
  rows.y.lane[lane] = static_cast<float>(y);
  rows.z.lane[lane] = static_cast<float>(z);
}

/// How many rows hold so many numbers.
inline constexpr int rows_for(int count) { return (count + row_lanes - 1) / row_lanes; }

}  // namespace rotule::realtime
