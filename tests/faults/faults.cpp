// A library that is loaded before all others (LD_PRELOAD) and makes the system fail on request, once or from then on:
//   ROTULE_FAULT=memory:N    the N-th allocation finds no memory        ROTULE_FAULT=threads:N  the N-th thread cannot be started
//   ROTULE_FAULT=hdf5:N      the same inside the HDF5 library, which does not bear it everywhere: memory:N leaves that out
//   ROTULE_FAULT=disk:N      after N bytes no more can be written       ROTULE_FAULT=short:N    writes stop halfway, every N-th
//   ROTULE_FAULT=clock:N     every N-th look at the clock finds it an hour off, forwards and backwards by turns
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" void* __libc_malloc(size_t size);                // NOLINT: the C library's own names
extern "C" void* __libc_calloc(size_t count, size_t size);  // NOLINT
extern "C" void* __libc_realloc(void* old, size_t size);    // NOLINT

namespace {

enum class Fault { none, memory, hdf5, threads, disk, short_writes, clock };

struct Plan {
  Fault fault = Fault::none;
  long n = 0;
};

/// Read once; no allocation on the way.
const Plan& plan() {
  static const Plan read = [] {
    Plan out;
    const char* text = ::getenv("ROTULE_FAULT");
    if (text == nullptr) return out;
    const char* colon = std::strchr(text, ':');
    if (colon == nullptr) return out;
    out.n = std::atol(colon + 1);
    const auto is = [&](const char* name) { return std::strncmp(text, name, std::strlen(name)) == 0; };
    out.fault = is("memory")    ? Fault::memory
                : is("hdf5")    ? Fault::hdf5
                : is("threads") ? Fault::threads
                : is("disk")    ? Fault::disk
                : is("short")   ? Fault::short_writes
                : is("clock")   ? Fault::clock
                                : Fault::none;
    return out;
  }();
  return read;
}

std::atomic<long> counted{0};

bool is_due(Fault fault) { return plan().fault == fault && ++counted == plan().n; }

std::atomic<bool> main_runs{false}, memory_has_failed{false};
thread_local bool looking = false;  // into who calls, which may allocate too

bool is_called_by_hdf5() {
  looking = true;
  void* callers[64];
  const int depth = ::backtrace(callers, 64);
  bool found = false;
  for (int k = 0; k < depth && !found; ++k) {
    Dl_info where{};
    found = ::dladdr(callers[k], &where) != 0 && where.dli_fname != nullptr && std::strstr(where.dli_fname, "libhdf5") != nullptr;
  }
  looking = false;
  return found;
}

/// Once, at the N-th allocation of main() or the first one after it that is asked for from the right place. Before main()
/// libraries set themselves up, and nobody could hear of it.
bool memory_fails() {
  const Fault fault = plan().fault;
  if ((fault != Fault::memory && fault != Fault::hdf5) || !main_runs || looking) return false;
  if (++counted < plan().n || memory_has_failed || is_called_by_hdf5() != (fault == Fault::hdf5)) return false;
  return !memory_has_failed.exchange(true);
}

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

/// How much of it may be written; -1: none of it, the disk is full.
ssize_t allowed(int file, size_t size) {
  if (file <= STDERR_FILENO) return static_cast<ssize_t>(size);
  if (plan().fault == Fault::short_writes && size > 1 && ++counted % plan().n == 0) return static_cast<ssize_t>(size / 2);
  if (plan().fault != Fault::disk) return static_cast<ssize_t>(size);
  const long before = counted.fetch_add(static_cast<long>(size));
  if (before >= plan().n) return -1;
  return before + static_cast<long>(size) > plan().n ? plan().n - before : static_cast<ssize_t>(size);
}

}  // namespace

extern "C" {

void* malloc(size_t size) {
  if (memory_fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  if (memory_fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  if (memory_fails()) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_realloc(old, size);
}

using Main = int (*)(int, char**, char**);
static Main program;
static int counted_main(int count, char** arguments, char** environment) {
  main_runs = true;
  return program(count, arguments, environment);
}
// NOLINTNEXTLINE: the C library's own name
int __libc_start_main(Main main, int count, char** arguments, void (*start)(), void (*end)(), void (*unload)(), void* stack) {
  program = main;
  return next<int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*)>("__libc_start_main")(
      counted_main, count, arguments, start, end, unload, stack);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*work)(void*), void* argument) {
  if (is_due(Fault::threads)) return EAGAIN;
  static const auto real = next<int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(thread, attributes, work, argument);
}

ssize_t write(int file, const void* bytes, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  const ssize_t part = allowed(file, size);
  if (part < 0) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, static_cast<size_t>(part));
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  const ssize_t part = allowed(file, size);
  if (part < 0) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, static_cast<size_t>(part), at);
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off_t at) { return pwrite(file, bytes, size, at); }

int clock_gettime(clockid_t clock, timespec* time) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int status = real(clock, time);
  if (plan().fault == Fault::clock && plan().n > 0) {
    const long k = ++counted;
    if (k % plan().n == 0) time->tv_sec += k % (2 * plan().n) == 0 ? 3600 : -3600;
  }
  return status;
}

}  // extern "C"
