#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <optional>

#include "model/tessellate.h"
#include "record/base64.h"
#include "record/beside_file.h"
#include "record/fluid_slices.h"
#include "record/html_page.h"
#include "record/tables.h"

namespace rotule {

namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "the files say so");

/// An array of a .vtp file: its size in bytes, then its numbers, as one run of base64.
template <class T>
std::string data_array(const char* type, const std::string& more, const std::vector<T>& values) {
  const std::uint64_t size = values.size() * sizeof(T);
  std::string bytes(sizeof size + size, '\0');
  std::memcpy(bytes.data(), &size, sizeof size);
  if (size > 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
  return fmt::format("<DataArray type=\"{}\" {} format=\"binary\">{}</DataArray>\n", type, more, base64(bytes));
}

/// Cells of one kind: which points, and where each ends.
struct Cells {
  std::vector<std::int32_t> points, ends;
  void add(std::initializer_list<int> corners) {
    points.insert(points.end(), corners);
    ends.push_back(static_cast<std::int32_t>(points.size()));
  }
  [[nodiscard]] std::string text(const char* tag) const {
    return fmt::format("<{0}>\n{1}{2}</{0}>\n", tag, data_array("Int32", "Name=\"connectivity\"", points),
                       data_array("Int32", "Name=\"offsets\"", ends));
  }
};

/// What does not change from file to file.
struct Geometry {
  std::vector<TriangleSurface> surfaces;  // one per body, in its frame
  Cells particles, lines, triangles;
  std::vector<std::int32_t> body;  // of each cell: vertices, lines, then triangles
};

Geometry make_geometry(const RecordedMotion& motion, double extent) {
  Geometry out;
  int first = 0;
  for (const BodyDef& body : motion.scene.bodies) {
    out.surfaces.push_back(std::holds_alternative<std::monostate>(body.shape)
                               ? tessellate(Sphere{0.01 * extent}, {.segments = 12})
                               : tessellate(body.shape, {.segments = 16, .plane_size = 4 * extent}));
    for (const auto& [a, b, c] : out.surfaces.back().triangles) out.triangles.add({first + a, first + b, first + c});
    first += static_cast<int>(out.surfaces.back().vertices.size());
  }
  const ParticleMesh mesh = particle_mesh(motion.scene);
  for (std::size_t k = 0; k < motion.particles.size(); ++k) out.particles.add({first + static_cast<int>(k)});
  for (const auto& [a, b] : mesh.springs) out.lines.add({first + a, first + b});
  out.body.assign(out.particles.ends.size() + out.lines.ends.size(), -1);
  for (std::size_t i = 0; i < out.surfaces.size(); ++i)
    out.body.insert(out.body.end(), out.surfaces[i].triangles.size(), static_cast<std::int32_t>(i));
  for (const auto& [a, b, c] : mesh.triangles) {
    out.triangles.add({first + a, first + b, first + c});
    out.body.push_back(-1);
  }
  return out;
}

std::string vtp(const Geometry& geometry, const TrajectoryFrame& frame) {
  std::vector<float> points, normals, speeds;
  const auto add = [](std::vector<float>& to, const Vec3& v) {
    for (const double x : v) to.push_back(static_cast<float>(x));
  };
  const std::vector<double>&position = frame["position"], &orientation = frame["orientation"], &velocity = frame["velocity"];
  for (std::size_t i = 0; i < geometry.surfaces.size(); ++i) {
    const Eigen::Map<const Vec3> p(&position[3 * i]), v(&velocity[3 * i]);
    const double* q = &orientation[4 * i];
    const Mat3 R = Quat(q[0], q[1], q[2], q[3]).toRotationMatrix();
    const TriangleSurface& surface = geometry.surfaces[i];
    for (std::size_t k = 0; k < surface.vertices.size(); ++k) {
      add(points, p + R * surface.vertices[k]);
      add(normals, R * surface.normals[k]);
      speeds.push_back(static_cast<float>(v.norm()));
    }
  }
  const std::vector<double>&particle_position = frame["particle_position"], &particle_velocity = frame["particle_velocity"];
  for (std::size_t k = 0; k + 2 < particle_position.size(); k += 3) {
    add(points, Eigen::Map<const Vec3>(&particle_position[k]));
    add(normals, Vec3::UnitZ());
    speeds.push_back(static_cast<float>(Eigen::Map<const Vec3>(&particle_velocity[k]).norm()));
  }
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<PolyData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n<PointData Scalars=\"speed\" Normals=\"normals\">\n{}{}</PointData>\n"
      "<CellData Scalars=\"body\">\n{}</CellData>\n<Points>\n{}</Points>\n{}{}{}</Piece>\n</PolyData>\n</VTKFile>\n",
      speeds.size(), geometry.particles.ends.size(), geometry.lines.ends.size(), geometry.triangles.ends.size(),
      data_array("Float32", "Name=\"speed\"", speeds),
      data_array("Float32", "Name=\"normals\" NumberOfComponents=\"3\"", normals),
      data_array("Int32", "Name=\"body\"", geometry.body),
      data_array("Float32", "Name=\"points\" NumberOfComponents=\"3\"", points), geometry.particles.text("Verts"),
      geometry.lines.text("Lines"), geometry.triangles.text("Polys"));
}

