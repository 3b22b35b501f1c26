#include "session.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "../commands.h"
#include "model/realtime_scope.h"

namespace rotule::app {
namespace {

using Seconds = std::chrono::duration<double>;
using namespace std::chrono_literals;

constexpr auto tick_length = std::chrono::nanoseconds(16'666'667);  // 60 frames a second
constexpr auto most_work = 25ms;             // of stepping within a tick, so that commands are heard and 30 frames a second come
constexpr int most_waiting_messages = 2000;  // messages of one viewer

/// Whether a step in progress is broken off for it: it would be of no use afterwards, or nobody should wait.
bool is_urgent(const Command& command) {
  return std::holds_alternative<ask::Pause>(command) || std::holds_alternative<ask::Change>(command) ||
         std::holds_alternative<ask::Turn>(command) || std::holds_alternative<ask::Restart>(command) ||
         std::holds_alternative<ask::Open>(command) || std::holds_alternative<ask::Seek>(command);
}

/// The shipped scenes with a line on each.
std::shared_ptr<const std::string> scenes_text() {
  Json list = Json::array();
  for (const std::string& name : scene_names()) {
    try {
      list.push_back({{"name", name}, {"about", find_scene(name, true).scene.description}});
    } catch (const Error&) {
      // A file that is no scene is not offered.
    }
  }
  return std::make_shared<const std::string>(
      Json{{"say", "scenes"}, {"scenes", std::move(list)}}.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

Session::Session(std::unique_ptr<Live> live, std::unique_ptr<Replay> replay, const SessionOptions& options)
    : live_(std::move(live)), replay_(std::move(replay)), options_(options), playing_(options.playing) {}

void Session::start(Server& server) {
  server_ = &server;
  greeting_.frame = show().frame(show().first());
  generation_ = greeting_.frame->generation;
  greeting_.scene = show().scene(generation_);
  speed_ = show().pace();
  thread_ = std::thread([this] { loop(); });
}

void Session::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    bell_.ring();
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Session::joined(ViewerId viewer) {
  const std::lock_guard lock(mutex_);
  server_->say(viewer, greeting_.scene, Say::scene);
  server_->show(viewer, greeting_.frame);
  events_.push_back({viewer, Joined{}});
  wake_.notify_all();
}

void Session::left(ViewerId viewer) {
  const std::lock_guard lock(mutex_);
  events_.push_back({viewer, Left{}});
  wake_.notify_all();
}

void Session::ask(ViewerId viewer, Command command) {
  const std::lock_guard lock(mutex_);
  if (++waiting_[viewer] > most_waiting_messages) throw Error("too many messages at once");
  if (is_urgent(command)) bell_.ring();
  events_.push_back({viewer, std::move(command)});
  wake_.notify_all();
}

void Session::loop() {
  anchor();
  next_tick_ = next_state_ = next_bodies_ = Clock::now();
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (events_.empty()) wake_.wait_until(lock, next_tick_, [&] { return ending_ || !events_.empty(); });
    std::deque<Event> now;
    now.swap(events_);
    waiting_.clear();
    if (!ending_) bell_.silence();  // whoever rang is among them
    lock.unlock();
    for (const Event& event : now) handle(event);
    try {
      if (Clock::now() >= next_tick_) tick();
    } catch (const Error& error) {
      finish(error.what());
    }
    lock.lock();
  }
}

// Time of the show and of the clock are tied together here.
void Session::anchor() {
  anchor_time_ = show().time(shown_);
  anchor_clock_ = Clock::now();
}

void Session::handle(const Event& event) {
  try {
    take(event);
  } catch (const Error& error) {
    say_text(event.viewer, "error", error.what());
  }
}

void Session::take(const Event& event) {
  if (std::holds_alternative<Joined>(event.what)) {
    if (viewers_.empty()) anchor();  // nothing moved while nobody watched
    viewers_.try_emplace(event.viewer);
    say_state();
    if (!scenes_text_) scenes_text_ = scenes_text();
    server_->say(event.viewer, scenes_text_);
    if (live_) {
      for (const std::string& warning : live_->world().warnings()) say_text(event.viewer, "warning", warning);
      if (!live_->remark().empty()) say_text(event.viewer, "warning", live_->remark());
    }
  } else if (std::holds_alternative<Left>(event.what)) {
    viewers_.erase(event.viewer);
    if (live_) live_->release(event.viewer);
  } else if (viewers_.contains(event.viewer)) {
    obey(event.viewer, std::get<Command>(event.what));
  }
}

Live& Session::world() {
  if (!live_) throw Error("this is a recording: it can be looked at, not changed; open a scene to simulate");
  return *live_;
}

void Session::to_the_present() {
  if (behind()) show_frame(show().last());
  anchor();
}

void Session::obey(ViewerId viewer, const Command& command) {
  const auto restarted = [&](const std::string& name, Scene scene) {
    restart(std::make_unique<Live>(name, std::move(scene), static_cast<std::uint16_t>(generation_ + 1)));
  };
  struct Visitor {
    Session& s;
    ViewerId viewer;
    decltype(restarted)& restart_as;

    void operator()(const ask::Play&) {
      if (s.replay_ && !s.behind()) s.show_frame(s.show().first());  // from the start again
      if (s.finished_ && !s.behind()) throw Error("the run is over; restart it");
      s.playing_ = true;
      s.steps_left_ = 0;
      s.anchor();
    }
    void operator()(const ask::Pause&) {
      s.playing_ = false;
      s.steps_left_ = 0;
    }
    void operator()(const ask::Step& step) {
      s.playing_ = false;
      s.step_by(step.count);
    }
    void operator()(const ask::Speed& speed) {
      s.speed_ = speed.factor;
      s.anchor();
    }
    void operator()(const ask::Seek& seek) {
      s.steps_left_ = 0;
      s.show_frame(s.show().at(seek.time));
      s.anchor();
    }
    void operator()(const ask::Restart&) {
      if (s.live_) return restart_as(s.live_->name(), s.live_->definition());
      s.show_frame(0);
      s.playing_ = true;
      s.anchor();
    }
    void operator()(const ask::Open& open) {
      // Names alone: a page cannot make the program read other files.
      const std::vector<std::string> known = scene_names();
      if (std::find(known.begin(), known.end(), open.scene) == known.end()) throw Error("open", "there is no scene of that name");
      NamedScene named = find_scene(open.scene);
      const bool real_time = watch_in_real_time(named.scene);
      keep_to_the_clock(named.scene.recipe);
      restart_as(named.name, std::move(named.scene));
      if (real_time) {
        s.live_->note_real_time();
        s.show_scene();
        s.say_text(all_viewers, "warning", s.live_->remark());
        s.show_frame(s.shown_);
      }
      s.speed_ = s.live_->pace();
    }
    void operator()(const ask::Pick& pick) {
      if (pick.body >= s.show().bodies()) throw Error("pick", "there is no such body");
      s.viewers_[viewer].picked = pick.body;
      s.next_bodies_ = {};
    }
    void operator()(const ask::Pull& pull) {
      Live& live = s.world();
      s.to_the_present();
      live.drag(viewer, {pull.body, pull.at, pull.to});
    }
    void operator()(const ask::Pose& pose) {
      Live& live = s.world();
      s.to_the_present();
      s.playing_ = false;
      s.steps_left_ = 0;
      live.pose({pose.body, pose.at, pose.to});
      live.capture(s.wanted_parts());
      s.show_frame(live.last());
    }
    void operator()(const ask::Modes& modes) {
      Live& live = s.world();
      s.to_the_present();
      s.playing_ = false;
      s.steps_left_ = 0;
      s.server_->say(viewer, std::make_shared<const std::string>(live.modes(modes.shape).dump()));
    }
    void operator()(const ask::Release&) {
      if (s.live_) s.live_->release(viewer);
    }
    void operator()(const ask::Throw& ball) {
      Live& live = s.world();
      s.to_the_present();
      live.throw_ball(ball.from, ball.velocity, ball.radius, ball.mass);
      live.capture(s.wanted_parts());
      s.show_frame(live.last());
      if (std::holds_alternative<NoContactSettings>(live.world().recipe().contacts))
        s.say_text(viewer, "warning", "contacts are off in this recipe: the ball passes through; choose contacts: cone");
    }
    void operator()(const ask::Record&) {
      Live& live = s.world();
      s.say_text(all_viewers, "warning", live.record_problems());
    }
    void operator()(const ask::Change& change) {
      Live& live = s.world();
      s.to_the_present();
      live.change_recipe(change.fields);
      s.show_scene();
      s.show_frame(s.shown_);
    }
    void operator()(const ask::Turn& turn) {
      Live& live = s.world();
      s.to_the_present();
      live.turn_dial({turn.setting, turn.accuracy});
      if (turn.setting == name_of(Dial::realtime))
        if (const std::string why = why_not_realtime(live.definition(), live.world().recipe()); !why.empty())
          s.say_text(viewer, "warning", why);
      s.show_scene();
      s.show_frame(s.shown_);
    }
    void operator()(const ask::Parts& parts) {
      s.viewers_[viewer].parts = parts.parts;
      s.server_->set_parts(viewer, parts.parts);
      if (s.live_ && !s.playing_ && !s.behind()) {  // the frame on show was made without them
        s.live_->capture(s.wanted_parts());
        s.shown_ = s.live_->last();
      }
      s.show_frame(s.shown_);
    }
    void operator()(const ask::Slice& slice) {
      Live& live = s.world();
      s.to_the_present();
      live.set_slice(slice.axis, slice.at);
      live.capture(s.wanted_parts());
      s.show_scene();
      s.show_frame(live.last());
    }
    void operator()(const ask::Key&) {
      s.server_->want_key(viewer);
      s.show_frame(s.shown_, viewer);
    }
  };
  std::visit(Visitor{*this, viewer, restarted}, command);
  state_changed_ = true;
}

void Session::restart(std::unique_ptr<Live> fresh) {
  live_ = std::move(fresh);
  replay_.reset();
  finished_ = false;
  playing_ = true;
  steps_left_ = 0;
  for (auto& [id, viewer] : viewers_) viewer.picked = -1;
  show_frame(live_->last());
  anchor();
}

void Session::step_by(int count) {
  // In the past, to later frames; then on.
  const std::int64_t ahead = std::min<std::int64_t>(count, show().last() - shown_);
  if (ahead > 0) show_frame(shown_ + ahead);
  if (!live_ || ahead >= count) return;
  if (finished_) throw Error("the run is over; restart it");
  steps_left_ = count - static_cast<int>(ahead);
  go_on_stepping();
}

/// A slice of the steps that were asked for: others are heard in between.
void Session::go_on_stepping() {
  const auto begun = Clock::now();
  bool stepped = false;
  try {
    const Budget listening(bell_);
    while (steps_left_ > 0 && !(stepped && Clock::now() - begun > most_work)) {
      live_->step();
      --steps_left_;
      stepped = true;
    }
  } catch (const Interrupted&) {
    // Somebody cannot wait; what was stepped is shown.
  } catch (const Error& error) {
    steps_left_ = 0;
    return finish(error.what());
  }
  if (!stepped) return;
  live_->capture(wanted_parts());
  show_frame(live_->last());
  state_changed_ = true;
}

void Session::finish(const std::string& why) {
  finished_ = true;
  playing_ = false;
  state_changed_ = true;
  say_text(all_viewers, "end", why);
}

void Session::tick() {
  const auto now = Clock::now();
  next_tick_ = std::max(next_tick_ + tick_length, now);
  if (viewers_.empty()) {
    next_tick_ = now + 100ms;
    return;
  }
  if (state_changed_) say_state();  // before a step that may last
  if (playing_) {
    const double until = anchor_time_ + speed_ * Seconds(now - anchor_clock_).count();
    if (behind()) replay(until);
    if (playing_ && !behind() && finished_) {
      playing_ = false;
      state_changed_ = true;
    }
    if (playing_ && !behind() && live_) simulate(until);
  } else if (steps_left_ > 0) {
    go_on_stepping();
  }
  if (state_changed_ || now >= next_state_) say_state();
  if (now >= next_bodies_) say_bodies();
}

void Session::replay(double until) {
  const std::int64_t target = std::max(shown_, show().at(until));
  if (target != shown_) show_frame(target);
  if (behind()) return;
  if (!live_) {
    playing_ = false;
    state_changed_ = true;
    say_text(all_viewers, "end", "the recording is over");
  }
}

void Session::simulate(double until) {
  const double h = live_->world().recipe().dt;
  const double end = options_.duration.value_or(infinity);
  const auto begun = Clock::now();
  bool stepped = false;
  try {
    try {
      const Budget listening(bell_);
      auto before = begun;
      while (live_->world().time() + 0.5 * h < std::min(until, end)) {
        live_->step();
        stepped = true;
        const auto now = Clock::now();
        if (now - begun + (now - std::exchange(before, now)) > most_work) break;  // another one would take too long
      }
    } catch (const Interrupted&) {
      // Somebody cannot wait; what was stepped is shown.
    }
    if (!stepped && live_->world().time() + 0.5 * h < end) return;
    if (stepped) {
      live_->capture(wanted_parts());
      show_frame(live_->last());
    }
  } catch (const Error& error) {
    return finish(error.what());
  }
  if (live_->world().time() + 0.5 * h >= end) return finish("the run is over");
  // What could not be done in time is not made up for: the show is slower then.
  if (until - live_->world().time() > std::max(h, speed_ * 0.05)) anchor();
}

void Session::show_frame(std::int64_t number, ViewerId viewer) {
  const std::shared_ptr<const ViewFrame> frame = show().frame(number);
  shown_ = number;
  if (frame->generation != generation_) {
    generation_ = frame->generation;
    show_scene();
    viewer = all_viewers;
  }
  {
    const std::lock_guard lock(mutex_);
    greeting_.frame = frame;
  }
  server_->show(viewer, frame);
}

void Session::show_scene() {
  const std::shared_ptr<const std::string> scene = show().scene(generation_);
  {
    const std::lock_guard lock(mutex_);
    greeting_.scene = scene;
  }
  server_->say(all_viewers, scene, Say::scene);
}

void Session::say_state() {
  state_changed_ = false;
  next_state_ = Clock::now() + 250ms;
  const Live::Cuts cuts = live_ ? live_->take_cuts() : Live::Cuts{};
  const Json state = {{"say", "state"},
                      {"playing", playing_},
                      {"cut_steps", cuts.steps},
                      {"cut_residual", cuts.residual},
                      {"speed", speed_},
                      {"time", show().time(shown_)},
                      {"live_end", show().time(show().last())},
                      {"history_start", show().time(show().first())},
                      {"duration", options_.duration.value_or(show().duration())}};
  server_->say(all_viewers, std::make_shared<const std::string>(state.dump()), Say::state);
}

void Session::say_bodies() {
  next_bodies_ = Clock::now() + 100ms;
  for (const auto& [id, viewer] : viewers_) {
    if (viewer.picked < 0) continue;
    const Json body = show().body(viewer.picked, shown_);
    if (!body.is_null()) server_->say(id, std::make_shared<const std::string>(body.dump()), Say::body);
  }
}

void Session::say_text(ViewerId viewer, const char* kind, const std::string& text) {
  const Json message = {{"say", kind}, {"text", text}};
  server_->say(viewer, std::make_shared<const std::string>(message.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

unsigned Session::wanted_parts() const {
  unsigned parts = 0;
  for (const auto& [id, viewer] : viewers_) parts |= viewer.parts;
  return parts;
}

}  // namespace rotule::app
