#include "record/hdf5_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <rotule/error.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "record/beside_file.h"
#include "record/hdf5_fence.h"
#include "record/journaled_driver.h"

namespace rotule {
namespace {

static_assert(std::is_same_v<Hdf5Id, hid_t> && std::is_same_v<Hdf5Size, hsize_t> && std::is_same_v<Hdf5Status, herr_t>);

constexpr hsize_t compress_above = 4096;  // bytes; smaller arrays are stored as they are

/// Starts the library. Until it has started it prints what fails, and nothing turns that off: for so long its words go nowhere.
bool start_library() {
  H5dont_atexit();  // every handle closes itself; the library's own farewell would retry a failed write
  std::fflush(stderr);
  const int nowhere = ::memfd_create("hdf5", MFD_CLOEXEC), terminal = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  if (nowhere >= 0 && terminal >= 0) ::dup2(nowhere, STDERR_FILENO);
  const bool started = H5open() >= 0 && H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;  // from here on Error has the reasons
  std::fflush(stderr);
  if (terminal >= 0) ::dup2(terminal, STDERR_FILENO);
  for (const int open : {nowhere, terminal})
    if (open >= 0) ::close(open);
  return started;
}

/// A library that did not start takes itself for started at the next call, and is not to be called again.
void prepare_library() {
  static const bool started = start_library();
  if (!started) throw Error("HDF5", "could not be started; most likely there is not enough memory");
}

/// What the library says was the cause: the innermost entry of its error stack, on one line.
std::string innermost_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned n, const H5E_error2_t* entry, void* out) -> herr_t {
        if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(out) = entry->desc;
        return 0;
      },
      &reason);
  H5Eclear2(H5E_DEFAULT);
  // The system's own words where there are some: "... error message = 'No space left on device', ...".
  constexpr std::string_view marker = "error message = '";
  if (const auto at = reason.find(marker); at != reason.npos) {
    const auto end = reason.find('\'', at + marker.size());
    reason = reason.substr(at + marker.size(), end - at - marker.size());
  }
  for (char& c : reason)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return reason.empty() ? "unknown reason" : reason;
}

Hdf5Handle text_type() {
  Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

/// Whether somebody is writing the file piece by piece (single writer, multiple readers), or was when he was killed: a mark in
/// the file's first bytes, which closing takes away. Only then may it be opened that way: it forgoes the check for missing ends.
bool is_streamed_to(const std::string& path) {
  constexpr std::string_view signature = "\x89HDF\r\n\x1a\n";
  constexpr std::size_t version_at = 8, flags_at = 11;
  constexpr char streaming = 0x4;
  char start[12] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(start, sizeof(start)) && std::string_view(start, signature.size()) == signature && start[version_at] == 3 &&
         (start[flags_at] & streaming) != 0;
}

hsize_t product(const Extent& shape) {
  hsize_t out = 1;
  for (const hsize_t n : shape) out *= n;
  return out;
}

/// Replacing an older recording is what a second run is expected to do; replacing anything else is an accident.
void require_recording_or_nothing(const std::string& path) {
  prepare_library();
  struct stat status {};
  ::stat(path.c_str(), &status);
  if (status.st_size > 0 && H5Fis_hdf5(path.c_str()) <= 0)
    throw Error(path, "exists and is not a recording; give another name, or remove it first");
}

}  // namespace

bool hdf5_knows_threads() {
  prepare_library();
  hbool_t knows = false;
  return H5is_library_threadsafe(&knows) >= 0 && knows;
}

void prepare_hdf5_here() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

Hdf5Handle::Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
Hdf5Handle& Hdf5Handle::operator=(Hdf5Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = std::exchange(other.id_, -1);
    close_ = other.close_;
  }
  return *this;
}
bool Hdf5Handle::reset() {
  const hid_t id = std::exchange(id_, -1);
  return id < 0 || close_(id) >= 0;
}

Hdf5File::Hdf5File(std::string path, bool writing) : path_(std::move(path)), writing_(writing) {
  prepare_library();
  if (writing) beside_ = fmt::format("{}.tmp-{}", path_, ::getpid());
}