/// A plane of the fluid: one layer of cells, values at their middles.
std::string vti(const FluidSlice& slice) {
  const int across = 3 - slice.axes[0] - slice.axes[1];
  std::array<int, 3> cells{1, 1, 1};
  std::array<double, 3> spacing{}, corner{};
  for (std::size_t k = 0; k < 2; ++k) {
    cells[slice.axes[k]] = k == 0 ? slice.columns : slice.rows;
    spacing[slice.axes[k]] = slice.spacing[k];
  }
  spacing[across] = std::min(slice.spacing[0], slice.spacing[1]);
  for (int a = 0; a < 3; ++a) corner[a] = slice.origin[a] - spacing[a] / 2;
  std::vector<float> velocity, pressure(slice.pressure.begin(), slice.pressure.end()),
      vorticity(slice.vorticity.begin(), slice.vorticity.end());
  for (const Vec3& v : slice.velocity)
    for (int a = 0; a < 3; ++a) velocity.push_back(static_cast<float>(v[a]));
  const std::string extent = fmt::format("0 {} 0 {} 0 {}", cells[0], cells[1], cells[2]);
  return fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<ImageData WholeExtent=\"{0}\" Origin=\"{1} {2} {3}\" Spacing=\"{4} {5} {6}\">\n"
      "<Piece Extent=\"{0}\">\n<CellData Scalars=\"vorticity\" Vectors=\"velocity\">\n{7}{8}{9}</CellData>\n</Piece>\n"
      "</ImageData>\n</VTKFile>\n",
      extent, corner[0], corner[1], corner[2], spacing[0], spacing[1], spacing[2],
      data_array("Float32", "Name=\"velocity\" NumberOfComponents=\"3\"", velocity),
      data_array("Float32", "Name=\"pressure\"", pressure), data_array("Float32", "Name=\"vorticity\"", vorticity));
}

/// A folder in the making, gone unless it gets its place.
struct BesideFolder {
  fs::path path;
  explicit BesideFolder(fs::path p) : path(std::move(p)) {
    std::error_code error;
    if (fs::create_directory(path, error); error) throw Error(path.string(), fmt::format("cannot be made: {}", error.message()));
  }
  ~BesideFolder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  BesideFolder(const BesideFolder&) = delete;
  BesideFolder& operator=(const BesideFolder&) = delete;
};

}  // namespace

void write_vtk(const RecordedMotion& motion, double rate, const std::string& path) {
  const fs::path whole(path);
  static_cast<void>(place_for_file(path));  // frames lie beside it: a pipe has no beside
  const std::string stem = whole.stem().string(), folder_name = stem + "_frames";
  const fs::path folder = whole.parent_path() / folder_name;
  std::error_code error;
  if (fs::exists(folder, error)) {
    if (!fs::is_directory(folder, error)) throw Error(folder.string(), "is in the way; give another name");
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
      if (at->path().extension() != ".vtp" && at->path().extension() != ".vti")
        throw Error(folder.string(), "holds other files than frames; give another name");
  }

  const std::vector<std::size_t> wanted = motion.moments(rate);
  BesideFile list(path);
  const BesideFolder beside(fmt::format("{}.tmp-{}", folder.string(), ::getpid()));
  const Geometry geometry = make_geometry(motion, motion.extent(wanted));
  std::string entries;
  std::size_t number = 0;
  std::optional<FluidSliceReader> fluid;
  if (motion.scene.fluid && motion.is_recording()) fluid.emplace(motion.origin);
  motion.visit(wanted, [&](const TrajectoryFrame& frame) {
    const std::string name = fmt::format("frame_{:05}.vtp", number++);
    BesideFile file((beside.path / name).string());
    file.write(vtp(geometry, frame));
    file.finish();
    entries += fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"{}/{}\"/>\n", frame.number("time"),
                           markup_escaped(folder_name), name);
    if (!fluid) return;
    const std::string plane = fs::path(name).replace_extension(".vti").string();
    BesideFile slice((beside.path / plane).string());
    slice.write(vti(fluid->slice(fluid->nearest(frame.number("time")))));
    slice.finish();
    entries += fmt::format("<DataSet timestep=\"{}\" part=\"1\" file=\"{}/{}\"/>\n", frame.number("time"),
                           markup_escaped(folder_name), plane);
  });
  list.write(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n" +
      entries + "</Collection>\n</VTKFile>\n");
  // The old frames go only when the new ones are whole.
  if (fs::remove_all(folder, error); error) throw Error(folder.string(), fmt::format("cannot be replaced: {}", error.message()));
  if (fs::rename(beside.path, folder, error); error)
    throw Error(folder.string(), fmt::format("cannot be put in place: {}", error.message()));
  list.finish();
}

}  // namespace rotule
