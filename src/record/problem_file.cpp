#include "record/problem_file.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <charconv>

#include "base/spans.h"
#include "record/version.h"

namespace rotule {
namespace {

constexpr std::string_view problems_format_name = "rotule problems";
constexpr int problems_format_version = 2;
constexpr int block_columns = 5;     // first_row, rows, body_a, body_b, source
constexpr int more_columns = 2;      // block, body
constexpr int friction_columns = 4;  // first_row, count, normal_row, cone

std::string group_name(std::int64_t frame) { return fmt::format("/frame_{:06}", frame); }
std::string group_name(std::int64_t frame, int island) { return fmt::format("/frame_{:06}/island_{}", frame, island); }

std::span<const double> view(const JacobianRows& m) { return {m.data(), static_cast<std::size_t>(m.size())}; }

Hdf5File open_checked(const std::string& path) {
  Hdf5File file = Hdf5File::open(path);
  if (file.text_attribute("/", "format") != problems_format_name) throw Error(path, "is not a file of recorded problems");
  if (const double version = file.number_attribute("/", "version"); version != problems_format_version)
    throw Error(path, fmt::format("is version {} of the format; this program reads {}", version, problems_format_version));
  return file;
}

}  // namespace

ProblemWriter::ProblemWriter(const std::string& path, const std::string& scene, const std::string& recipe,
                             const std::vector<std::string>& joints)
    : file_(Hdf5File::create(path)) {
  file_.attribute("/", "format", problems_format_name);
  file_.attribute("/", "version", static_cast<double>(problems_format_version));
  file_.attribute("/", "program_version", program_version);
  file_.attribute("/", "description", "w = A x - b, A = J M^-1 J^T + C, lower <= x <= upper");
  file_.attribute("/", "scene", scene);
  file_.attribute("/", "recipe", recipe);
  file_.write("/joint_names", joints);
}

void ProblemWriter::append(std::int64_t frame, double time, int island, const ConstraintProblem& p, std::span<const double> x) {
  const std::string group = group_name(frame, island);
  const auto rows = static_cast<Hdf5Size>(p.rows()), bodies = static_cast<Hdf5Size>(p.bodies());
  const std::span<const double> masses(p.inverse_mass.empty() ? nullptr : p.inverse_mass[0].data(), 36 * p.inverse_mass.size());
  file_.write(group + "/inverse_mass", masses, {bodies, 6, 6});
  std::vector<std::int32_t> integers;
  for (const ConstraintBlock& b : p.blocks) integers.insert(integers.end(), {b.first_row, b.rows, b.body_a, b.body_b, b.source});
  file_.write(group + "/blocks", integers, {p.blocks.size(), block_columns});
  file_.attribute(group + "/blocks", "columns", "first_row, rows, body_a, body_b, source");
  file_.write(group + "/J_a", view(p.J_a), {rows, 6});
  file_.write(group + "/J_b", view(p.J_b), {rows, 6});
  if (!p.more.empty()) {  // only where some constraint ties more than two bodies
    integers.clear();
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(p.blocks.size()); ++i)
      for (int k = p.blocks[i].first_more; k < p.blocks[i].first_more + p.blocks[i].more_count; ++k)
        integers.insert(integers.end(), {i, p.more[k].body});
    file_.write(group + "/more", integers, {p.more.size(), more_columns});
    file_.attribute(group + "/more", "columns", "block, body");
    file_.write(group + "/J_more", view(p.J_more), {static_cast<Hdf5Size>(p.J_more.rows()), 6});
  }
  file_.write(group + "/b", view(p.b), {rows});
  file_.write(group + "/C", view(p.C), {rows});
  file_.write(group + "/lower", view(p.lower), {rows});
  file_.write(group + "/upper", view(p.upper), {rows});
  file_.write(group + "/x0", view(p.x0), {rows});
  file_.write(group + "/x", x, {x.size()});
  integers.clear();
  std::vector<double> mu;
  for (const FrictionRows& f : p.friction) {
    integers.insert(integers.end(), {f.first_row, f.count, f.normal_row, f.cone ? 1 : 0});
    mu.push_back(f.mu);
  }
  file_.write(group + "/friction", integers, {p.friction.size(), friction_columns});
  file_.attribute(group + "/friction", "columns", "first_row, count, normal_row, cone");
  file_.write(group + "/mu", mu, {p.friction.size()});
  file_.attribute(group, "time", time);
  file_.attribute(group, "h", p.h);
  file_.attribute(group, "coupled", p.coupled ? 1.0 : 0.0);
}

