#pragma once
// What an exact snapshot saves of the real-time stepper: all that its next step depends on besides the state. Trees and tables
// are made anew: nothing depends on their shape.
#include <algorithm>
#include <utility>

#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"
#include "step/realtime/soft/soft_solids.h"

namespace rotule {

namespace realtime {

template <class Archive>
void Touches::archive(Archive& io) {
  // Pairs know parts by numbers, which depend on who came and went: a stepper made anew has others.
  std::vector<std::pair<int, int>> parts;  // body, number in it
  if constexpr (Archive::writes)
    for (const Proxy& proxy : proxies_) parts.emplace_back(proxy.body, proxy.number);
  io(parts);
  if constexpr (!Archive::writes) {
    // The same parts, in whatever places.
    std::vector<std::pair<int, int>> here, there = parts;
    for (const Proxy& proxy : proxies_) here.emplace_back(proxy.body, proxy.number);
    for (auto* list : {&here, &there}) {
      std::erase_if(*list, [](const auto& part) { return part.first < 0; });
      std::sort(list->begin(), list->end());
    }
    require_fit(here == there);
    const auto same = [](const Proxy& proxy, const std::pair<int, int>& part) {
      return proxy.body == part.first && (proxy.body < 0 || proxy.number == part.second);
    };
    if (!std::equal(proxies_.begin(), proxies_.end(), parts.begin(), parts.end(), same)) {
      const std::vector<Proxy> before = std::exchange(proxies_, std::vector<Proxy>(parts.size()));
      const ProxyBoxes boxes = std::exchange(boxes_, {});
      const std::vector<int> first = std::exchange(first_proxy_, std::vector<int>(first_proxy_.size(), -1));
      boxes_.resize(static_cast<int>(parts.size()));
      endless_.clear();
      for (int to = 0; to < static_cast<int>(parts.size()); ++to) {
        const auto [body, number] = parts[to];
        int from = body < 0 ? -1 : first.at(body);
        while (from >= 0 && before[from].number != number) from = before[from].next;
        if (from < 0) continue;
        proxies_[to] = before[from];
        proxies_[to].leaf = -1;
        proxies_[to].next = std::exchange(first_proxy_[body], to);
        if (proxies_[to].form->endless) endless_.push_back(to);
        const int row = to / row_lanes, lane = to % row_lanes, old_row = from / row_lanes, old_lane = from % row_lanes;
        const auto copy = [&](Rows3& rows, const Rows3& old) {
          put(rows, lane, old.x.lane[old_lane], old.y.lane[old_lane], old.z.lane[old_lane]);
        };
        boxes_.line[row].lane[lane] = boxes.line[old_row].lane[old_lane];
        copy(boxes_.centre[row], boxes.centre[old_row]);
        copy(boxes_.half[row], boxes.half[old_row]);
        boxes_.rounding[row].lane[lane] = boxes.rounding[old_row].lane[old_lane];
        boxes_.fat[row].lane[lane] = boxes.fat[old_row].lane[old_lane];
      }
    }
  }
  for (ContactSlots* all : {&slots, &resting_})
    all->for_each([&](auto& family) {
      archive_sized(io, family.taken());
      for (auto& colour : family.colours) {
        io(colour.hot);
        io(colour.cold);
        io(colour.extras);
        io(colour.count);
      }
    });
  io(resting_count_);
  sleepers.archive(io);
  io(woken);
  io(woken_pairs);
  io(boxes_.low);
  io(boxes_.high);
  io(pairs_);
  io(touches_);
  io(apart_);
  io(sensing_);
  io(free_pairs_);
  io(free_touches_);
  io(free_proxies_);
  io(points_);
  io(begun_);
  if constexpr (!Archive::writes) {
    require_fit(fits());
    restore();
  }
}

}  // namespace realtime

template <class Archive>
void RealtimeStepper::archive(Archive& io) {
  // Contacts that ended since the last step are among the changes that wait for the next one.
  for (const auto& [a, b] : touches_.ended) records_->counts.change(a, b, -1);
  touches_.ended.clear();
  io(totals);
  io(evaluations_);
  io(last_h_);
  io(loaded_);
  io(found_);
  io(bodies_.wandered);
  io(bodies_.pose);
  io(bodies_.load);
  io(bodies_.burden);
  io(since_looked_);
  weighing_.archive(io);
  touches_.archive(io);
  joints_->archive(io);
  records_->archive(io);
  soft_->archive(io);
  if constexpr (!Archive::writes) {
    const auto lines = static_cast<std::size_t>(bodies_.count),
               rows = static_cast<std::size_t>(realtime::rows_for(bodies_.count));
    require_fit(bodies_.pose.size() >= lines && bodies_.wandered.size() >= rows && bodies_.load.size() >= rows &&
                bodies_.burden.size() >= rows && records_->fits(model_.body_count()) && soft_->fits());
    forget();
    start_u_.resize(0);
    for (int i = 0; i < model_.body_count(); ++i) bodies_.set_mass(i, model_, touches_.sleepers.asleep(i));
    list_rows();
    joints_->sleep_with(touches_.sleepers);
  }
}

}  // namespace rotule
