#include "record/fluid_slices.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

constexpr std::size_t most_waiting_bytes = 1 << 24;
const std::string slice_time = "/fluid_time", slice_velocity = "/fluid_velocity", slice_pressure = "/fluid_pressure",
                  slice_vorticity = "/fluid_vorticity";

std::vector<Hdf5Size> row_of(const FluidSlice& slice, Hdf5Size components) {
  std::vector<Hdf5Size> row{static_cast<Hdf5Size>(slice.rows), static_cast<Hdf5Size>(slice.columns)};
  if (components > 1) row.push_back(components);
  return row;
}

}  // namespace

FluidSliceWriter::FluidSliceWriter(Hdf5File& file, const FluidSlice& like)
    : time_(file, slice_time, {}),
      velocity_(file, slice_velocity, row_of(like, 3)),
      pressure_(file, slice_pressure, row_of(like, 1)),
      vorticity_(file, slice_vorticity, row_of(like, 1)) {
  file.attribute(slice_time, "units", "s");
  file.attribute(slice_velocity, "units", "m/s");
  file.attribute(slice_pressure, "units", "Pa");
  file.attribute(slice_vorticity, "units", "1/s");
  for (std::size_t k = 0; k < 2; ++k) {
    file.attribute(slice_velocity, k == 0 ? "column_axis" : "row_axis", static_cast<double>(like.axes[k]));
    file.attribute(slice_velocity, k == 0 ? "column_spacing" : "row_spacing", like.spacing[k]);
  }
  for (int a = 0; a < 3; ++a) file.attribute(slice_velocity, fmt::format("origin_{}", "xyz"[a]), like.origin[a]);
}

void FluidSliceWriter::append(const Hdf5File& file, double time, const FluidSlice& slice) {
  time_.append(&time, 1);
  velocity_.append(slice.velocity.data()->data(), 1);  // three numbers after each other
  pressure_.append(slice.pressure.data(), 1);
  vorticity_.append(slice.vorticity.data(), 1);
  if (velocity_.waiting_bytes() >= most_waiting_bytes) flush(file);
}

FluidSliceWriter::FluidSliceWriter(const Hdf5File& file)
    : time_(file, slice_time),
      velocity_(file, slice_velocity),
      pressure_(file, slice_pressure),
      vorticity_(file, slice_vorticity) {}

std::optional<FluidSliceWriter> FluidSliceWriter::reopen(const Hdf5File& file) {
  if (!file.contains(slice_velocity)) return {};
  return FluidSliceWriter(file);
}

void FluidSliceWriter::flush(const Hdf5File& file) {
  for (GrowingTable<double>* table : {&time_, &velocity_, &pressure_, &vorticity_}) table->flush(file);
}

void FluidSliceWriter::close(const Hdf5File& file) {
  for (GrowingTable<double>* table : {&time_, &velocity_, &pressure_, &vorticity_}) {
    table->flush(file);
    table->close();
  }
}

bool FluidSliceReader::in(const std::string& path) { return Hdf5File::open(path).contains(slice_velocity); }

FluidSliceReader::FluidSliceReader(const std::string& path) : file_(Hdf5File::open(path)) {
  if (!file_.contains(slice_velocity)) throw Error(path, "holds no fluid; record a run of a scene with one");
  times_ = file_.numbers(slice_time);
  const Extent shape = file_.shape(slice_velocity);
  if (shape.size() != 4 || shape[0] != times_.size() || times_.empty())
    throw Error(path, slice_velocity + " does not fit " + slice_time);
  like_.rows = static_cast<int>(shape[1]);
  like_.columns = static_cast<int>(shape[2]);
  for (std::size_t k = 0; k < 2; ++k) {
    like_.axes[k] = static_cast<int>(file_.number_attribute(slice_velocity, k == 0 ? "column_axis" : "row_axis"));
    like_.spacing[k] = file_.number_attribute(slice_velocity, k == 0 ? "column_spacing" : "row_spacing");
    if (like_.axes[k] < 0 || like_.axes[k] > 2 || !(like_.spacing[k] > 0)) throw Error(path, slice_velocity + " is damaged");
  }
  if (like_.axes[0] == like_.axes[1]) throw Error(path, slice_velocity + " is damaged");
  for (int a = 0; a < 3; ++a) like_.origin[a] = file_.number_attribute(slice_velocity, fmt::format("origin_{}", "xyz"[a]));
}

std::size_t FluidSliceReader::nearest(double time) const {
  const auto nearer = [&](double a, double b) { return std::abs(a - time) < std::abs(b - time); };
  return static_cast<std::size_t>(std::min_element(times_.begin(), times_.end(), nearer) - times_.begin());
}

FluidSlice FluidSliceReader::slice(std::size_t index) const {
  FluidSlice out = like_;
  const std::vector<double> velocity = file_.numbers(slice_velocity, index, 1);
  for (std::size_t k = 0; k + 2 < velocity.size(); k += 3)
    out.velocity.emplace_back(velocity[k], velocity[k + 1], velocity[k + 2]);
  out.pressure = file_.numbers(slice_pressure, index, 1);
  out.vorticity = file_.numbers(slice_vorticity, index, 1);
  if (out.pressure.size() != out.velocity.size() || out.vorticity.size() != out.velocity.size())
    throw Error(file_.path(), "arrays of the fluid differ in size");
  return out;
}

}  // namespace rotule
