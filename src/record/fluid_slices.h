#pragma once
// A plane of the fluid over time, in the recording of a run: velocity, pressure and vorticity at the middles of its cells, rows
// from the lowest upwards; where the plane is stands as attributes of /fluid_velocity.
#include <rotule/fluid_grid.h>

#include <optional>
#include <string>

#include "record/growing_table.h"
#include "record/hdf5_file.h"

namespace rotule {

class FluidSliceWriter {
 public:
  /// Makes the arrays, for slices like this one.
  FluidSliceWriter(Hdf5File& file, const FluidSlice& like);
  /// Those that a recording has already, to go on with; none where it has none.
  static std::optional<FluidSliceWriter> reopen(const Hdf5File& file);
  void append(const Hdf5File& file, double time, const FluidSlice& slice);
  /// Writes what waits.
  void flush(const Hdf5File& file);
  /// Before the file is closed.
  void close(const Hdf5File& file);

 private:
  explicit FluidSliceWriter(const Hdf5File& file);
  GrowingTable<double> time_, velocity_, pressure_, vorticity_;
};

class FluidSliceReader {
 public:
  /// Throws Error where the recording has none.
  explicit FluidSliceReader(const std::string& path);
  /// Whether a recording has any.
  static bool in(const std::string& path);
  [[nodiscard]] const std::vector<double>& times() const { return times_; }
  /// The one nearest to a time.
  [[nodiscard]] std::size_t nearest(double time) const;
  [[nodiscard]] FluidSlice slice(std::size_t index) const;
  /// Of the axis across the plane: 0, 1 or 2.
  [[nodiscard]] int across() const { return 3 - like_.axes[0] - like_.axes[1]; }

 private:
  Hdf5File file_;
  std::vector<double> times_;
  FluidSlice like_;  // without values
};

}  // namespace rotule
