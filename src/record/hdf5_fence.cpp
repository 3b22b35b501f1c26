#include "record/hdf5_fence.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <poll.h>
#include <rotule/error.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/budget.h"
#include "record/hdf5_file.h"

namespace rotule {
namespace {

constexpr std::size_t slab_bytes = 8 << 20;
constexpr std::size_t most_bytes_tried = std::size_t{512} << 20;  // of an array's numbers; of larger ones the end too
constexpr std::size_t memory_for_trying = std::size_t{2} << 30;
constexpr double seconds_for_any = 20, bytes_per_second = 20e6;

/// What is read is not looked at: that the library comes back from it is all.
class FenceTrial {
 public:
  /// Whether all of the file could be walked through.
  bool walk(const std::string& path) {
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_fclose_degree(access.id(), H5F_CLOSE_STRONG);
    Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
    // One that is streamed to refuses to be opened plainly.
    if (!file) file = Hdf5Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id()), H5Fclose);
    if (!file) return true;  // which the reader will say
    const auto visit = [](hid_t root, const char* name, const H5O_info_t* info, void* self) -> herr_t {
      static_cast<FenceTrial*>(self)->look_at(root, name, *info);
      return 0;
    };
    return H5Ovisit2(file.id(), H5_INDEX_NAME, H5_ITER_NATIVE, visit, this, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) >= 0;
  }

 private:
  void look_at(hid_t root, const char* name, const H5O_info_t& info) {
    const Hdf5Handle object(H5Oopen(root, name, H5P_DEFAULT), H5Oclose);
    if (!object) return;
    for (hsize_t k = 0; k < std::min<hsize_t>(info.num_attrs, 1000); ++k)
      read_attribute(
          Hdf5Handle(H5Aopen_by_idx(object.id(), ".", H5_INDEX_NAME, H5_ITER_NATIVE, k, H5P_DEFAULT, H5P_DEFAULT), H5Aclose));
    if (info.type == H5O_TYPE_DATASET) read_dataset(object);
  }

  void read_attribute(const Hdf5Handle& attribute) {
    if (!attribute) return;
    const Hdf5Handle stored(H5Aget_type(attribute.id()), H5Tclose), space(H5Aget_space(attribute.id()), H5Sclose);
    const Hdf5Handle type(H5Tget_native_type(stored.id(), H5T_DIR_DEFAULT), H5Tclose);
    const hssize_t count = H5Sget_simple_extent_npoints(space.id());
    if (!type || count <= 0 || !make_room(static_cast<hsize_t>(count), type)) return;
    if (H5Aread(attribute.id(), type.id(), room_.data()) >= 0) H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, room_.data());
  }

  void read_dataset(const Hdf5Handle& dataset) {
    const Hdf5Handle stored(H5Dget_type(dataset.id()), H5Tclose), space(H5Dget_space(dataset.id()), H5Sclose);
    const Hdf5Handle type(H5Tget_native_type(stored.id(), H5T_DIR_DEFAULT), H5Tclose);
    H5Dget_storage_size(dataset.id());  // walks through all of its chunks
    const int rank = space ? H5Sget_simple_extent_ndims(space.id()) : -1;
    if (!type || rank < 0 || rank > H5S_MAX_RANK) return;
    Extent extent(static_cast<std::size_t>(rank), 1);
    H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr);
    if (rank == 0) {
      if (make_room(1, type) && H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, room_.data()) >= 0)
        H5Dvlen_reclaim(type.id(), space.id(), H5P_DEFAULT, room_.data());
      return;
    }
    hsize_t row = 1;
    for (std::size_t k = 1; k < extent.size(); ++k)
      if (__builtin_mul_overflow(row, extent[k], &row)) return;
    if (row == 0 || row > slab_bytes / std::max<std::size_t>(1, H5Tget_size(type.id())))
      return;  // rows of millions are left untried
    const hsize_t bytes = row * H5Tget_size(type.id()), rows = std::max<hsize_t>(1, slab_bytes / bytes);
    const hsize_t most = std::max<hsize_t>(1, most_bytes_tried / bytes);
    for (hsize_t first = 0; first < std::min(extent[0], most); first += rows)
      read_rows(dataset, type, extent, first, std::min(rows, extent[0] - first));
    if (extent[0] > most) read_rows(dataset, type, extent, extent[0] - rows, rows);
  }

  void read_rows(const Hdf5Handle& dataset, const Hdf5Handle& type, Extent extent, hsize_t first, hsize_t count) {
    const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
    Extent start(extent.size(), 0);
    start[0] = first;
    extent[0] = count;
    hsize_t numbers = 1;
    for (const hsize_t n : extent) numbers *= n;
    const Hdf5Handle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose);
    if (!make_room(numbers, type)) return;
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr);
    if (H5Dread(dataset.id(), type.id(), memory.id(), space.id(), H5P_DEFAULT, room_.data()) >= 0)
      H5Dvlen_reclaim(type.id(), memory.id(), H5P_DEFAULT, room_.data());
  }

  bool make_room(hsize_t count, const Hdf5Handle& type) {
    const std::size_t size = H5Tget_size(type.id());
    if (size == 0 || count > 2 * slab_bytes / size) return false;
    room_.assign(count * size, 0);
    return true;
  }

  std::vector<char> room_;
};

