#include "record/problem_file.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <mutex>

#include "base/spans.h"
#include "problem/features.h"
#include "record/growing_table.h"
#include "record/hdf5_fence.h"
#include "record/hdf5_file.h"
#include "record/problem_groups.h"
#include "record/version.h"
#include "record/work_beside.h"

namespace rotule {

namespace problem_tables {

/// The parts of a problem that are not arrays of numbers, as tables.
struct Flat {
  std::vector<std::int32_t> blocks, more, friction;
  std::vector<double> mu, numbers;
  void take(const ConstraintProblem& p, double time) {
    blocks.clear();
    more.clear();
    friction.clear();
    mu.clear();
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(p.blocks.size()); ++i) {
      const ConstraintBlock& b = p.blocks[i];
      blocks.insert(blocks.end(), {b.first_row, b.rows, b.body_a, b.body_b, b.source});
      for (int k = b.first_more; k < b.first_more + b.more_count; ++k) more.insert(more.end(), {i, p.more[k].body});
    }
    for (const FrictionRows& f : p.friction) {
      friction.insert(friction.end(), {f.first_row, f.count, f.normal_row, f.cone ? 1 : 0});
      mu.push_back(f.mu);
    }
    numbers = {time, p.h, p.coupled ? 1.0 : 0.0};
  }
};

}  // namespace problem_tables

namespace {

using problem_tables::Flat;

constexpr std::string_view problems_format_name = "rotule problems";
constexpr int problems_format_version = 4, version_without_shared_bounds = 3, version_with_groups = 2;
constexpr std::size_t flush_above = 4 << 20;  // bytes that may wait in memory
constexpr std::chrono::milliseconds flush_after{500};

/// A row of `index`. Counts and beginnings of what a problem has, in the order of `ProblemPart`. Where bounds, blocks, bodies or
/// friction are those of the problem before, bit by bit, they are not written again: they begin where that one's do.
enum ProblemPart : std::uint8_t {
  row_part,
  bound_part,
  block_part,
  body_part,
  friction_part,
  more_part,
  more_row_part,
  part_count
};
struct ProblemEntry {
  std::int64_t frame = 0, island = 0;
  std::int64_t first[part_count] = {}, count[part_count] = {};
  std::int64_t sum = 0;  // of all bits of the problem and its answer
};
constexpr std::string_view index_columns =
    "frame, island, first row, bound, block, body, friction, further body, its row; rows, bounds, blocks, bodies, frictions, "
    "further bodies, their rows; checksum";
constexpr std::size_t entry_columns = sizeof(ProblemEntry) / sizeof(std::int64_t);

// time, h, coupled, then the features.
constexpr std::size_t number_columns = 3 + feature_names.size();

constexpr std::size_t block_width = 5, more_width = 2, friction_width = 4;  // columns

/// Bits of numbers, mixed: any change of any of them changes the sum. In as many lanes as need not wait for each other.
template <int lanes>
class ProblemChecksum {
 public:
  template <class T>
  void add(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    const std::size_t size = count * sizeof(T);
    std::size_t at = 0;
    for (; at + sizeof(sums_) <= size; at += sizeof(sums_)) {
      std::uint64_t words[lanes];
      std::memcpy(words, bytes + at, sizeof(words));
      for (int k = 0; k < lanes; ++k) mix(sums_[k], words[k]);
    }
    std::uint64_t rest = size;
    for (; at < size; ++at) mix(rest, bytes[at]);
    mix(sums_[0], rest);
  }
  [[nodiscard]] std::int64_t value() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : sums_) mix(sum, one);
    return std::bit_cast<std::int64_t>(sum);
  }

 private:
  static void mix(std::uint64_t& sum, std::uint64_t word) { sum = (std::rotl(sum, 23) ^ word) * 0x9e3779b97f4a7c15ULL; }
  static constexpr std::uint64_t beginnings[] = {0x243f6a8885a308d3ULL, 0x13198a2e03707344ULL, 0xa4093822299f31d0ULL,
                                                 0x082efa98ec4e6c89ULL, 0x452821e638d01377ULL, 0xbe5466cf34e90c6cULL,
                                                 0xc0ac29b7c97c50ddULL, 0x3f84d5b5b5470917ULL};
  static constexpr auto begin = [] {
    std::array<std::uint64_t, lanes> out{};
    std::copy_n(beginnings, lanes, out.begin());
    return out;
  };
  std::array<std::uint64_t, lanes> sums_ = begin();
};