std::vector<std::int64_t> recorded_frames(const std::string& path) {
  std::vector<std::int64_t> frames;
  for (const std::string& name : open_checked(path).names("/")) {
    constexpr std::string_view prefix = "frame_";
    std::int64_t frame = 0;
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), frame).ec == std::errc())
      frames.push_back(frame);
  }
  std::sort(frames.begin(), frames.end());
  return frames;
}

int recorded_islands(const std::string& path, std::int64_t frame) {
  const Hdf5File file = open_checked(path);
  return file.contains(group_name(frame)) ? static_cast<int>(file.count(group_name(frame))) : 0;
}

RecordedProblem read_problem(const std::string& path, std::int64_t frame, int island) {
  const Hdf5File file = open_checked(path);
  const std::string group = group_name(frame, island);
  if (!file.contains(group)) throw Error(path, fmt::format("has no frame {} with island {}", frame, island));
  const auto vector = [&](const char* name) -> VecX {
    const std::vector<double> values = file.numbers(group + name);
    return Eigen::Map<const VecX>(values.data(), static_cast<Eigen::Index>(values.size()));
  };
  const auto table = [&](const char* name, Hdf5Size columns) {
    const Extent shape = file.shape(group + name);
    if (shape.size() != 2 || shape[1] != columns)
      throw Error(path, fmt::format("{}{} must have {} columns", group, name, columns));
    return shape[0];
  };
  RecordedProblem out;
  ConstraintProblem& p = out.problem;
  out.time = file.number_attribute(group, "time");
  p.h = file.number_attribute(group, "h");
  p.coupled = file.number_attribute(group, "coupled") != 0;

  const std::vector<double> masses = file.numbers(group + "/inverse_mass");
  if (masses.size() % 36 != 0) throw Error(path, fmt::format("{}/inverse_mass must be 6 x 6 blocks", group));
  for (std::size_t i = 0; i < masses.size(); i += 36) p.inverse_mass.emplace_back(Eigen::Map<const Mat6>(masses.data() + i));
  table("/blocks", block_columns);
  const std::vector<std::int32_t> blocks = file.integers(group + "/blocks");
  for (std::size_t i = 0; i < blocks.size(); i += block_columns)
    p.blocks.push_back({blocks[i], blocks[i + 1], blocks[i + 2], blocks[i + 3], blocks[i + 4]});
  for (const auto& [name, J] : {std::pair("/J_a", &p.J_a), std::pair("/J_b", &p.J_b)}) {
    const auto rows = static_cast<Eigen::Index>(table(name, 6));
    const std::vector<double> values = file.numbers(group + name);
    *J = Eigen::Map<const JacobianRows>(values.data(), rows, 6);
  }
  if (file.contains(group + "/more")) {
    table("/more", more_columns);
    const std::vector<std::int32_t> more = file.integers(group + "/more");
    for (std::size_t i = 0, row = 0; i < more.size(); i += more_columns) {
      if (more[i] < 0 || more[i] >= static_cast<std::int32_t>(p.blocks.size()))
        throw Error(path, fmt::format("{}/more names a block that is not there", group));
      ConstraintBlock& block = p.blocks[more[i]];
      if (block.more_count++ == 0) block.first_more = static_cast<std::int32_t>(p.more.size());
      p.more.push_back({more[i + 1], static_cast<std::int32_t>(row)});
      row += block.rows;
    }
    const auto rows = static_cast<Eigen::Index>(table("/J_more", 6));
    const std::vector<double> values = file.numbers(group + "/J_more");
    p.J_more = Eigen::Map<const JacobianRows>(values.data(), rows, 6);
  }
  p.b = vector("/b");
  p.C = vector("/C");
  p.lower = vector("/lower");
  p.upper = vector("/upper");
  p.x0 = vector("/x0");
  out.x = vector("/x");
  const Hdf5Size frictions = table("/friction", friction_columns);
  const std::vector<std::int32_t> links = file.integers(group + "/friction");
  const std::vector<double> mu = file.numbers(group + "/mu");
  if (mu.size() != frictions) throw Error(path, fmt::format("{}/mu must have one number per row of friction", group));
  for (std::size_t i = 0; i < frictions; ++i)
    p.friction.push_back({links[4 * i], links[4 * i + 1], links[4 * i + 2], links[4 * i + 3] != 0, mu[i]});
  try {
    validate(p);
  } catch (const Error& error) {
    throw Error(path, fmt::format("{}: {}", group, error.what()));
  }
  if (out.x.size() != p.rows()) throw Error(path, fmt::format("{}/x must be as long as b", group));
  return out;
}

}  // namespace rotule
