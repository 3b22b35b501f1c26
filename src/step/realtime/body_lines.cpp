#include "step/realtime/body_lines.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rotule::realtime {

void BodyLines::clear(int line) {
  motion[line] = {};
  pose[line] = {};
  pose[line].at[9] = 1;
  last[line] = {};
  kick[line] = {};
  for_each_column([&](auto& column) { column[line / row_lanes].lane[line % row_lanes] = 0; });
  burden[line / row_lanes].lane[line % row_lanes] = 1;
  kept[line / row_lanes].lane[line % row_lanes] = 1;
  core[line / row_lanes].lane[line % row_lanes] = std::numeric_limits<float>::infinity();
}

void BodyLines::resize(int bodies) {
  const int before = count, row_count = rows_for(line_of(bodies));
  count = line_of(bodies);
  const std::size_t lines = static_cast<std::size_t>(row_count) * row_lanes;
  const std::size_t had = motion.size();
  motion.resize(lines);
  pose.resize(lines);
  last.resize(lines);
  kick.resize(lines);
  for_each_column([&](auto& column) { column.resize(row_count); });
  for (std::size_t line = std::min<std::size_t>(had, before); line < lines; ++line) clear(static_cast<int>(line));
}

void BodyLines::erase(int body) {
  const int line = line_of(body);
  const auto cut = [&](auto& lines) {
    lines.erase(lines.begin() + line);
    lines.push_back({});
  };
  cut(motion);
  cut(pose);
  cut(last);
  cut(kick);
  for_each_column([&](auto& column) {
    for (int i = line; i + 1 < count; ++i)
      column[i / row_lanes].lane[i % row_lanes] = column[(i + 1) / row_lanes].lane[(i + 1) % row_lanes];
  });
  clear(count - 1);
  clear(static_cast<int>(motion.size()) - 1);
  --count;
}

void BodyLines::list_rows() {
  every_row.resize(static_cast<std::size_t>(rows_for(count)));
  std::iota(every_row.begin(), every_row.end(), 0);
  rows.clear();
  for (int row = 0; row < rows_for(count); ++row)
    if (std::any_of(std::begin(inverse_root[row].lane), std::end(inverse_root[row].lane), [](float x) { return x > 0; }))
      rows.push_back(row);
}

void BodyLines::set_mass(int body, const Model& model, bool asleep) {
  const int row = line_of(body) / row_lanes, lane = line_of(body) % row_lanes;
  const bool moves = model.movable(body) && !asleep, led = model.kinematic(body);
  const double mass_root_of = led ? double(led_root) : moves ? std::sqrt(model.bodies[body].mass) : 0;
  mass_root[row].lane[lane] = static_cast<float>(mass_root_of);
  inverse_root[row].lane[lane] = mass_root_of > 0 ? static_cast<float>(1 / mass_root_of) : 0;
  Mat3 root = Mat3::Zero(), inverse = Mat3::Zero();
  if (led) {
    root = double(led_root) * Mat3::Identity();
    inverse = 1 / double(led_root) * Mat3::Identity();
  }
  if (moves) {
    const Eigen::SelfAdjointEigenSolver<Mat3> axes(model.inertia[body]);
    root = axes.operatorSqrt();
    inverse = axes.operatorInverseSqrt();
  }
  constexpr int at[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
  for (int k = 0; k < 6; ++k) {
    inertia_root[k][row].lane[lane] = static_cast<float>(root(at[k][0], at[k][1]));
    inverse_inertia_root[k][row].lane[lane] = static_cast<float>(inverse(at[k][0], at[k][1]));
  }
}

}  // namespace rotule::realtime