template <int lanes>
std::int64_t checksum(const ConstraintProblem& p, const Flat& flat, std::span<const double> x) {
  ProblemChecksum<lanes> sum;
  sum.add(flat.numbers.data(), 3);
  for (const auto* integers : {&flat.blocks, &flat.more, &flat.friction}) sum.add(integers->data(), integers->size());
  sum.add(flat.mu.data(), flat.mu.size());
  if (!p.inverse_mass.empty()) sum.add(p.inverse_mass[0].data(), 36 * p.inverse_mass.size());
  for (const JacobianRows* J : {&p.J_a, &p.J_b}) sum.add(J->data(), static_cast<std::size_t>(J->size()));
  if (!p.more.empty()) sum.add(p.J_more.data(), static_cast<std::size_t>(p.J_more.size()));
  for (const VecX* v : {&p.b, &p.C, &p.lower, &p.upper, &p.x0}) sum.add(v->data(), static_cast<std::size_t>(v->size()));
  sum.add(x.data(), x.size());
  return sum.value();
}
constexpr int checksum_lanes = 8, checksum_lanes_before = 4;  // of version 3

Hdf5File open_checked(const std::string& path) {
  Hdf5File file = Hdf5File::open(path);
  if (!file.has_attribute("/", "format") || file.text_attribute("/", "format") != problems_format_name)
    throw Error(path, "is not a file of recorded problems; rotule run SCENE --record-problems FILE.h5 makes one");
  const double version = file.number_attribute("/", "version");
  if (version < version_with_groups || version > problems_format_version)
    throw Error(path, fmt::format("is version {} of the format; this program reads {} to {}", version, version_with_groups,
                                  problems_format_version));
  return file;
}
bool has_groups(const Hdf5File& file) { return file.number_attribute("/", "version") == version_with_groups; }

/// An index of version 3, in which bounds begin and end with rows.
std::vector<std::int64_t> with_bounds_of_rows(const std::vector<std::int64_t>& numbers) {
  constexpr std::ptrdiff_t before = 2, parts = part_count - 1, columns = before + 2 * parts + 1;
  std::vector<std::int64_t> out;
  for (auto row = numbers.begin(); row < numbers.end(); row += columns) {
    const auto first = row + before, count = first + parts;
    out.insert(out.end(), row, first);
    for (const auto part : {first, count}) {
      out.push_back(*part);
      out.insert(out.end(), part, part + parts);
    }
    out.push_back(row[columns - 1]);
  }
  return out;
}

/// All entries, in the order in which they were recorded.
std::vector<ProblemEntry> read_index(const Hdf5File& file) {
  std::vector<std::int64_t> numbers = file.long_integers("/index");
  const bool own_bounds = file.number_attribute("/", "version") == version_without_shared_bounds;
  const std::size_t columns = entry_columns - (own_bounds ? 2 : 0);
  if (const Extent shape = file.shape("/index"); shape.size() != 2 || shape[1] != columns)
    throw Error(file.path(), fmt::format("/index must have {} columns", columns));
  if (own_bounds) numbers = with_bounds_of_rows(numbers);
  std::vector<ProblemEntry> out(numbers.size() / entry_columns);
  if (!out.empty()) std::memcpy(static_cast<void*>(out.data()), numbers.data(), out.size() * sizeof(ProblemEntry));
  // Where a writer was killed, the last ones may be there without having been written.
  std::erase_if(out, [](const ProblemEntry& entry) { return entry.sum == 0; });
  return out;
}

}  // namespace

namespace problem_tables {

struct Tables {
  explicit Tables(Hdf5File& file)
      : inverse_mass(file, "/inverse_mass", {6, 6}),
        J_a(file, "/J_a", {6}),
        J_b(file, "/J_b", {6}),
        J_more(file, "/J_more", {6}),
        b(file, "/b", {}),
        C(file, "/C", {}),
        lower(file, "/lower", {}),
        upper(file, "/upper", {}),
        x0(file, "/x0", {}),
        x(file, "/x", {}),
        mu(file, "/mu", {}),
        numbers(file, "/numbers", {number_columns}, number_names()),
        blocks(file, "/blocks", {block_width}, "first_row, rows, body_a, body_b, source"),
        more(file, "/more", {more_width}, "block, body"),
        friction(file, "/friction", {friction_width}, "first_row, count, normal_row, cone"),
        index(file, "/index", {entry_columns}, std::string(index_columns)) {}

  static std::string number_names() {
    std::string out = "time, h, coupled";
    for (const std::string_view name : feature_names) out += fmt::format(", {}", name);
    return out;
  }
  /// The index comes last: what it names is there.
  template <class Visit>
  void visit(Visit&& each) {
    for (auto* table : {&inverse_mass, &J_a, &J_b, &J_more, &b, &C, &lower, &upper, &x0, &x, &mu, &numbers}) each(*table);
    for (auto* table : {&blocks, &more, &friction}) each(*table);
    each(index);
  }

