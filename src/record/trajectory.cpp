#include "record/trajectory.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <rotule/error.h>

#include <algorithm>
#include <fstream>

#include "record/scene_json.h"
#include "record/version.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr std::string_view trajectory_format_name = "rotule trajectory";
constexpr int trajectory_format_version = 1;
constexpr std::string_view stage_description = "of the step that ended here: collide, forces, solve, correct, move";

/// Per how many things a frame has a row of an array.
enum class Per { frame, body, joint, particle };
/// Whether files of older programs have the array.
enum class Age { old, added };

/// The arrays of a file and where a frame keeps them; writer and reader walk the same list.
template <class Frame, class Visitor>
void visit_arrays(Frame& f, Visitor&& visit) {
  using P = Per;
  visit("/time", P::frame, 1, "s", "time of the frame", f.time);
  visit("/position", P::body, 3, "m", "of the body's frame, in the world", f.position);
  visit("/orientation", P::body, 4, "", "body to world: quaternion w, x, y, z", f.orientation);
  visit("/velocity", P::body, 3, "m/s", "of the centre of mass", f.velocity);
  visit("/angular_velocity", P::body, 3, "rad/s", "in world axes", f.angular_velocity);
  visit("/particle_position", P::particle, 3, "m", "of the particles, in the world", f.particle_position);
  visit("/particle_velocity", P::particle, 3, "m/s", "of the particles", f.particle_velocity);
  visit("/joint_force", P::joint, 3, "N", "on the joint's second body, in world axes", f.joint_force);
  visit("/joint_torque", P::joint, 3, "N m", "on the joint's second body, about the joint's point", f.joint_torque);
  visit("/joint_error", P::joint, 1, "m, rad", "largest position error of the joint's rows", f.joint_error);
  visit("/energy/kinetic", P::frame, 1, "J", "kinetic energy", f.kinetic_energy);
  visit("/energy/potential", P::frame, 1, "J", "potential energy, zero at the origin's height", f.potential_energy);
  visit("/momentum/linear", P::frame, 3, "kg m/s", "linear momentum", f.linear_momentum);
  visit("/momentum/angular", P::frame, 3, "kg m^2/s", "angular momentum about the origin", f.angular_momentum);
  visit("/residual", P::frame, 1, "", "relative residual of the last constraint solve", f.residual);
  visit("/contacts", P::frame, 1, "", "points that touch or nearly do", f.contacts, Age::added);
  visit("/penetration", P::frame, 1, "m", "deepest overlap of two bodies", f.penetration, Age::added);
  visit("/energy/shock", P::frame, 1, "J", "taken out by shocks so far", f.shock_energy, Age::added);
  visit("/iterations", P::frame, 1, "", "of the solver, in the step that ended here", f.iterations, Age::added);
  visit("/stage_seconds", P::frame, stage_count, "s", stage_description.data(), f.stage_seconds, Age::added);
}

std::span<const double> view(const double& x) { return {&x, 1}; }
std::span<const double> view(const Vec3& x) { return {x.data(), 3}; }
std::span<const double> view(const std::vector<double>& x) { return x; }
void assign(double& to, const std::vector<double>& from) { to = from.at(0); }
void assign(Vec3& to, const std::vector<double>& from) { to = Vec3(from.at(0), from.at(1), from.at(2)); }
void assign(std::vector<double>& to, std::vector<double> from) { to = std::move(from); }

}  // namespace

void capture(const World& world, TrajectoryFrame& frame) {
  const Diagnostics ledger = world.diagnostics();
  const WorldImplementation& inside = implementation_of(world);
  const int bodies = inside.model.body_count();
  const auto joints = inside.model.joints.size();
  frame.time = world.time();
  for (auto* v : {&frame.position, &frame.velocity, &frame.angular_velocity}) v->resize(3 * static_cast<std::size_t>(bodies));
  frame.orientation.resize(4 * static_cast<std::size_t>(bodies));
  for (int i = 0; i < bodies; ++i) {
    const Pose pose = body_frame(inside.model, inside.state, i);
    Eigen::Map<Vec3>(frame.position.data() + 3 * i) = pose.position;
    const Quat& q = pose.orientation;
    Eigen::Map<Eigen::Vector4d>(frame.orientation.data() + 4 * i) << q.w(), q.x(), q.y(), q.z();
    Eigen::Map<Vec3>(frame.velocity.data() + 3 * i) = inside.state.v(i);
    Eigen::Map<Vec3>(frame.angular_velocity.data() + 3 * i) = inside.state.omega(i);
  }
  const State& s = inside.state;
  frame.particle_position.assign(s.x.data(), s.x.data() + s.x.size());
  frame.particle_velocity.assign(s.u.data() + 6 * bodies, s.u.data() + s.u.size());
  frame.joint_force.resize(3 * joints);
  frame.joint_torque.resize(3 * joints);
  frame.joint_error.resize(joints);
  for (std::size_t j = 0; j < joints; ++j) {  // the ledger has just been brought up to this state
    const JointForce force = inside.stepper->last_joint_force(static_cast<int>(j));
    Eigen::Map<Vec3>(frame.joint_force.data() + 3 * j) = force.force;
    Eigen::Map<Vec3>(frame.joint_torque.data() + 3 * j) = force.torque;
    frame.joint_error[j] = inside.stepper->joint_error(static_cast<int>(j)).position;
  }
  frame.kinetic_energy = ledger.kinetic_energy;
  frame.potential_energy = ledger.potential_energy;
  frame.linear_momentum = ledger.linear_momentum;
  frame.angular_momentum = ledger.angular_momentum;
  frame.residual = ledger.residual;
  frame.contacts = ledger.contacts;
  frame.penetration = ledger.penetration;
  frame.shock_energy = ledger.shock_energy;
  frame.iterations = inside.stepper->last_report().iterations;
  frame.stage_seconds.assign(inside.stepper->stage_seconds().begin(), inside.stepper->stage_seconds().end());
}

