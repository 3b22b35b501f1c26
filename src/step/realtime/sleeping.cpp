// Who falls asleep at the end of a step, and who wakes before one (sleepers.h).
#include <algorithm>
#include <cmath>

#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"

namespace rotule {

using namespace realtime;

namespace {

constexpr int looking_interval = 8;  // steps
/// Of sqrt(g size), the speed of a fall through its own size: what is slower is still.
constexpr double still_share = 0.015;

}  // namespace

void RealtimeStepper::list_rows() {
  bodies_.list_rows();
  touches_.list_rows(bodies_);
  led_.clear();
  led_rows_.clear();
  if (!model_.has_kinematic()) return;
  for (int body = 0; body < model_.body_count(); ++body) {
    if (!model_.kinematic(body)) continue;
    led_.push_back({body, Vec3::Zero(), Quat::Identity(), Vec6::Zero()});
    if (led_rows_.empty() || led_rows_.back() != line_of(body) / row_lanes) led_rows_.push_back(line_of(body) / row_lanes);
  }
}

std::span<const int> RealtimeStepper::rows_of(std::span<const int> bodies) {
  some_rows_.clear();
  for (const int body : bodies) some_rows_.push_back(line_of(body) / row_lanes);
  std::sort(some_rows_.begin(), some_rows_.end());
  some_rows_.erase(std::unique(some_rows_.begin(), some_rows_.end()), some_rows_.end());
  return some_rows_;
}

void RealtimeStepper::wake_all() {
  for (int island = 0; island < touches_.sleepers.islands(); ++island)
    if (!touches_.sleepers.bodies(island).empty()) touches_.wake(island);
}

void RealtimeStepper::wake_partners(const Joint& joint) {
  for_each_partner(joint, [&](int body) {
    if (model_.movable(body) && touches_.sleepers.asleep(body)) touches_.wake(touches_.sleepers.island_of(body));
  });
}

void RealtimeStepper::wake_changed(const State& s) {
  if (!touches_.sleepers.any()) return;
  const auto moved = [&](int body) {
    const float* line = bodies_.pose[line_of(body)].at;
    for (int k = 0; k < 3; ++k) {
      const auto high = static_cast<float>(s.p[body][k]);
      if (line[k] != high || line[3 + k] != static_cast<float>(s.p[body][k] - double(high))) return true;
    }
    for (int k = 0; k < 4; ++k)
      if (line[6 + k] != static_cast<float>(s.theta[body].coeffs()[k])) return true;
    return false;
  };
  const bool forced = forced_ && external_.size() == s.u.size();
  const auto look_at = [&](int body) {
    const bool asleep = touches_.sleepers.asleep(body);
    if (!asleep && model_.movable(body)) return;
    const bool pushed = asleep && forced && !external_.segment<6>(6 * body).isZero(0);
    if (pushed || moved(body) || (asleep && !s.u.segment<6>(6 * body).isZero(0))) touches_.wake_around(body);
  };
  if (loaded_ && !pushed_) {
    for (const int body : changed_) look_at(body);
  } else {
    for (int body = 0; body < model_.body_count(); ++body) look_at(body);
  }
}

void RealtimeStepper::take_in_woken_pairs() {
  if (touches_.woken_pairs.empty()) return;
  records_->quiet.clear();
  for (const auto& [a, b] : touches_.woken_pairs) {
    records_->counts.change(a, b, 1);
    records_->quiet.push_back({std::min(a, b), std::max(a, b)});
  }
  records_->log.take_up(records_->quiet);
  touches_.woken_pairs.clear();
}

void RealtimeStepper::take_in_woken(const State& s) {
  if (touches_.woken.empty()) return;
  take_in_woken_pairs();
  for (const int body : touches_.woken) bodies_.set_mass(body, model_);
  list_rows();
  joints_->sleep_with(touches_.sleepers);
  // Lines of the rows that they share with others are the same, made anew.
  load_rows(s, rows_of(touches_.woken), bodies_);
  touches_.woken.clear();
}

void RealtimeStepper::find_islands() {
  awake_.clear();
  place_.resize(static_cast<std::size_t>(bodies_.count));
  for (const int row : bodies_.rows)
    for (int line = row * row_lanes; line < std::min((row + 1) * row_lanes, bodies_.count); ++line)
      if (bodies_.moves(line)) {
        place_[line] = static_cast<int>(awake_.size());
        awake_.push_back(body_of(line));
      }
  const auto runs = [&](int line) { return line != nobody && !model_.bodies[body_of(line)].surface_velocity.isZero(0); };
  hang_together_.reset(awake_.size());
  restless_.assign(awake_.size(), 0);
  rooted_.clear();
  touches_.slots.for_each([&](const auto& family) {
    for (const auto& colour : family.colours)
      for (std::size_t block = 0; block < colour.hot.size(); ++block)
        for (int lane = 0; lane < row_lanes; ++lane) {
          const int touch = colour.cold[block].touch.lane[lane];
          if (touch < 0) continue;
          const int a = colour.hot[block].a.lane[lane], b = colour.hot[block].b.lane[lane];
          if (bodies_.moves(a) && bodies_.moves(b)) hang_together_.join(place_[a], place_[b]);
          const int place = bodies_.moves(a) ? place_[a] : place_[b];
          rooted_.emplace_back(place, touch);
          // Kinematic bodies may begin to move at any time, and belts do.
          for (const int line : {a, b})
            if ((bodies_.goes(line) && !bodies_.moves(line)) || (model_.belt_count > 0 && runs(line))) restless_[place] = 1;
        }
  });
  joints_->for_each_awake([&](std::span<const int> bodies) {
    const int first = place_[line_of(bodies.front())];
    for (const int body : bodies) hang_together_.join(first, place_[line_of(body)]);
  });
}

void RealtimeStepper::fall_asleep(State& s, double h) {
  const double gravity = model_.gravity.norm();
  // Forces besides weight may begin at any time, and particles come and go.
  if (!(settings_.sleep_after > 0) || !(gravity > 0) || !model_.forces.empty() || model_.particle_count() > 0) return;
  Sleepers& sleepers = touches_.sleepers;
  const auto long_enough = static_cast<float>(settings_.sleep_after);
  bool some = false;
  for (const int row : bodies_.rows)
    for (int line = row * row_lanes; line < std::min((row + 1) * row_lanes, bodies_.count); ++line) {
      if (!bodies_.moves(line)) continue;
      const int body = body_of(line);
      // A ball's surface turns too, though that changes no contact. Without a shape nobody is ever still.
      const double arm = bodies_.arm[line / row_lanes].lane[line % row_lanes],
                   core = bodies_.core[line / row_lanes].lane[line % row_lanes], reach = std::isfinite(core) ? arm + core : 0;
      const double slow = still_share * still_share * gravity * reach;
      const bool still = s.v(body).squaredNorm() + reach * reach * s.omega(body).squaredNorm() < slow;
      sleepers.still[body] = still ? sleepers.still[body] + static_cast<float>(h) : 0;
      some = some || sleepers.still[body] >= long_enough;
    }
  if (++since_looked_ < looking_interval || !some) return;
  since_looked_ = 0;

  find_islands();
  const bool forced = forced_ && external_.size() == s.u.size();
  const auto driven = [&](int body) {
    const int group = joints_->group_of(line_of(body));
    return group >= 0 && joints_->driven(group);
  };
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k)
    if (restless_[k] != 0 || driven(awake_[k]) || sleepers.still[awake_[k]] < long_enough ||
        (forced && !external_.segment<6>(6 * awake_[k]).isZero(0)))
      restless_[hang_together_.root(k)] = 1;
  // Manifolds and bodies, set by set.
  for (auto& [root, touch] : rooted_) root = hang_together_.root(root);
  std::sort(rooted_.begin(), rooted_.end());
  auto touch = rooted_.begin();
  island_first_.clear();
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) island_first_.push_back(k);
  std::stable_sort(island_first_.begin(), island_first_.end(),
                   [&](int i, int j) { return hang_together_.root(i) < hang_together_.root(j); });
  bool slept = false;
  records_->quiet.clear();
  for (std::size_t k = 0; k < island_first_.size();) {
    const int root = hang_together_.root(island_first_[k]);
    island_bodies_.clear();
    island_touches_.clear();
    for (; k < island_first_.size() && hang_together_.root(island_first_[k]) == root; ++k)
      island_bodies_.push_back(awake_[island_first_[k]]);
    for (; touch != rooted_.end() && touch->first == root; ++touch) island_touches_.push_back(touch->second);
    if (restless_[root] != 0) continue;
    slept = true;
    for (const int number : island_touches_)
      if (touches_.presses(number)) {
        const auto [a, b] = touches_.bodies_of(number);
        records_->counts.change(a, b, -1);
        records_->quiet.push_back({std::min(a, b), std::max(a, b)});
      }
    for (const int body : island_bodies_) {
      s.u.segment<6>(6 * body).setZero();
      start_u_.segment<6>(6 * body).setZero();
      bodies_.set_mass(body, model_, true);
      bodies_.kick[line_of(body)] = {};
      bodies_.last[line_of(body)] = {};
      // From now on its neighbours compare with where it lies.
      const int row = line_of(body) / row_lanes, lane = line_of(body) % row_lanes;
      bodies_.expected[row].lane[lane] = bodies_.wandered[row].lane[lane];
    }
    touches_.put_to_sleep(island_bodies_, island_touches_);
  }
  if (!slept) return;
  records_->log.lay_aside(records_->quiet);
  touches_.forget_idle_pairs(bodies_);
  load_rows(s, bodies_.rows, bodies_);
  list_rows();
  joints_->sleep_with(sleepers);
}

bool RealtimeStepper::touching(int a, int b) const { return records_->log.touching(a, b) || touches_.press_asleep(a, b); }

}  // namespace rotule
