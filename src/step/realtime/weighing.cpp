#include "step/realtime/weighing.h"

#include <algorithm>

namespace rotule::realtime {

namespace {

constexpr int patience = 8;            // steps that a few wait
constexpr double many = 0.1;           // of all manifolds: no longer a few
constexpr float least_upright = 0.1F;  // cosine: walls bear nothing
constexpr float handed_on = 0.5F;      // of a push, from body to body
constexpr int most_weighings = 4;

}  // namespace

bool Weighing::due(int begun, int all) {
  waiting_ += begun;
  ++since_;
  if (waiting_ == 0 || (since_ < patience && waiting_ < many * all)) return false;
  waiting_ = since_ = 0;
  return true;
}

void Weighing::weigh(const ContactSlots& slots, const Vec3& gravity, BodyLines& bodies) {
  const double g = gravity.norm();
  const Eigen::Vector3f up = (-gravity / g).cast<float>();
  place_.resize(static_cast<std::size_t>(bodies.count), 0);
  rests_.clear();
  lines_.clear();
  lines_.push_back(nobody);  // and all that is fixed
  for (const int row : bodies.rows)
    for (int line = row * row_lanes; line < std::min((row + 1) * row_lanes, bodies.count); ++line)
      if (bodies.moves(line)) {
        place_[line] = static_cast<int>(lines_.size());
        lines_.push_back(line);
      }
  const auto place = [&](int line) { return bodies.moves(line) ? place_[line] : 0; };
  const int count = static_cast<int>(lines_.size());
  first_.assign(static_cast<std::size_t>(count) + 1, 0);
  slots.for_each([&](const auto& family) {
    for (const auto& colour : family.colours)
      for (std::size_t block = 0; block < colour.hot.size(); ++block) {
        const auto& hot = colour.hot[block];
        for (int lane = 0; lane < colour.lanes(static_cast<int>(block)); ++lane) {
          const float upright =
              hot.normal.x.lane[lane] * up.x() + hot.normal.y.lane[lane] * up.y() + hot.normal.z.lane[lane] * up.z();
          if (std::abs(upright) < least_upright) continue;
          // The normal leads from a to b.
          const int a = place(hot.a.lane[lane]), b = place(hot.b.lane[lane]);
          rests_.push_back(upright > 0 ? Rest{b, a, upright} : Rest{a, b, -upright});
          ++first_[rests_.back().upper];
        }
      }
  });
  int sum = 0;
  for (int& first : first_) sum += std::exchange(first, sum);
  sorted_.resize(rests_.size());
  for (const Rest& rest : rests_) sorted_[first_[rest.upper]++] = rest;
  // first_[i] is now where those of i end.

  height_.resize(static_cast<std::size_t>(count));
  carried_.assign(static_cast<std::size_t>(count), 0);
  order_.clear();
  for (int i = 1; i < count; ++i) {
    const float* p = bodies.pose[lines_[i]].at;
    height_[i] = up.x() * p[0] + up.y() * p[1] + up.z() * p[2];
    order_.push_back(i);
  }
  std::sort(order_.begin(), order_.end(),
            [&](int i, int j) { return height_[i] != height_[j] ? height_[i] > height_[j] : i < j; });

  for (const int i : order_) {
    const int line = lines_[i];
    const float root = bodies.mass_root[line / row_lanes].lane[line % row_lanes], weight = root * root * static_cast<float>(g);
    float& load = bodies.load[line / row_lanes].lane[line % row_lanes];
    const int begin = first_[i - 1], end = first_[i];
    float upright = 0;
    for (int k = begin; k < end; ++k) upright += sorted_[k].upright;
    if (!(upright > 0)) continue;  // falls: hands on nothing
    load = std::max(load, weight + 2 * carried_[i]);
    for (int k = begin; k < end; ++k) carried_[sorted_[k].lower] += (weight + carried_[i]) * sorted_[k].upright / upright;
  }
}

void hand_on_motion(const ContactSlots& slots, float h, BodyLines& bodies) {
  const auto of = [](std::vector<Row>& column, int line) -> float& { return column[line / row_lanes].lane[line % row_lanes]; };
  bool handed = std::ranges::any_of(
      bodies.rows, [&](int row) { return std::ranges::any_of(bodies.push[row].lane, [](float push) { return push > 0; }); });
  if (!handed) return;
  const auto hand = [&](int from, int to) {
    const float push = handed_on * of(bodies.push, from);
    if (push <= of(bodies.push, to)) return;
    of(bodies.push, to) = push;
    handed = true;
  };
  for (int round = 0; handed && round < most_weighings; ++round) {
    handed = false;
    slots.for_each([&](const auto& family) {
      for (const auto& colour : family.colours)
        for (std::size_t block = 0; block < colour.hot.size(); ++block)
          for (int lane = 0; lane < colour.lanes(static_cast<int>(block)); ++lane) {
            const int a = colour.hot[block].a.lane[lane], b = colour.hot[block].b.lane[lane];
            if (!bodies.moves(a) || !bodies.moves(b)) continue;
            hand(a, b);
            hand(b, a);
          }
    });
  }
  for (const int row : bodies.rows)
    for (int lane = 0; lane < row_lanes; ++lane) {
      const float push = bodies.push[row].lane[lane], squeeze = h * bodies.load[row].lane[lane];
      if (push > 0) bodies.calm[row].lane[lane] = std::min(bodies.calm[row].lane[lane], squeeze / (push + squeeze));
    }
}

void let_go(ContactSlots& slots, BodyLines& bodies) {
  const auto kept = [&](int line) { return bodies.kept[line / row_lanes].lane[line % row_lanes]; };
  if (!std::ranges::any_of(bodies.rows,
                           [&](int row) { return std::ranges::any_of(bodies.kept[row].lane, [](float x) { return x < 1; }); }))
    return;
  slots.for_each([&](auto& family) {
    for (auto& colour : family.colours)
      for (std::size_t block = 0; block < colour.hot.size(); ++block)
        for (int lane = 0; lane < colour.lanes(static_cast<int>(block)); ++lane) {
          auto& hot = colour.hot[block];
          const float share = std::min(kept(hot.a.lane[lane]), kept(hot.b.lane[lane]));
          if (share == 1) continue;
          for (auto& point : hot.point) point.impulse.lane[lane] *= share;
          for (Row* impulse : {&hot.slide_1, &hot.slide_2, &hot.spin}) impulse->lane[lane] *= share;
          if (colour.extras.empty()) continue;
          for (Row* impulse : {&colour.extras[block].roll_1, &colour.extras[block].roll_2}) impulse->lane[lane] *= share;
        }
  });
  for (const int row : bodies.rows) std::ranges::fill(bodies.kept[row].lane, 1.0F);
}

}  // namespace rotule::realtime
