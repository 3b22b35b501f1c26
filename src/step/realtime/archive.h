#pragma once
// What an exact snapshot saves of the real-time stepper: all that its next step depends on besides the state. Trees and tables
// are made anew: nothing depends on their shape.
#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"

namespace rotule {

namespace realtime {

template <class Archive>
void Touches::archive(Archive& io) {
  for (ContactSlots* all : {&slots, &resting_})
    all->for_each([&](auto& family) {
      io(family.taken());
      for (auto& colour : family.colours) {
        io(colour.hot);
        io(colour.cold);
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
  if constexpr (!Archive::writes) restore();
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
  if constexpr (!Archive::writes) {
    forget();
    start_u_.resize(0);
    for (int i = 0; i < model_.body_count(); ++i) bodies_.set_mass(i, model_, touches_.sleepers.asleep(i));
    list_rows();
    joints_->sleep_with(touches_.sleepers);
  }
}

}  // namespace rotule