  /// Numbers of a part of the last problem, and whether this one's are the same: if not, they are from now on.
  template <class T>
  static bool repeats(const T* values, std::size_t count, std::vector<T>& last) {
    if (last.size() == count && (count == 0 || std::memcmp(last.data(), values, count * sizeof(T)) == 0)) return true;
    last.assign(values, values + count);
    return false;
  }

  GrowingTable<double> inverse_mass, J_a, J_b, J_more, b, C, lower, upper, x0, x, mu, numbers;
  GrowingTable<std::int32_t> blocks, more, friction;
  GrowingTable<std::int64_t> index;
  problem_tables::Flat flat;
  struct {
    std::vector<double> inverse_mass, C, lower, upper, mu;
    std::vector<std::int32_t> blocks, friction;
    std::int64_t first[part_count] = {};
  } last;
};

}  // namespace problem_tables

/// The file and what becomes of a problem on its way there, on whatever thread.
class ProblemWriter::Stream {
 public:
  Stream(const std::string& path, const std::string& scene, const std::string& recipe, const std::vector<std::string>& joints);

  void append(std::int64_t frame, double time, int island, const ConstraintProblem& problem, std::span<const double> x) {
    worker_.hand_over([&](Handed& to) {
      to.frame = frame;
      to.time = time;
      to.island = island;
      to.problem = problem;
      to.x.assign(x.begin(), x.end());
    });
  }
  void close();
  void finish() {
    close();
    file_.finish();
  }

 private:
  struct Handed {
    std::int64_t frame = 0;
    double time = 0;
    int island = 0;
    ConstraintProblem problem;
    std::vector<double> x;
  };
  using Tables = problem_tables::Tables;
  void write(const Handed& handed);
  void flush();

  Hdf5File file_;
  std::unique_ptr<Tables> tables_;
  FeatureFinder features_;
  std::chrono::steady_clock::time_point last_flush_;
  WorkBeside<Handed> worker_;  // the last: it ends before what it works on goes
};

ProblemWriter::Stream::Stream(const std::string& path, const std::string& scene, const std::string& recipe,
                              const std::vector<std::string>& joints)
    : file_(Hdf5File::create_stream(path)),
      last_flush_(std::chrono::steady_clock::now()),
      worker_(hdf5_knows_threads(), [this](const Handed& handed) { write(handed); }) {
  file_.attribute("/", "format", problems_format_name);
  file_.attribute("/", "version", static_cast<double>(problems_format_version));
  file_.attribute("/", "program_version", program_version);
  file_.attribute("/", "description", "w = A x - b, A = J M^-1 J^T + C, lower <= x <= upper");
  file_.attribute("/", "scene", scene);
  file_.attribute("/", "recipe", recipe);
  file_.write("/joint_names", joints);
  tables_ = std::make_unique<Tables>(file_);
}