void time_stages(const World& world) { implementation_of(world).ready().time_stages(true); }

bool names_recording(const std::string& path) {
  if (path.ends_with(".h5") || path.ends_with(".hdf5")) return true;
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::string start(signature.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == signature;
}

TrajectoryWriter::TrajectoryWriter(const std::string& path, const std::string& scene, const Recipe& recipe,
                                   const std::vector<std::string>& bodies, const std::vector<std::string>& joints,
                                   std::int64_t expected_frames, std::size_t particles)
    : file_(Hdf5File::create(path)) {
  file_.attribute("/", "format", trajectory_format_name);
  file_.attribute("/", "version", static_cast<double>(trajectory_format_version));
  file_.attribute("/", "program_version", program_version);
  file_.attribute("/", "scene", scene);
  file_.attribute("/", "recipe", to_complete_json(recipe));
  file_.write("/body_names", bodies);
  file_.write("/joint_names", joints);
  const TrajectoryFrame frame;
  visit_arrays(frame, [&](const char* name, Per per, hsize_t components, const char* units, const char* meaning, const auto&,
                          Age = Age::old) {
    Extent row;
    if (per == Per::body) row.push_back(bodies.size());
    if (per == Per::joint) row.push_back(joints.size());
    if (per == Per::particle) row.push_back(particles);
    if (components > 1) row.push_back(components);
    series_.push_back(make(name, row, expected_frames, units, meaning));
  });
}

TrajectoryWriter::Series TrajectoryWriter::make(const std::string& name, const Extent& row, std::int64_t expected_frames,
                                                std::string_view units, std::string_view description) {
  constexpr hsize_t most_frames = 64, most_bytes = 1 << 20;
  const std::string what = fmt::format("{} cannot be written", name);
  Series out;
  out.name = name;
  out.row = row;
  for (const hsize_t n : row) out.row_size *= n;
  out.chunk = std::clamp<hsize_t>(most_bytes / std::max<hsize_t>(1, out.row_size * sizeof(double)), 1, most_frames);
  if (expected_frames > 0) out.chunk = std::min(out.chunk, static_cast<hsize_t>(expected_frames));
  out.buffer.resize(out.chunk * out.row_size);

  Extent extent{0}, most{H5S_UNLIMITED}, chunk{out.chunk};
  for (const hsize_t n : row) {
    extent.push_back(n);
    most.push_back(n > 0 ? n : H5S_UNLIMITED);  // a chunk may not be larger than a fixed extent, nor empty
    chunk.push_back(std::max<hsize_t>(1, n));
  }
  const int rank = static_cast<int>(extent.size());
  const Hdf5Handle space = file_.check(H5Screate_simple(rank, extent.data(), most.data()), H5Sclose, what);
  const Hdf5Handle links = file_.check(H5Pcreate(H5P_LINK_CREATE), H5Pclose, what);
  file_.check(H5Pset_create_intermediate_group(links.id(), 1), what);
  const Hdf5Handle layout = file_.check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
  file_.check(H5Pset_chunk(layout.id(), rank, chunk.data()), what);
  file_.check(H5Pset_shuffle(layout.id()), what);
  file_.check(H5Pset_deflate(layout.id(), 4), what);
  out.dataset = file_.check(
      H5Dcreate2(file_.id(), name.c_str(), H5T_NATIVE_DOUBLE, space.id(), links.id(), layout.id(), H5P_DEFAULT), H5Dclose, what);
  file_.attribute(name, "units", units);
  file_.attribute(name, "description", description);
  return out;
}

void TrajectoryWriter::append(const TrajectoryFrame& frame) {
  std::size_t next = 0;
  visit_arrays(frame, [&](const char*, Per, hsize_t, const char*, const char*, const auto& values, Age = Age::old) {
    const std::span<const double> data = view(values);
    append(series_[next++], data.data(), data.size());
  });
}

void TrajectoryWriter::append(Series& series, const double* values, std::size_t count) {
  if (count != series.row_size)
    throw Error(file_.path(), fmt::format("{} has {} numbers per frame, not {}", series.name, series.row_size, count));
  std::copy(values, values + count, series.buffer.begin() + static_cast<std::ptrdiff_t>(series.held * series.row_size));
  if (++series.held == series.chunk) flush(series);
}

void TrajectoryWriter::flush(Series& series) {
  if (series.held == 0) return;
  const std::string what = fmt::format("{} cannot be written", series.name);
  Extent start(series.row.size() + 1, 0), count{series.held}, extent{series.written + series.held};
  start[0] = series.written;
  count.insert(count.end(), series.row.begin(), series.row.end());
  extent.insert(extent.end(), series.row.begin(), series.row.end());
  file_.check(H5Dset_extent(series.dataset.id(), extent.data()), what);
  if (series.row_size > 0) {
    const Hdf5Handle memory =
        file_.check(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose, what);
    const Hdf5Handle space = file_.check(H5Dget_space(series.dataset.id()), H5Sclose, what);
    file_.check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
    file_.check(H5Dwrite(series.dataset.id(), H5T_NATIVE_DOUBLE, memory.id(), space.id(), H5P_DEFAULT, series.buffer.data()),
                what);
  }
  series.written += series.held;
  series.held = 0;
}

void TrajectoryWriter::close() {
  for (Series& series : series_) {
    flush(series);
    file_.check(series.dataset.reset() ? 0 : -1, fmt::format("{} cannot be written", series.name));
  }
  file_.close();
}

void TrajectoryWriter::finish() {
  close();
  file_.finish();
}

TrajectoryReader::TrajectoryReader(const std::string& path) : file_(Hdf5File::open(path)) {
  if (file_.text_attribute("/", "format") != trajectory_format_name) throw Error(path, "is not a recording of a run");
  if (const double version = file_.number_attribute("/", "version"); version != trajectory_format_version)
    throw Error(path, fmt::format("is version {} of the format; this program reads {}", version, trajectory_format_version));
  bodies_ = file_.texts("/body_names");
  joints_ = file_.texts("/joint_names");
  const Extent time = file_.shape("/time");
  if (const Extent shape = file_.shape("/particle_position"); shape.size() == 3) particles_ = shape[1];
  if (time.size() != 1) throw Error(path, "/time must have one index");
  frames_ = time[0];
}

std::string TrajectoryReader::summary() const {
  if (!file_.contains("/summary")) return "";
  const std::vector<std::string> texts = file_.texts("/summary");
  return texts.empty() ? "" : texts.front();
}

TrajectoryFrame TrajectoryReader::frame(std::size_t index) const {
  if (index >= frames_) throw Error(file_.path(), fmt::format("has {} frames; there is no frame {}", frames_, index));
  return std::move(frames(index, 1).front());
}

std::vector<TrajectoryFrame> TrajectoryReader::frames(std::size_t first, std::size_t count) const {
  if (first > frames_ || count > frames_ - first)
    throw Error(file_.path(), fmt::format("has {} frames; {} from {} on are not there", frames_, count, first));
  std::vector<TrajectoryFrame> out(count);
  std::vector<std::vector<double>> arrays;
  TrajectoryFrame walked;
  visit_arrays(walked, [&](const char* name, Per per, hsize_t components, const char*, const char*, auto&, Age age = Age::old) {
    if (age == Age::added && !file_.contains(name)) {
      arrays.emplace_back(count * components, 0.0);
      return;
    }
    const hsize_t things = per == Per::frame   ? 1
                           : per == Per::body  ? bodies_.size()
                           : per == Per::joint ? joints_.size()
                                               : particles_;
    arrays.push_back(file_.numbers(name, first, count));
    if (arrays.back().size() != count * things * components)
      throw Error(file_.path(), fmt::format("{} must have {} numbers per frame, has {} in {} of them", name, things * components,
                                            arrays.back().size(), count));
  });
  for (std::size_t i = 0; i < count; ++i) {
    auto array = arrays.begin();
    visit_arrays(out[i], [&](const char*, Per, hsize_t, const char*, const char*, auto& values, Age = Age::old) {
      const auto size = static_cast<std::ptrdiff_t>(array->size() / count), from = static_cast<std::ptrdiff_t>(i) * size;
      assign(values, {array->begin() + from, array->begin() + from + size});
      ++array;
    });
  }
  return out;
}

}  // namespace rotule
