// Flow fields from files (rotule/flow.h).
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/flow.h>

#include <filesystem>

#include "base/text.h"
#include "record/fluid_slices.h"
#include "record/hdf5_file.h"
#include "record/json_text.h"
#include "record/vtk_image.h"

namespace rotule {
namespace {

/// A plane that a run recorded of its fluid; nothing changes across it.
FlowGrid read_recorded_plane(const std::string& path) {
  const FluidSliceReader reader(path);
  FlowGrid out;
  out.times = reader.times();
  for (std::size_t n = 0; n < out.times.size(); ++n) {
    const FluidSlice slice = reader.slice(n);
    if (n == 0) {
      out.origin = slice.origin;
      out.points[static_cast<std::size_t>(slice.axes[0])] = slice.columns;
      out.points[static_cast<std::size_t>(slice.axes[1])] = slice.rows;
      for (std::size_t k = 0; k < 2; ++k) out.spacing[slice.axes[k]] = slice.spacing[k];
    }
    out.velocity.insert(out.velocity.end(), slice.velocity.begin(), slice.velocity.end());
  }
  return out;
}

FlowGrid read_hdf5(const std::string& path, const std::string& array) {
  const Hdf5File file = Hdf5File::open(path);
  if (file.contains("/fluid_velocity")) return read_recorded_plane(path);
  if (!file.contains(array))
    throw Error(path, fmt::format("holds no array {}; {}", in_quotes(array), suggestion(array, file.names("/"))));
  const Extent shape = file.shape(array);
  if ((shape.size() != 4 && shape.size() != 5) || shape.back() != 3)
    throw Error(path, fmt::format("{} must be an array of z, y, x and three numbers, or of time, z, y, x and three numbers; its "
                                  "dimensions are {}",
                                  in_quotes(array), fmt::join(shape, " x ")));
  FlowGrid out;
  const bool in_time = shape.size() == 5;
  for (std::size_t a = 0; a < 3; ++a) {
    const Hdf5Size n = shape[shape.size() - 2 - a];
    if (n < 1 || n > 1000000) throw Error(path, fmt::format("{} has {} points along an axis", in_quotes(array), n));
    out.points[a] = static_cast<int>(n);
  }
  const auto three = [&](const std::string& name) {
    if (!file.contains(name)) throw Error(path, fmt::format("holds no array {}: three numbers, in m", in_quotes(name)));
    const std::vector<double> values = file.numbers(name);
    if (values.size() != 3) throw Error(path, fmt::format("{} must be three numbers, has {}", in_quotes(name), values.size()));
    return Vec3(values[0], values[1], values[2]);
  };
  out.origin = three("origin");
  out.spacing = three("spacing");
  if (in_time) {
    if (!file.contains("time")) throw Error(path, "holds no array \"time\": one number, in s, for each moment");
    out.times = file.numbers("time");
    if (out.times.size() != shape[0])
      throw Error(path,
                  fmt::format("\"time\" must have a number for each of the {} moments, has {}", shape[0], out.times.size()));
  }
  const std::vector<double> values = file.numbers(array);
  out.velocity.resize(values.size() / 3);
  for (std::size_t n = 0; n < out.velocity.size(); ++n) out.velocity[n] = Eigen::Map<const Vec3>(&values[3 * n]);
  return out;
}

FlowGrid read_series(const std::string& path, const std::string& array) {
  FlowGrid out;
  out.times.clear();
  for (const auto& [time, file] : read_pvd(read_text_file(path), path)) {
    const std::string there = (std::filesystem::path(path).parent_path() / file).string();
    FlowGrid image = read_vti(read_text_file(there), array, there);
    if (out.times.empty()) {
      out = std::move(image);
      out.times = {time};
      continue;
    }
    if (image.points != out.points || image.origin != out.origin || image.spacing != out.spacing)
      throw Error(there, "is on another grid than the moments before it");
    out.times.push_back(time);
    out.velocity.insert(out.velocity.end(), image.velocity.begin(), image.velocity.end());
  }
  return out;
}

}  // namespace

FlowGrid read_flow(const std::string& path, const std::string& array) {
  const std::string ending = std::filesystem::path(path).extension().string();
  FlowGrid out;
  if (ending == ".h5" || ending == ".hdf5")
    out = read_hdf5(path, array);
  else if (ending == ".vti")
    out = read_vti(read_text_file(path), array, path);
  else if (ending == ".vtk")
    out = read_legacy_vtk(read_text_file(path), array, path);
  else if (ending == ".pvd")
    out = read_series(path, array);
  else
    throw Error(path, "is not a field that is read: give a .h5, .vti, .vtk or .pvd file");
  for (std::size_t n = 0; n < out.velocity.size(); ++n)
    if (!out.velocity[n].allFinite())
      throw Error(path, fmt::format("{} holds a velocity that is not a number, the {}th", in_quotes(array), n + 1));
  return out;
}

}  // namespace rotule
