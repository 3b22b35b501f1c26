#include "record/trajectory.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <rotule/error.h>

#include <algorithm>
#include <fstream>

#include "record/scene_json.h"
#include "record/version.h"

namespace rotule {
namespace {

constexpr std::string_view trajectory_format_name = "rotule trajectory";
constexpr int trajectory_format_version = 1;

/// Contacts are others in every frame: their arrays have a row for each, and this one tells where a frame's begin.
constexpr Quantity contact_start{.key = "contact_start",
                                 .unit = "",
                                 .label = "First contact",
                                 .meaning = "row of the contact arrays at which the frame's contacts begin",
                                 .dataset = "/contact/start"};

}  // namespace

bool names_recording(const std::string& path) {
  for (const std::string ending : {".h5", ".hdf5"})
    if (path.ends_with(ending) || path.ends_with(unfinished_name(ending))) return true;
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  std::string start(signature.size(), ' ');
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), static_cast<std::streamsize>(start.size())) && start == signature;
}

TrajectoryWriter::TrajectoryWriter(const std::string& path, const std::string& scene, const Recipe& recipe,
                                   const std::vector<std::string>& bodies, const std::vector<std::string>& joints,
                                   std::int64_t expected_frames, std::size_t particles)
    : file_(Hdf5File::create_kept(path)), last_commit_(std::chrono::steady_clock::now()) {
  file_.attribute("/", "format", trajectory_format_name);
  file_.attribute("/", "version", static_cast<double>(trajectory_format_version));
  file_.attribute("/", "finished", 0);
  file_.attribute("/", "program_version", program_version);
  file_.attribute("/", "scene", scene);
  file_.attribute("/", "recipe", to_complete_json(recipe));
  file_.write("/body_names", bodies);
  file_.write("/joint_names", joints);
  for (const Quantity& quantity : quantities) {
    if (!is_recorded(quantity)) continue;
    Extent row;
    if (quantity.per == Per::body) row.push_back(bodies.size());
    if (quantity.per == Per::joint) row.push_back(joints.size());
    if (quantity.per == Per::particle) row.push_back(particles);
    if (quantity.components > 1) row.push_back(static_cast<hsize_t>(quantity.components));
    series_.push_back(make(quantity, row, quantity.per == Per::contact ? 0 : expected_frames));
  }
  contact_start_ = make(contact_start, {}, expected_frames);
}

TrajectoryWriter::TrajectoryWriter(Hdf5File file) : file_(std::move(file)), last_commit_(std::chrono::steady_clock::now()) {
  for (const Quantity& quantity : quantities) {
    if (!is_recorded(quantity)) continue;
    series_.push_back(open(quantity));
    if (quantity.per == Per::contact) contacts_ = series_.back().written + series_.back().held;
  }
  contact_start_ = open(contact_start);
  frames_ = static_cast<std::int64_t>(contact_start_.written + contact_start_.held);
  slices_ = FluidSliceWriter::reopen(file_);
  with_points_ = file_.contains("/resume/snapshot");  // frames and the point to go on from are committed together
  file_.attribute("/", "finished", 0);
  if (file_.contains("/summary")) file_.remove("/summary");
}

TrajectoryWriter TrajectoryWriter::resume(const std::string& path, bool worth_keeping) {
  return TrajectoryWriter(Hdf5File::reopen_kept(path, worth_keeping));
}

