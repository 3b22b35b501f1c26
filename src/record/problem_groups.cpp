#include "record/problem_groups.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <charconv>

namespace rotule {
namespace {

constexpr int block_columns = 5;     // first_row, rows, body_a, body_b, source
constexpr int more_columns = 2;      // block, body
constexpr int friction_columns = 4;  // first_row, count, normal_row, cone

std::string group_name(std::int64_t frame) { return fmt::format("/frame_{:06}", frame); }
std::string group_name(std::int64_t frame, int island) { return fmt::format("/frame_{:06}/island_{}", frame, island); }

}  // namespace

std::vector<std::int64_t> problem_group_frames(const Hdf5File& file) {
  std::vector<std::int64_t> frames;
  for (const std::string& name : file.names("/")) {
    constexpr std::string_view prefix = "frame_";
    std::int64_t frame = 0;
    if (name.starts_with(prefix) &&
        std::from_chars(name.data() + prefix.size(), name.data() + name.size(), frame).ec == std::errc())
      frames.push_back(frame);
  }
  std::sort(frames.begin(), frames.end());
  return frames;
}

int problem_group_islands(const Hdf5File& file, std::int64_t frame) {
  return file.contains(group_name(frame)) ? static_cast<int>(file.count(group_name(frame))) : 0;
}

RecordedProblem read_problem_group(const Hdf5File& file, std::int64_t frame, int island) {
  const std::string& path = file.path();
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
  if (out.x.size() != p.b.size()) throw Error(path, fmt::format("{}/x must be as long as b", group));
  return out;
}

}  // namespace rotule