void ProblemWriter::Stream::write(const Handed& handed) {
  const auto& [frame, time, island, p, x] = handed;
  Tables& t = *tables_;
  t.flat.take(p, time);
  ProblemEntry entry{.frame = frame, .island = island, .sum = checksum<checksum_lanes>(p, t.flat, x)};
  const auto n = static_cast<std::size_t>(p.rows());
  const std::int64_t first[] = {t.b.rows(),  t.C.rows(),    t.blocks.rows(), t.inverse_mass.rows(),
                                t.mu.rows(), t.more.rows(), t.J_more.rows()};
  const std::size_t count[] = {n,
                               n,
                               p.blocks.size(),
                               p.inverse_mass.size(),
                               p.friction.size(),
                               p.more.size(),
                               p.more.empty() ? 0 : static_cast<std::size_t>(p.J_more.rows())};
  std::copy_n(first, part_count, entry.first);
  std::copy_n(count, part_count, entry.count);
  // Each is asked before any is looked at, so that each is kept.
  bool same[part_count] = {};
  const bool same_C = Tables::repeats(p.C.data(), n, t.last.C), same_lower = Tables::repeats(p.lower.data(), n, t.last.lower),
             same_upper = Tables::repeats(p.upper.data(), n, t.last.upper);
  same[bound_part] = same_C && same_lower && same_upper;
  same[block_part] = Tables::repeats(t.flat.blocks.data(), t.flat.blocks.size(), t.last.blocks);
  const bool same_rows = Tables::repeats(t.flat.friction.data(), t.flat.friction.size(), t.last.friction),
             same_mu = Tables::repeats(t.flat.mu.data(), t.flat.mu.size(), t.last.mu);
  same[friction_part] = same_rows && same_mu;
  same[body_part] =
      p.inverse_mass.empty() || Tables::repeats(p.inverse_mass[0].data(), 36 * p.inverse_mass.size(), t.last.inverse_mass);
  for (int part = 0; part < part_count; ++part)
    (same[part] ? entry.first[part] : t.last.first[part]) = same[part] ? t.last.first[part] : entry.first[part];
  if (!same[body_part]) t.inverse_mass.append(p.inverse_mass[0].data(), p.inverse_mass.size());
  t.J_a.append(p.J_a.data(), n);
  t.J_b.append(p.J_b.data(), n);
  t.J_more.append(p.J_more.data(), count[more_row_part]);
  t.b.append(p.b.data(), n);
  t.x0.append(p.x0.data(), n);
  t.x.append(x.data(), n);
  if (!same[bound_part]) {
    t.C.append(p.C.data(), n);
    t.lower.append(p.lower.data(), n);
    t.upper.append(p.upper.data(), n);
  }
  if (!same[friction_part]) {
    t.mu.append(t.flat.mu.data(), t.flat.mu.size());
    t.friction.append(t.flat.friction.data(), p.friction.size());
  }
  if (!same[block_part]) t.blocks.append(t.flat.blocks.data(), p.blocks.size());
  t.more.append(t.flat.more.data(), p.more.size());
  for (const double feature : values_of(features_.find(p))) t.flat.numbers.push_back(feature);
  t.numbers.append(t.flat.numbers.data(), 1);
  t.index.append(reinterpret_cast<const std::int64_t*>(&entry), 1);

  std::size_t waiting = 0;
  t.visit([&](const auto& table) { waiting += table.waiting_bytes(); });
  if (waiting > flush_above || std::chrono::steady_clock::now() - last_flush_ > flush_after) {
    flush();
  }
}

void ProblemWriter::Stream::flush() {
  const std::scoped_lock lock(hdf5_beside());
  prepare_hdf5_here();
  if (!file_.published()) file_.publish();
  tables_->visit([&](auto& table) { table.flush(file_); });
  last_flush_ = std::chrono::steady_clock::now();
}

void ProblemWriter::Stream::close() {
  if (!tables_) return;
  worker_.finish();
  tables_->visit([&](auto& table) { table.flush(file_); });
  tables_->visit([](auto& table) { table.close(); });
  tables_.reset();
  file_.close();
}

ProblemWriter::ProblemWriter(const std::string& path, const std::string& scene, const std::string& recipe,
                             const std::vector<std::string>& joints)
    : stream_(std::make_unique<Stream>(path, scene, recipe, joints)) {}
ProblemWriter::~ProblemWriter() = default;
ProblemWriter::ProblemWriter(ProblemWriter&&) noexcept = default;
ProblemWriter& ProblemWriter::operator=(ProblemWriter&&) noexcept = default;
void ProblemWriter::append(std::int64_t frame, double time, int island, const ConstraintProblem& problem,
                           std::span<const double> x) {
  stream_->append(frame, time, island, problem, x);
}
void ProblemWriter::close() { stream_->close(); }
void ProblemWriter::finish() { stream_->finish(); }

std::vector<std::int64_t> recorded_frames(const std::string& path) {
  const Hdf5File file = open_checked(path);
  if (has_groups(file)) return problem_group_frames(file);
  std::vector<std::int64_t> frames;
  for (const ProblemEntry& entry : read_index(file)) frames.push_back(entry.frame);
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  return frames;
}

int recorded_islands(const std::string& path, std::int64_t frame) {
  const Hdf5File file = open_checked(path);
  if (has_groups(file)) return problem_group_islands(file, frame);
  const std::vector<ProblemEntry> index = read_index(file);
  return static_cast<int>(
      std::count_if(index.begin(), index.end(), [&](const ProblemEntry& entry) { return entry.frame == frame; }));
}