TrajectoryWriter::Series TrajectoryWriter::open(const Quantity& quantity) {
  Series out;
  out.name = quantity.dataset;
  const std::string what = fmt::format("{} cannot be gone on with", out.name);
  out.dataset = file_.check(H5Dopen2(file_.id(), out.name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Extent extent = file_.shape(out.name);
  if (extent.empty()) throw Error(file_.path(), what);
  out.row.assign(extent.begin() + 1, extent.end());
  for (const hsize_t n : out.row) out.row_size *= n;
  const Hdf5Handle layout = file_.check(H5Dget_create_plist(out.dataset.id()), H5Pclose, what);
  Extent chunk(extent.size());
  file_.check(H5Pget_chunk(layout.id(), static_cast<int>(chunk.size()), chunk.data()), what);
  out.chunk = chunk[0];
  out.buffer.resize(out.chunk * out.row_size);
  out.held = extent[0] % out.chunk;
  out.written = extent[0] - out.held;
  const std::vector<double> begun = file_.numbers(out.name, out.written, out.held);
  std::copy(begun.begin(), begun.end(), out.buffer.begin());
  return out;
}

TrajectoryWriter::Series TrajectoryWriter::make(const Quantity& quantity, const Extent& row, std::int64_t expected_frames) {
  constexpr hsize_t most_bytes = 1 << 20;
  constexpr unsigned quick = 1;  // a higher level saves a few percent of the file and takes a third of a contact scene's run
  const hsize_t most_frames = quantity.per == Per::contact ? 4096 : 64;  // of contacts: rows, many to a frame
  const std::string name(quantity.dataset);
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
  file_.check(H5Pset_deflate(layout.id(), quick), what);
  out.dataset = file_.check(
      H5Dcreate2(file_.id(), name.c_str(), H5T_NATIVE_DOUBLE, space.id(), links.id(), layout.id(), H5P_DEFAULT), H5Dclose, what);
  file_.attribute(name, "units", quantity.unit);
  file_.attribute(name, "description", quantity.meaning);
  return out;
}

void TrajectoryWriter::append(const TrajectoryFrame& frame) {
  auto series = series_.begin();
  const Hdf5Size contacts = frame["contact_gap"].size();
  for (const Quantity& quantity : quantities) {
    if (!is_recorded(quantity)) continue;
    const std::vector<double>& values = frame.values[index_of(quantity)];
    if (quantity.per == Per::contact) {
      const Hdf5Size width = series->row_size;
      if (values.size() != contacts * width) throw Error(file_.path(), series->name + " has another number of contacts");
      for (Hdf5Size k = 0; k < contacts; ++k) append(*series, values.data() + k * width, width);
      ++series;
      continue;
    }
    append(*series++, values.data(), values.size());
  }
  const auto start = static_cast<double>(contacts_);
  append(contact_start_, &start, 1);
  contacts_ += contacts;
  ++frames_;
  if (!with_points_ && due()) commit();
}

bool TrajectoryWriter::due() const {
  constexpr std::chrono::milliseconds between_commits{900};  // and the step that is under way: a second, where steps are short
  return std::chrono::steady_clock::now() - last_commit_ > between_commits;
}

void TrajectoryWriter::checkpoint(const ResumePoint& point) {
  note(point);
  commit();
}

void TrajectoryWriter::note(const ResumePoint& point) {
  with_points_ = true;
  replace(snapshot_, "/resume/snapshot", H5T_NATIVE_UINT8, point.snapshot.data(), point.snapshot.size());
  replace(run_, "/resume/run", H5T_NATIVE_UINT8, point.run.data(), point.run.size());
  replace(tallies_, "/resume/tallies", H5T_NATIVE_DOUBLE, point.tallies.data(), point.tallies.size());
}

void TrajectoryWriter::commit() {
  // The start alone can be made again: whole chunks for it would be bytes that short runs never use.
  if (frames_ > 1) {
    for (Series& series : series_) show(series);
    show(contact_start_);
  }
  if (slices_) slices_->flush(file_);
  // Of a run that fails within its first second nothing stays behind.
  file_.commit(frames_ > 1);
  last_commit_ = std::chrono::steady_clock::now();
}

void TrajectoryWriter::replace(Hdf5Handle& dataset, const char* name, Hdf5Id type, const void* values, Hdf5Size count) {
  constexpr hsize_t most_per_chunk = 1 << 16;
  const std::string what = fmt::format("{} cannot be written", name);
  if (!dataset && file_.contains(name)) dataset = file_.check(H5Dopen2(file_.id(), name, H5P_DEFAULT), H5Dclose, what);
  if (!dataset) {
    const hsize_t none = 0, any = H5S_UNLIMITED, chunk = std::clamp<hsize_t>(count, 64, most_per_chunk);
    const Hdf5Handle space = file_.check(H5Screate_simple(1, &none, &any), H5Sclose, what);
    const Hdf5Handle links = file_.check(H5Pcreate(H5P_LINK_CREATE), H5Pclose, what);
    file_.check(H5Pset_create_intermediate_group(links.id(), 1), what);
    const Hdf5Handle layout = file_.check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
    file_.check(H5Pset_chunk(layout.id(), 1, &chunk), what);
    dataset = file_.check(H5Dcreate2(file_.id(), name, type, space.id(), links.id(), layout.id(), H5P_DEFAULT), H5Dclose, what);
  }
  file_.check(H5Dset_extent(dataset.id(), &count), what);
  if (count > 0) file_.check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what);
}

void TrajectoryWriter::append(double time, const FluidSlice& slice) {
  if (!slices_) slices_.emplace(file_, slice);
  slices_->append(file_, time, slice);
}

void TrajectoryWriter::append(Series& series, const double* values, std::size_t count) {
  if (count != series.row_size)
    throw Error(file_.path(), fmt::format("{} has {} numbers per frame, not {}", series.name, series.row_size, count));
  std::copy(values, values + count, series.buffer.begin() + static_cast<std::ptrdiff_t>(series.held * series.row_size));
  if (++series.held == series.chunk) flush(series);
}

void TrajectoryWriter::set_extent(const Series& series, Hdf5Size frames) const {
  Extent extent{frames};
  extent.insert(extent.end(), series.row.begin(), series.row.end());
  file_.check(H5Dset_extent(series.dataset.id(), extent.data()), fmt::format("{} cannot be written", series.name));
}

void TrajectoryWriter::show(Series& series) {
  if (series.held == 0) return;
  set_extent(series, series.written + series.held);
  if (series.row_size == 0) return;
  constexpr std::uint32_t no_filters = 3;  // a bit for each of the two that is passed over
  Extent start(series.row.size() + 1, 0);
  start[0] = series.written;
  const auto held = static_cast<std::ptrdiff_t>(series.held * series.row_size);
  std::fill(series.buffer.begin() + held, series.buffer.end(), 0.0);
  file_.check(H5Dwrite_chunk(series.dataset.id(), H5P_DEFAULT, no_filters, start.data(), series.buffer.size() * sizeof(double),
                             series.buffer.data()),
              fmt::format("{} cannot be written", series.name));
}

void TrajectoryWriter::flush(Series& series) {
  if (series.held == 0) return;
  const std::string what = fmt::format("{} cannot be written", series.name);
  Extent start(series.row.size() + 1, 0), count{series.held};
  start[0] = series.written;
  count.insert(count.end(), series.row.begin(), series.row.end());
  // What `show` wrote of a chunk that is not full the library would read, and take for compressed: it is to forget it first.
  if (series.held < series.chunk) set_extent(series, series.written);
  set_extent(series, series.written + series.held);
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
  if (file_.id() < 0) return;
  const auto end = [&](Series& series) {
    flush(series);
    file_.check(series.dataset.reset() ? 0 : -1, fmt::format("{} cannot be written", series.name));
  };
  for (Series& series : series_) end(series);
  end(contact_start_);
  if (slices_) slices_->close(file_);
  slices_.reset();
  for (Hdf5Handle* dataset : {&snapshot_, &run_, &tallies_}) dataset->reset();
  file_.attribute("/", "finished", 1);
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

bool TrajectoryReader::holds(const Quantity& quantity) const {
  if (quantity.sum_of[0].empty()) return is_recorded(quantity) && file_.contains(std::string(quantity.dataset));
  return std::all_of(quantities.begin(), quantities.end(), [&](const Quantity& part) {
    return (part.key != quantity.sum_of[0] && part.key != quantity.sum_of[1]) || holds(part);
  });
}

std::size_t TrajectoryReader::row_size(const Quantity& quantity) const {
  const std::size_t things = quantity.per == Per::run || quantity.per == Per::contact ? 1
                             : quantity.per == Per::body                              ? bodies_.size()
                             : quantity.per == Per::joint                             ? joints_.size()
                                                                                      : particles_;
  return things * static_cast<std::size_t>(quantity.components);
}

std::string TrajectoryReader::summary() const {
  if (!file_.contains("/summary")) return "";
  const std::vector<std::string> texts = file_.texts("/summary");
  return texts.empty() ? "" : texts.front();
}

std::optional<ResumePoint> TrajectoryReader::resume_point() const {
  if (!file_.contains("/resume/snapshot")) return {};
  const std::vector<std::uint8_t> run = file_.bytes("/resume/run");
  return ResumePoint{file_.bytes("/resume/snapshot"), {run.begin(), run.end()}, file_.numbers("/resume/tallies")};
}

TrajectoryFrame TrajectoryReader::frame(std::size_t index) const {
  if (index >= frames_) throw Error(file_.path(), fmt::format("has {} frames; there is no frame {}", frames_, index));
  return std::move(frames(index, 1).front());
}

std::vector<TrajectoryFrame> TrajectoryReader::frames(std::size_t first, std::size_t count) const {
  if (first > frames_ || count > frames_ - first)
    throw Error(file_.path(), fmt::format("has {} frames; {} from {} on are not there", frames_, count, first));
  std::vector<TrajectoryFrame> out(count);
  for (const Quantity& quantity : quantities) {
    if (!is_recorded(quantity) || (quantity.age == Age::added && !holds(quantity))) continue;
    if (quantity.per == Per::contact) {
      read_contacts(quantity, first, out);
      continue;
    }
    const std::string name(quantity.dataset);
    const std::vector<double> numbers = file_.numbers(name, first, count);
    const std::size_t size = row_size(quantity);
    if (numbers.size() != count * size)
      throw Error(file_.path(),
                  fmt::format("{} must have {} numbers per frame, has {} in {} of them", name, size, numbers.size(), count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(i * size);
      out[i].values[index_of(quantity)].assign(from, from + static_cast<std::ptrdiff_t>(size));
    }
  }
  return out;
}

void TrajectoryReader::read_contacts(const Quantity& quantity, std::size_t first, std::vector<TrajectoryFrame>& out) const {
  const std::string name(quantity.dataset), starts(contact_start.dataset);
  if (out.empty() || !file_.contains(starts)) return;
  const std::size_t width = row_size(quantity), rows = file_.shape(name).at(0);
  // One more than the frames, unless they are the last.
  const std::vector<double> begin = file_.numbers(starts, first, std::min(out.size() + 1, frames_ - first));
  const auto row = [&](std::size_t i) { return i < begin.size() ? begin[i] : static_cast<double>(rows); };
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(row(i) >= 0 && row(i) <= row(i + 1) && row(i + 1) <= static_cast<double>(rows)))
      throw Error(file_.path(), starts + " does not fit " + name);
  const auto from = static_cast<std::size_t>(row(0)), until = static_cast<std::size_t>(row(out.size()));
  const std::vector<double> numbers = from < until ? file_.numbers(name, from, until - from) : std::vector<double>();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto at = [&](std::size_t k) {
      return numbers.begin() + static_cast<std::ptrdiff_t>((static_cast<std::size_t>(row(k)) - from) * width);
    };
    out[i].values[index_of(quantity)].assign(at(i), at(i + 1));
  }
}

}  // namespace rotule
