#include "record/journaled_driver.h"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <vector>

namespace rotule {
namespace {

constexpr std::size_t page_size = 4096;
using Page = std::array<char, page_size>;

/// Of a part of the journal: bytes that belong elsewhere, which follow.
struct JournalPiece {
  std::uint64_t address = 0, size = 0;
};
/// The last bytes of the file while a commit is under way.
struct JournalEnd {
  char mark[16] = {'r', 'o', 't', 'u', 'l', 'e', ' ', 'j', 'o', 'u', 'r', 'n', 'a', 'l', '1', '\n'};
  std::uint64_t start = 0, size = 0, sum = 0;  // of the pieces
};

std::uint64_t sum_of(const char* bytes, std::size_t size) {
  std::uint64_t sum = 0x243f6a8885a308d3ULL ^ size;
  const auto mix = [&](std::uint64_t word) { sum = (std::rotl(sum, 23) ^ word) * 0x9e3779b97f4a7c15ULL; };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof(word));
    mix(word);
  }
  for (; at < size; ++at) mix(static_cast<unsigned char>(bytes[at]));
  return sum;
}

/// All of it, however often the system stops halfway.
bool write_all(int file, const char* bytes, std::size_t size, std::uint64_t at) {
  while (size > 0) {
    const ssize_t done = ::pwrite(file, bytes, size, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    if (done == 0) {
      errno = ENOSPC;
      return false;
    }
    bytes += done;
    at += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

/// As much as there is; zeros where the file has ended.
bool read_all(int file, char* bytes, std::size_t size, std::uint64_t at) {
  while (size > 0) {
    const ssize_t done = ::pread(file, bytes, size, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    if (done == 0) {
      std::memset(bytes, 0, size);
      return true;
    }
    bytes += done;
    at += static_cast<std::uint64_t>(done);
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

/// The pieces to their places.
bool put_in_places(int file, const std::vector<char>& journal) {
  for (std::size_t at = 0; at + sizeof(JournalPiece) <= journal.size();) {
    JournalPiece piece;
    std::memcpy(&piece, journal.data() + at, sizeof(piece));
    at += sizeof(piece);
    if (piece.size > journal.size() - at) return false;
    if (!write_all(file, journal.data() + at, piece.size, piece.address)) return false;
    at += piece.size;
  }
  return true;
}

/// A lock that ends with the process, whatever ends it, and that is none of those that HDF5 and h5py ask for.
bool lock_for_writing(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &whole) == 0;
}

/// The library's view of a file begins with its own part.
struct JournaledFile {
  H5FD_t common{};
  int file = -1;
  struct stat status {};
  haddr_t allocated = 0;  // the library's end
  haddr_t written = 0;    // the file's end
  haddr_t committed = 0;  // below it nothing may change but by a commit
  bool changed = false, abandoned = false;
  std::map<std::uint64_t, Page> held;  // by their number
  std::vector<char> journal;

  bool read(haddr_t at, std::size_t size, char* out) {
    if (!read_all(file, out, size, at)) return false;
    for (auto page = held.lower_bound(at / page_size); page != held.end() && page->first * page_size < at + size; ++page) {
      const haddr_t first = std::max<haddr_t>(at, page->first * page_size);
      const haddr_t last = std::min<haddr_t>({at + size, (page->first + 1) * page_size, committed});
      if (first < last) std::memcpy(out + (first - at), page->second.data() + first % page_size, last - first);
    }
    return true;
  }

  bool write(haddr_t at, std::size_t size, const char* bytes) {
    changed = true;
    while (size > 0 && at < committed) {
      const std::uint64_t number = at / page_size;
      const std::size_t count = std::min<std::size_t>({size, page_size - at % page_size, committed - at});
      auto [page, fresh] = held.try_emplace(number);
      if (fresh && !read_all(file, page->second.data(), page_size, number * page_size)) return false;
      std::memcpy(page->second.data() + at % page_size, bytes, count);
      at += count;
      bytes += count;
      size -= count;
    }
    if (size > 0 && !write_all(file, bytes, size, at)) return false;
    written = std::max<haddr_t>(written, at + size);
    return true;
  }

  bool commit() {
    if (abandoned) return true;
    journal.clear();
    for (const auto& [number, page] : held) {
      const haddr_t from = number * page_size;
      const JournalPiece piece{from, std::min<haddr_t>(page_size, committed - from)};
      const auto* head = reinterpret_cast<const char*>(&piece);
      journal.insert(journal.end(), head, head + sizeof(piece));
      journal.insert(journal.end(), page.data(), page.data() + piece.size);
    }
    JournalEnd end;
    end.start = std::max(allocated, committed);  // the library may have given back what was committed, and must not lose it yet
    end.size = journal.size();
    end.sum = sum_of(journal.data(), journal.size());
    const auto* tail = reinterpret_cast<const char*>(&end);
    const haddr_t length = end.start + journal.size() + sizeof(end);
    if (!write_all(file, journal.data(), journal.size(), end.start) ||
        !write_all(file, tail, sizeof(end), end.start + journal.size()) || ::ftruncate(file, static_cast<off_t>(length)) != 0 ||
        !put_in_places(file, journal))
      return false;
    held.clear();
    written = length;
    committed = allocated;
    return true;
  }
};

JournaledFile* own_part(H5FD_t* file) { return reinterpret_cast<JournaledFile*>(file); }
const JournaledFile* own_part(const H5FD_t* file) { return reinterpret_cast<const JournaledFile*>(file); }

/// What goes wrong in here must not pass through the library, which is C; the system's words are the innermost of its reasons.
template <class Work>
herr_t guarded(Work&& work) {
  try {
    if (work()) return 0;
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  H5Epush2(H5E_DEFAULT, __FILE__, "journal", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR, "%s", std::strerror(errno));
  return -1;
}

H5FD_t* open_journaled(const char* name, unsigned flags, hid_t, haddr_t) {
  int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= O_CREAT;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= O_EXCL;
  constexpr mode_t anybody = 0666;  // less what the user's mask takes away
  const int file = ::open(name, mode | O_CLOEXEC, anybody);
  if (file < 0) return nullptr;
  auto* out = new (std::nothrow) JournaledFile;
  if (out == nullptr || (mode != O_RDONLY && !lock_for_writing(file)) ||
      ((flags & H5F_ACC_TRUNC) != 0 && ::ftruncate(file, 0) != 0) || ::fstat(file, &out->status) != 0) {
    delete out;
    ::close(file);
    return nullptr;
  }
  out->file = file;
  out->committed = out->written = static_cast<haddr_t>(out->status.st_size);
  return &out->common;
}

herr_t close_journaled(H5FD_t* given) {
  JournaledFile* self = own_part(given);
  const herr_t status = guarded([&] {
    return self->abandoned || !self->changed ||
           (self->commit() && ::ftruncate(self->file, static_cast<off_t>(self->allocated)) == 0);
  });
  const bool closed = ::close(self->file) == 0;
  delete self;
  return closed ? status : -1;
}

const H5FD_class_t& journaled_class() {
  static const H5FD_class_t driver = [] {
    H5FD_class_t c{};
    c.name = "rotule_journal";
    c.maxaddr = (haddr_t{1} << 62) - 1;
    c.fc_degree = H5F_CLOSE_STRONG;
    c.open = open_journaled;
    c.close = close_journaled;
    c.cmp = [](const H5FD_t* a, const H5FD_t* b) {
      const auto key = [](const H5FD_t* f) { return std::pair(own_part(f)->status.st_dev, own_part(f)->status.st_ino); };
      return key(a) < key(b) ? -1 : key(b) < key(a) ? 1 : 0;
    };
    c.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
      *flags =
          H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
      return 0;
    };
    c.get_eoa = [](const H5FD_t* f, H5FD_mem_t) { return own_part(f)->allocated; };
    c.set_eoa = [](H5FD_t* f, H5FD_mem_t, haddr_t end) -> herr_t {
      own_part(f)->allocated = end;
      return 0;
    };
    c.get_eof = [](const H5FD_t* f, H5FD_mem_t) { return own_part(f)->written; };
    c.get_handle = [](H5FD_t* f, hid_t, void** handle) -> herr_t {
      *handle = f;
      return 0;
    };
    c.read = [](H5FD_t* f, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, void* out) {
      return guarded([&] { return own_part(f)->read(at, size, static_cast<char*>(out)); });
    };
    c.write = [](H5FD_t* f, H5FD_mem_t, hid_t, haddr_t at, std::size_t size, const void* bytes) {
      return guarded([&] { return own_part(f)->abandoned || own_part(f)->write(at, size, static_cast<const char*>(bytes)); });
    };
    constexpr H5FD_mem_t map[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
    std::copy(std::begin(map), std::end(map), c.fl_map);
    return c;
  }();
  return driver;
}

JournaledFile* journaled(Hdf5Id file) {
  void* handle = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) < 0 ? nullptr : own_part(static_cast<H5FD_t*>(handle));
}

/// The journal at the end of a file, where there is a whole one.
bool read_journal(int file, std::uint64_t length, std::vector<char>& out) {
  JournalEnd end;
  const JournalEnd expected;
  if (length < sizeof(end) || !read_all(file, reinterpret_cast<char*>(&end), sizeof(end), length - sizeof(end))) return false;
  if (std::memcmp(end.mark, expected.mark, sizeof(end.mark)) != 0) return false;
  if (end.size > length - sizeof(end) || end.start != length - sizeof(end) - end.size) return false;
  out.resize(end.size);
  if (!read_all(file, out.data(), out.size(), end.start) || sum_of(out.data(), out.size()) != end.sum) return false;
  // Pieces lie before the journal, or somebody made it up.
  for (std::size_t at = 0; at < out.size();) {
    JournalPiece piece;
    if (out.size() - at < sizeof(piece)) return false;
    std::memcpy(&piece, out.data() + at, sizeof(piece));
    at += sizeof(piece);
    if (piece.size > out.size() - at || piece.address > end.start || piece.size > end.start - piece.address) return false;
    at += piece.size;
  }
  return true;
}

}  // namespace

void write_by_journal(Hdf5Id access) {
  static const hid_t driver = H5FDregister(&journaled_class());
  H5Pset_driver(access, driver, nullptr);
}

bool commit(Hdf5Id file) {
  JournaledFile* self = journaled(file);
  return self != nullptr && guarded([&] { return self->commit(); }) == 0;
}

void abandon(Hdf5Id file) {
  if (JournaledFile* self = journaled(file); self != nullptr) self->abandoned = true;
}

void finish_commit(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  std::vector<char> journal;
  if (lock_for_writing(file) && ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      read_journal(file, static_cast<std::uint64_t>(status.st_size), journal))
    put_in_places(file, journal);
  ::close(file);
}

bool is_being_written(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool free = lock_for_writing(file);
  ::close(file);
  return !free;
}

}  // namespace rotule
