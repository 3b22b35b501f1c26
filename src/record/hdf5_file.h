#pragma once
// A thin layer over HDF5's C interface: handles that close themselves, failures that become Error with the file's name and
// HDF5's innermost reason. A file being written stands under a temporary name beside its own and gets its own in `finish`:
// whatever fails leaves nothing behind, or, of a file that is kept, what it held at its last `commit`.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

// The library's own types, so that its header stays in the few files that call it.
using Hdf5Id = std::int64_t;          // hid_t
using Hdf5Size = unsigned long long;  // hsize_t
using Hdf5Status = int;               // herr_t

/// Owns one identifier of the library.
class Hdf5Handle {
 public:
  using Close = Hdf5Status (*)(Hdf5Id);
  Hdf5Handle() = default;
  Hdf5Handle(Hdf5Id id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept;
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept;
  ~Hdf5Handle() { reset(); }

  [[nodiscard]] Hdf5Id id() const { return id_; }
  [[nodiscard]] explicit operator bool() const { return id_ >= 0; }
  /// Closes now; false where that failed.
  bool reset();

 private:
  Hdf5Id id_ = -1;
  Close close_ = nullptr;
};

/// Under which a file stands that is written to still, or whose writer was killed: F.h5.part.
std::string unfinished_name(const std::string& path);

/// Whether the library may be called on several threads; each of them but the first calls `prepare_hdf5_here` before.
bool hdf5_knows_threads();
void prepare_hdf5_here();

/// The sizes of an array, slowest index first.
using Extent = std::vector<Hdf5Size>;

class Hdf5File {
 public:
  /// A new file, written beside `path` until `finish`.
  static Hdf5File create(const std::string& path);
  /// A new file that is to be streamed to (`publish`).
  static Hdf5File create_stream(const std::string& path);
  /// A new file that is there as `unfinished_name(path)` from its first `commit` on, whatever becomes of this process, and gets
  /// its own name in `finish`. Throws Error where one of that name is there already: it may be hours of somebody's run.
  static Hdf5File create_kept(const std::string& path);
  /// Goes on with such a one where its last `commit` left it.
  static Hdf5File reopen_kept(const std::string& path, bool worth_keeping);
  /// A file to read: one that is whole, or one that was streamed to and whose writer is at work still or was killed. Foreign
  /// files are tried in a process of their own first (hdf5_fence.h).
  static Hdf5File open(const std::string& path);
  Hdf5File(Hdf5File&&) noexcept = default;
  Hdf5File& operator=(Hdf5File&&) = delete;
  ~Hdf5File();

  /// Writes all that is left, under the temporary name still: what can fail, fails here.
  void close();
  /// Puts a file to be streamed to in its place already. From here on it can be read at any time, whatever becomes of this
  /// process; arrays may grow, but nothing new can be made.
  void publish();
  /// What was written up to now survives from now on, and is left behind by whatever fails, unless it is not worth keeping.
  void commit(bool worth_keeping);
  /// Nothing is to stay behind.
  void discard() { worth_keeping_ = false; }
  /// What stays behind where nothing more is done; empty: nothing.
  [[nodiscard]] std::string kept() const { return worth_keeping_ ? beside_ : ""; }
  [[nodiscard]] bool published() const { return writing_ && beside_.empty(); }
  /// Closes the file and puts it in its place.
  void finish();

  [[nodiscard]] Hdf5Id id() const { return file_.id(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  // Writing. Names are paths from the root; groups on the way are made.
  void write(const std::string& name, std::span<const double> values, const Extent& shape);
  void write(const std::string& name, std::span<const std::int32_t> values, const Extent& shape);
  void write(const std::string& name, const std::vector<std::string>& texts);
  void attribute(const std::string& object, const std::string& name, std::string_view text);
  /// One that is there already is changed.
  void attribute(const std::string& object, const std::string& name, double value);
  /// Takes an array away.
  void remove(const std::string& name);
  /// A group or array of another file with all that is in it, under the same name.
  void copy(const Hdf5File& from, const std::string& name);

  // Reading; throws where a thing is missing or of another type.
  [[nodiscard]] bool contains(const std::string& name) const;
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] Extent shape(const std::string& name) const;
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const;
  /// Only the rows `first` to `first + count` of the first index.
  [[nodiscard]] std::vector<double> numbers(const std::string& name, Hdf5Size first, Hdf5Size count) const;
  [[nodiscard]] std::vector<std::int32_t> integers(const std::string& name) const;
  [[nodiscard]] std::vector<std::int32_t> integers(const std::string& name, Hdf5Size first, Hdf5Size count) const;
  [[nodiscard]] std::vector<std::int64_t> long_integers(const std::string& name) const;
  [[nodiscard]] std::vector<std::uint8_t> bytes(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
  [[nodiscard]] std::string text_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] double number_attribute(const std::string& object, const std::string& name) const;
  [[nodiscard]] std::size_t count(const std::string& group) const;
  /// What is in a group, in alphabetical order.
  [[nodiscard]] std::vector<std::string> names(const std::string& group) const;

  // For those who make datasets of their own: a checked handle, a checked status.
  Hdf5Handle check(Hdf5Id id, Hdf5Handle::Close closer, std::string_view what) const;
  void check(Hdf5Status status, std::string_view what) const;

 private:
  Hdf5File(std::string path, bool writing);
  [[noreturn]] void fail(std::string_view what) const;
  void write(const std::string& name, const void* values, std::size_t bytes, Hdf5Id type, const Extent& shape);
  static Hdf5File create(const std::string& path, bool stream);
  void put_in_place();
  [[nodiscard]] Hdf5Handle kept_access() const;
  /// Throws where an array claims more numbers than its bytes in the file can be: nobody makes room for those.
  void require_held(const Hdf5Handle& dataset, const Extent& extent, std::size_t size, const std::string& name) const;
  void require_single(const Hdf5Handle& attribute, const std::string& what) const;
  /// Rows of an array whose numbers are of this class, into memory of this type.
  template <class T>
  [[nodiscard]] std::vector<T> read(const std::string& name, Hdf5Size first, Hdf5Size count, std::string_view kind) const;

  std::string path_, beside_;
  bool writing_ = false, kept_ = false, worth_keeping_ = false;
  Hdf5Handle file_;
};

}  // namespace rotule