namespace {

RecordedProblem read_entry(const Hdf5File& file, const ProblemEntry& entry, std::size_t place) {
  for (int part = 0; part < part_count; ++part)
    if (entry.first[part] < 0 || entry.count[part] < 0) throw Error(file.path(), "is damaged: its index has negative numbers");
  const auto require_columns = [&](const char* name, ProblemPart part, std::size_t columns, std::size_t found) {
    if (found != columns * static_cast<std::size_t>(entry.count[part]))
      throw Error(file.path(), fmt::format("{} must have {} column{}", name, columns, columns == 1 ? "" : "s"));
  };
  const auto numbers = [&](const char* name, ProblemPart part, std::size_t columns) {
    std::vector<double> out =
        file.numbers(name, static_cast<Hdf5Size>(entry.first[part]), static_cast<Hdf5Size>(entry.count[part]));
    require_columns(name, part, columns, out.size());
    return out;
  };
  const auto integers = [&](const char* name, ProblemPart part, std::size_t columns) {
    std::vector<std::int32_t> out =
        file.integers(name, static_cast<Hdf5Size>(entry.first[part]), static_cast<Hdf5Size>(entry.count[part]));
    require_columns(name, part, columns, out.size());
    return out;
  };
  const auto vector = [&](const char* name, ProblemPart part) -> VecX {
    const std::vector<double> values = numbers(name, part, 1);
    return Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
  };
  const auto jacobian = [&](const char* name, ProblemPart part) -> JacobianRows {
    const std::vector<double> values = numbers(name, part, 6);
    return Eigen::Map<const JacobianRows>(values.data(), entry.count[part], 6);
  };
  RecordedProblem out;
  ConstraintProblem& p = out.problem;
  const std::vector<double> about = file.numbers("/numbers", place, 1);
  if (about.size() < 3) throw Error(file.path(), "/numbers has too few columns");
  out.time = about[0];
  p.h = about[1];
  p.coupled = about[2] != 0;
  const std::vector<double> masses = numbers("/inverse_mass", body_part, 36);
  for (std::size_t i = 0; i < masses.size(); i += 36) p.inverse_mass.emplace_back(Eigen::Map<const Mat6>(masses.data() + i));
  const std::vector<std::int32_t> block = integers("/blocks", block_part, block_width);
  for (std::size_t i = 0; i < block.size(); i += block_width)
    p.blocks.push_back({block[i], block[i + 1], block[i + 2], block[i + 3], block[i + 4]});
  p.J_a = jacobian("/J_a", row_part);
  p.J_b = jacobian("/J_b", row_part);
  p.J_more = jacobian("/J_more", more_row_part);
  const std::vector<std::int32_t> more = integers("/more", more_part, more_width);
  for (std::size_t i = 0, row = 0; i < more.size(); i += more_width) {
    if (more[i] < 0 || more[i] >= static_cast<std::int32_t>(p.blocks.size()))
      throw Error(file.path(), "/more names a block that is not there");
    ConstraintBlock& tied = p.blocks[more[i]];
    if (tied.more_count++ == 0) tied.first_more = static_cast<std::int32_t>(p.more.size());
    p.more.push_back({more[i + 1], static_cast<std::int32_t>(row)});
    row += tied.rows;
  }
  p.b = vector("/b", row_part);
  p.C = vector("/C", bound_part);
  p.lower = vector("/lower", bound_part);
  p.upper = vector("/upper", bound_part);
  p.x0 = vector("/x0", row_part);
  out.x = vector("/x", row_part);
  const std::vector<std::int32_t> links = integers("/friction", friction_part, friction_width);
  const std::vector<double> mu = numbers("/mu", friction_part, 1);
  for (std::size_t i = 0; i < mu.size(); ++i)
    p.friction.push_back({links[4 * i], links[4 * i + 1], links[4 * i + 2], links[4 * i + 3] != 0, mu[i]});
  Flat flat;
  flat.take(p, out.time);
  const bool before = file.number_attribute("/", "version") == version_without_shared_bounds;
  const std::int64_t sum =
      before ? checksum<checksum_lanes_before>(p, flat, view(out.x)) : checksum<checksum_lanes>(p, flat, view(out.x));
  if (sum != entry.sum)
    throw Error(file.path(), fmt::format("is damaged: the numbers of frame {}, island {} are not those that were recorded",
                                         entry.frame, entry.island));
  return out;
}

}  // namespace

RecordedProblem read_problem(const std::string& path, std::int64_t frame, int island) {
  const Hdf5File file = open_checked(path);
  RecordedProblem out;
  if (has_groups(file)) {
    out = read_problem_group(file, frame, island);
  } else {
    const std::vector<ProblemEntry> index = read_index(file);
    const auto found = std::find_if(index.begin(), index.end(),
                                    [&](const ProblemEntry& entry) { return entry.frame == frame && entry.island == island; });
    if (found == index.end()) throw Error(path, fmt::format("has no frame {} with island {}", frame, island));
    out = read_entry(file, *found, static_cast<std::size_t>(found - index.begin()));
  }
  try {
    validate(out.problem);
  } catch (const Error& error) {
    throw Error(path, fmt::format("frame {}, island {}: {}", frame, island, error.what()));
  }
  return out;
}

}  // namespace rotule