/// In the child: limits, silence, and no more of the parent's ways with signals.
void put_on_limits(double seconds) {
  const rlimit no_core{0, 0}, cpu{static_cast<rlim_t>(seconds) + 1, static_cast<rlim_t>(seconds) + 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &cpu);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Beyond what the parent has already; sanitizers lay claim to all of the address space.
  std::size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  const auto most = static_cast<rlim_t>(pages) * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + memory_for_trying;
  const rlimit memory{most, most};
  ::setrlimit(RLIMIT_AS, &memory);
#endif
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL})
    std::signal(signal, SIG_DFL);
  if (const int nowhere = ::open("/dev/null", O_RDWR); nowhere >= 0)
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
}

enum class FenceResult : char { whole = 'w', torn = 't' };

std::string try_in_child(const std::string& path, double seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(path, "cannot be tried before it is read: no pipe to be had");
  std::fflush(nullptr);
  std::unique_lock nobody_beside(hdf5_beside());
  const pid_t child = ::fork();
  if (child != 0) nobody_beside.unlock();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw Error(path, fmt::format("cannot be tried before it is read: {}", std::strerror(errno)));
  }
  if (child == 0) {
    put_on_limits(seconds);
    FenceResult result = FenceResult::torn;
    try {
      result = FenceTrial().walk(path) ? FenceResult::whole : FenceResult::torn;
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(::write(ends[1], &result, 1) == 1 ? 0 : 1);
  }
  ::close(ends[1]);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  FenceResult result{};
  ssize_t heard = -1;
  bool interrupted = false;
  while (heard < 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) break;
    pollfd ready{ends[0], POLLIN, 0};
    // In pieces: whoever rings the bell from another thread is heard too.
    if (::poll(&ready, 1, static_cast<int>(std::min<long>(left, 50))) > 0) heard = ::read(ends[0], &result, 1);
    try {
      Budget::listen();
    } catch (const Interrupted&) {
      interrupted = true;
      break;
    }
  }
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  ::close(ends[0]);
  if (interrupted) throw Interrupted();
  if (heard < 0) return fmt::format("is damaged: reading it does not end within {:.0f} s", seconds);
  if (heard == 0) return "is damaged: reading it makes HDF5's library crash";
  return result == FenceResult::whole ? "" : "is damaged: HDF5's library cannot find its way through it";
}

/// A file as it was at some moment.
struct FileState {
  dev_t device = 0;
  ino_t number = 0;
  off_t size = 0;
  std::int64_t seconds = 0, nanoseconds = 0;
  friend bool operator==(const FileState&, const FileState&) = default;
};

/// Whether this process has the file open already: its own, and a copy of the process must not touch what it has not written yet.
bool is_open_here(const struct stat& file) {
  std::vector<hid_t> open(static_cast<std::size_t>(std::max<ssize_t>(0, H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_FILE))));
  if (!open.empty()) H5Fget_obj_ids(H5F_OBJ_ALL, H5F_OBJ_FILE, open.size(), open.data());
  return std::any_of(open.begin(), open.end(), [&](hid_t id) {
    struct stat other {};
    const Hdf5Handle access(H5Fget_access_plist(id), H5Pclose);
    void* handle = nullptr;
    char name[4096];
    // Files that are streamed to have another name by now than the library knows.
    if (H5Pget_driver(access.id()) == H5FD_SEC2 && H5Fget_vfd_handle(id, H5P_DEFAULT, &handle) >= 0) {
      if (::fstat(*static_cast<const int*>(handle), &other) != 0) return false;
    } else if (H5Fget_name(id, name, sizeof(name)) <= 0 || ::stat(name, &other) != 0) {
      return false;
    }
    return other.st_dev == file.st_dev && other.st_ino == file.st_ino;
  });
}

}  // namespace

std::mutex& hdf5_beside() {
  static std::mutex mutex;
  return mutex;
}

void require_harmless(const std::string& path) {
  static std::mutex mutex;
  static std::array<FileState, 64> survived;
  static std::size_t next = 0;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const FileState state{status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
  const std::scoped_lock lock(mutex);
  if (std::find(survived.begin(), survived.end(), state) != survived.end() || is_open_here(status)) return;
  const std::string wrong = try_in_child(path, seconds_for_any + static_cast<double>(status.st_size) / bytes_per_second);
  if (!wrong.empty()) throw Error(path, wrong);
  survived[next++ % survived.size()] = state;
}

}  // namespace rotule