Hdf5File::~Hdf5File() {
  if (kept_ && file_) abandon(file_.id());
  file_.reset();
  if (writing_ && !beside_.empty() && !worth_keeping_) ::unlink(beside_.c_str());
}

void Hdf5File::fail(std::string_view what) const { throw Error(path_, fmt::format("{}: {}", what, innermost_reason())); }
void Hdf5File::check(herr_t status, std::string_view what) const {
  if (status < 0) fail(what);
}
Hdf5Handle Hdf5File::check(hid_t id, Hdf5Handle::Close closer, std::string_view what) const {
  if (id < 0) fail(what);
  return {id, closer};
}

Hdf5File Hdf5File::create(const std::string& path) { return create(path, false); }
Hdf5File Hdf5File::create_stream(const std::string& path) { return create(path, true); }

Hdf5File Hdf5File::create(const std::string& path, bool stream) {
  Hdf5File out(place_for_file(path), true);
  require_recording_or_nothing(path);
  const Hdf5Handle access = out.check(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "cannot be created");
  out.check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "cannot be created");
  if (stream) out.check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "cannot be created");
  out.file_ = out.check(H5Fcreate(out.beside_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose, "cannot be created");
  return out;
}

std::string unfinished_name(const std::string& path) { return path + ".part"; }

Hdf5File Hdf5File::create_kept(const std::string& path) {
  const std::string place = place_for_file(path), partial = unfinished_name(place);
  require_recording_or_nothing(path);
  if (is_being_written(partial)) throw Error(path, "is being written by another run; give another name");
  finish_commit(partial);
  prepare_library();
  if (H5Fis_hdf5(partial.c_str()) > 0)
    throw Error(
        partial,
        fmt::format("holds a run that was not finished; rotule run --resume {} goes on with it, or remove it first", path));
  H5Eclear2(H5E_DEFAULT);
  Hdf5File out(place, true);
  out.kept_ = true;
  out.beside_ = partial;
  const Hdf5Handle access = out.kept_access();
  out.file_ = out.check(H5Fcreate(partial.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.id()), H5Fclose, "cannot be created");
  return out;
}

Hdf5File Hdf5File::reopen_kept(const std::string& path, bool worth_keeping) {
  const std::string place = place_for_file(path), partial = unfinished_name(place);
  if (is_being_written(partial)) throw Error(partial, "is being written by a run that is not over");
  finish_commit(partial);
  Hdf5File out(place, true);
  out.kept_ = true;
  out.worth_keeping_ = worth_keeping;
  out.beside_ = partial;
  const Hdf5Handle access = out.kept_access();
  out.file_ = out.check(H5Fopen(partial.c_str(), H5F_ACC_RDWR, access.id()), H5Fclose, "cannot be gone on with");
  return out;
}

Hdf5Handle Hdf5File::kept_access() const {
  Hdf5Handle access = check(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "cannot be created");
  check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "cannot be created");
  write_by_journal(access.id());
  return access;
}

void Hdf5File::commit(bool worth_keeping) {
  check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "cannot be written");
  check(rotule::commit(file_.id()) ? 0 : -1, "cannot be written");
  worth_keeping_ = worth_keeping;
}

Hdf5File Hdf5File::open(const std::string& path) {
  Hdf5File out(path, false);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const std::string reason = std::strerror(errno);
    const std::string partial = unfinished_name(path);
    if (::stat(partial.c_str(), &status) != 0) throw Error(path, fmt::format("cannot be read: {}", reason));
    throw Error(path, fmt::format("cannot be read: {}; its run was not finished, what it recorded is {}", reason, partial));
  }
  if (S_ISDIR(status.st_mode)) throw Error(path, "is a folder, not a file");
  if (path.ends_with(unfinished_name(""))) {
    finish_commit(path);
    if (H5Fis_hdf5(path.c_str()) <= 0)
      throw Error(path, "holds nothing yet: its run was ended before its first step; begin anew");
  }
  require_harmless(path);
  const Hdf5Handle access = out.check(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "cannot be read");
  out.check(H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG), "cannot be read");
  const unsigned flags = is_streamed_to(path) ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDONLY;
  out.file_ = out.check(H5Fopen(path.c_str(), flags, access.id()), H5Fclose, "is not an HDF5 file that can be read");
  return out;
}

void Hdf5File::publish() {
  check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "cannot be written");
  check(H5Fstart_swmr_write(file_.id()), "cannot be written");
  put_in_place();
}

void Hdf5File::close() {
  if (!file_) return;
  check(H5Fflush(file_.id(), H5F_SCOPE_GLOBAL), "cannot be written");
  if (!file_.reset()) fail("cannot be written");
}

void Hdf5File::finish() {
  close();
  if (!beside_.empty()) put_in_place();
}

void Hdf5File::put_in_place() {
  if (std::rename(beside_.c_str(), path_.c_str()) != 0)
    throw Error(path_, fmt::format("cannot be put in place: {}", std::strerror(errno)));
  beside_.clear();
}

void Hdf5File::copy(const Hdf5File& from, const std::string& name) {
  check(H5Ocopy(from.id(), name.c_str(), id(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "cannot be written");
}

void Hdf5File::write(const std::string& name, const void* values, std::size_t bytes, hid_t type, const Extent& shape) {
  const std::string what = fmt::format("{} cannot be written", name);
  const Hdf5Handle space = check(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, what);
  const Hdf5Handle links = check(H5Pcreate(H5P_LINK_CREATE), H5Pclose, what);
  check(H5Pset_create_intermediate_group(links.id(), 1), what);
  const Hdf5Handle layout = check(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
  if (bytes > compress_above) {
    check(H5Pset_chunk(layout.id(), static_cast<int>(shape.size()), shape.data()), what);
    check(H5Pset_shuffle(layout.id()), what);
    check(H5Pset_deflate(layout.id(), 4), what);
  }
  const Hdf5Handle dataset =
      check(H5Dcreate2(file_.id(), name.c_str(), type, space.id(), links.id(), layout.id(), H5P_DEFAULT), H5Dclose, what);
  if (product(shape) > 0) check(H5Dwrite(dataset.id(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), what);
}

void Hdf5File::write(const std::string& name, std::span<const double> values, const Extent& shape) {
  write(name, values.data(), values.size_bytes(), H5T_NATIVE_DOUBLE, shape);
}
void Hdf5File::write(const std::string& name, std::span<const std::int32_t> values, const Extent& shape) {
  write(name, values.data(), values.size_bytes(), H5T_NATIVE_INT32, shape);
}
void Hdf5File::write(const std::string& name, const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  for (const std::string& text : texts) pointers.push_back(text.c_str());
  write(name, pointers.data(), 0, text_type().id(), {texts.size()});
}

void Hdf5File::attribute(const std::string& object, const std::string& name, std::string_view text) {
  const std::string what = fmt::format("{} of {} cannot be written", name, object);
  const std::string copy(text);
  const char* pointer = copy.c_str();
  const Hdf5Handle type = text_type();
  const Hdf5Handle space = check(H5Screate(H5S_SCALAR), H5Sclose, what);
  const Hdf5Handle attribute = check(
      H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose, what);
  check(H5Awrite(attribute.id(), type.id(), &pointer), what);
}

void Hdf5File::attribute(const std::string& object, const std::string& name, double value) {
  const std::string what = fmt::format("{} of {} cannot be written", name, object);
  if (H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0) {
    const Hdf5Handle there =
        check(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
    return check(H5Awrite(there.id(), H5T_NATIVE_DOUBLE, &value), what);
  }
  const Hdf5Handle space = check(H5Screate(H5S_SCALAR), H5Sclose, what);
  const Hdf5Handle attribute = check(H5Acreate_by_name(file_.id(), object.c_str(), name.c_str(), H5T_NATIVE_DOUBLE, space.id(),
                                                       H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                     H5Aclose, what);
  check(H5Awrite(attribute.id(), H5T_NATIVE_DOUBLE, &value), what);
}

void Hdf5File::remove(const std::string& name) {
  check(H5Ldelete(file_.id(), name.c_str(), H5P_DEFAULT), fmt::format("{} cannot be removed", name));
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

bool Hdf5File::contains(const std::string& name) const {
  // Each group on the way must exist before the next is asked for.
  for (std::size_t at = name.find('/', 1);; at = name.find('/', at + 1)) {
    const std::string part = name.substr(0, at);
    if (part.size() > 1 && H5Lexists(file_.id(), part.c_str(), H5P_DEFAULT) <= 0) {
      H5Eclear2(H5E_DEFAULT);
      return false;
    }
    if (at == name.npos) return true;
  }
}

Extent Hdf5File::shape(const std::string& name) const {
  const std::string what = fmt::format("has no {} that can be read", name);
  const Hdf5Handle dataset = check(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Hdf5Handle space = check(H5Dget_space(dataset.id()), H5Sclose, what);
  const int rank = H5Sget_simple_extent_ndims(space.id());
  check(rank, what);
  Extent out(static_cast<std::size_t>(rank));
  check(H5Sget_simple_extent_dims(space.id(), out.data(), nullptr), what);
  return out;
}

std::vector<double> Hdf5File::numbers(const std::string& name) const {
  const Extent all = shape(name);
  return numbers(name, 0, all.empty() ? 1 : all[0]);
}

void Hdf5File::require_held(const Hdf5Handle& dataset, const Extent& extent, std::size_t size, const std::string& name) const {
  constexpr hsize_t harmless = 64 << 20, best_compression = 1100;  // deflate packs a thousand bytes into one, at most
  hsize_t bytes = size;
  bool too_many = false;
  for (const hsize_t n : extent) too_many = __builtin_mul_overflow(bytes, n, &bytes) || too_many;
  if (product(extent) == 0 || (!too_many && bytes <= harmless)) return;
  if (too_many || bytes / best_compression > H5Dget_storage_size(dataset.id()))
    throw Error(path_, fmt::format("is damaged: {} claims to have more numbers than the file can hold", name));
}

template <class T>
std::vector<T> Hdf5File::read(const std::string& name, hsize_t first, hsize_t count, std::string_view kind) const {
  const std::string what = fmt::format("has no {} {} that can be read", kind, name);
  const hid_t memory_type = std::is_same_v<T, double>         ? H5T_NATIVE_DOUBLE
                            : std::is_same_v<T, std::uint8_t> ? H5T_NATIVE_UINT8
                            : std::is_same_v<T, std::int32_t> ? H5T_NATIVE_INT32
                                                              : H5T_NATIVE_INT64;
  Extent extent = shape(name);
  const Hdf5Handle dataset = check(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Hdf5Handle type = check(H5Dget_type(dataset.id()), H5Tclose, what);
  if (H5Tget_class(type.id()) != (std::is_floating_point_v<T> ? H5T_FLOAT : H5T_INTEGER))
    throw Error(path_, fmt::format("{} does not hold {}", name, kind));
  const Hdf5Handle space = check(H5Dget_space(dataset.id()), H5Sclose, what);
  if (extent.empty()) {
    std::vector<T> out(1);
    check(H5Dread(dataset.id(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), what);
    return out;
  }
  if (first > extent[0] || count > extent[0] - first)
    throw Error(path_, fmt::format("{} has {} rows, not {}", name, extent[0], first + count));
  Extent start(extent.size(), 0);
  start[0] = first;
  extent[0] = count;
  require_held(dataset, extent, sizeof(T), name);
  std::vector<T> out(product(extent));
  if (out.empty()) return out;
  check(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr), what);
  const Hdf5Handle memory = check(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose, what);
  check(H5Dread(dataset.id(), memory_type, memory.id(), space.id(), H5P_DEFAULT, out.data()), what);
  return out;
}

std::vector<double> Hdf5File::numbers(const std::string& name, hsize_t first, hsize_t count) const {
  return read<double>(name, first, count, "real numbers");
}
std::vector<std::int32_t> Hdf5File::integers(const std::string& name, hsize_t first, hsize_t count) const {
  return read<std::int32_t>(name, first, count, "whole numbers");
}
std::vector<std::int32_t> Hdf5File::integers(const std::string& name) const {
  const Extent all = shape(name);
  return integers(name, 0, all.empty() ? 1 : all[0]);
}
std::vector<std::int64_t> Hdf5File::long_integers(const std::string& name) const {
  const Extent all = shape(name);
  return read<std::int64_t>(name, 0, all.empty() ? 1 : all[0], "whole numbers");
}

std::vector<std::uint8_t> Hdf5File::bytes(const std::string& name) const {
  const Extent all = shape(name);
  return read<std::uint8_t>(name, 0, all.empty() ? 1 : all[0], "bytes");
}

std::vector<std::string> Hdf5File::texts(const std::string& name) const {
  const std::string what = fmt::format("has no texts {} that can be read", name);
  const Hdf5Handle dataset = check(H5Dopen2(file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose, what);
  const Hdf5Handle stored = check(H5Dget_type(dataset.id()), H5Tclose, what);
  if (H5Tis_variable_str(stored.id()) <= 0) throw Error(path_, fmt::format("{} does not hold texts", name));
  const Hdf5Handle type = text_type();
  const Hdf5Handle space = check(H5Dget_space(dataset.id()), H5Sclose, what);
  require_held(dataset, shape(name), sizeof(char*), name);
  std::vector<char*> pointers(product(shape(name)), nullptr);
  if (pointers.empty()) return {};
  check(H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), what);
  std::vector<std::string> out;
  for (const char* pointer : pointers) out.emplace_back(pointer != nullptr ? pointer : "");
  H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, pointers.data());
  return out;
}

/// There is room for one.
void Hdf5File::require_single(const Hdf5Handle& attribute, const std::string& what) const {
  const Hdf5Handle space = check(H5Aget_space(attribute.id()), H5Sclose, what);
  if (H5Sget_simple_extent_npoints(space.id()) != 1) throw Error(path_, what);
}

std::string Hdf5File::text_attribute(const std::string& object, const std::string& name) const {
  const std::string what = fmt::format("{} has no attribute {} that can be read", object, name);
  const Hdf5Handle attribute =
      check(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
  const Hdf5Handle stored = check(H5Aget_type(attribute.id()), H5Tclose, what);
  if (H5Tis_variable_str(stored.id()) <= 0) throw Error(path_, fmt::format("attribute {} of {} is not a text", name, object));
  const Hdf5Handle type = text_type();
  require_single(attribute, what);
  char* pointer = nullptr;
  check(H5Aread(attribute.id(), type.id(), &pointer), what);
  std::string out = pointer != nullptr ? pointer : "";
  H5free_memory(pointer);
  return out;
}

double Hdf5File::number_attribute(const std::string& object, const std::string& name) const {
  const std::string what = fmt::format("{} has no attribute {} that can be read", object, name);
  const Hdf5Handle attribute =
      check(H5Aopen_by_name(file_.id(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
  require_single(attribute, what);
  double out = 0;
  check(H5Aread(attribute.id(), H5T_NATIVE_DOUBLE, &out), what);
  return out;
}

std::size_t Hdf5File::count(const std::string& group) const {
  H5G_info_t info{};
  check(H5Gget_info_by_name(file_.id(), group.c_str(), &info, H5P_DEFAULT), fmt::format("has no group {}", group));
  return info.nlinks;
}

std::vector<std::string> Hdf5File::names(const std::string& group) const {
  std::vector<std::string> out(count(group));
  for (hsize_t i = 0; i < out.size(); ++i) {
    char name[256];
    const ssize_t length =
        H5Lget_name_by_idx(file_.id(), group.c_str(), H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof(name), H5P_DEFAULT);
    if (length < 0) throw Error(path_, fmt::format("group {} cannot be read", group));
    out[i] = name;
  }
  return out;
}

}  // namespace rotule
