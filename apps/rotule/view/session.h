#pragma once
// The thread on which everything moves: takes what viewers ask for in order, steps the world at the pace of the clock, goes back
// and forth in the past, and hands frames to the server. The server's thread only puts messages into its queue.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/budget.h"
#include "command.h"
#include "live.h"
#include "replay.h"
#include "server.h"

namespace rotule::app {

struct SessionOptions {
  std::optional<double> duration;  // s: where a live run stops; else it goes on
  bool playing = true;             // from the start
};

class Session {
 public:
  /// Shows a live world or a recording; exactly one of them is given.
  Session(std::unique_ptr<Live> live, std::unique_ptr<Replay> replay, const SessionOptions& options);
  ~Session() { end(); }

  /// Starts the thread; `server` must live until `end`.
  void start(Server& server);
  void end();
  /// For the farewell, after `end`: null for a recording.
  [[nodiscard]] const Live* live() const { return live_.get(); }

  // From the server's thread.
  void joined(ViewerId viewer);
  void left(ViewerId viewer);
  /// Throws Error where the viewer asks faster than can be answered.
  void ask(ViewerId viewer, Command command);

 private:
  using Clock = std::chrono::steady_clock;
  struct Joined {};
  struct Left {};
  struct Event {
    ViewerId viewer;
    std::variant<Joined, Left, Command> what;
  };
  struct ViewerState {
    unsigned parts = 0;
    int picked = -1;
  };

  void loop();
  void handle(const Event& event);
  void take(const Event& event);
  void obey(ViewerId viewer, const Command& command);
  void tick();
  void simulate(double until);
  void replay(double until);
  void step_by(int count);
  void go_on_stepping();
  void finish(const std::string& why);
  void restart(std::unique_ptr<Live> fresh);
  void to_the_present();
  Live& world();

  void anchor();
  void show_frame(std::int64_t number, ViewerId viewer = all_viewers);
  void show_scene();
  void say_state();
  void say_bodies();
  void say_text(ViewerId viewer, const char* kind, const std::string& text);
  [[nodiscard]] unsigned wanted_parts() const;
  [[nodiscard]] Show& show() const { return live_ ? static_cast<Show&>(*live_) : *replay_; }
  [[nodiscard]] bool behind() const { return shown_ < show().last(); }

  std::unique_ptr<Live> live_;
  std::unique_ptr<Replay> replay_;
  SessionOptions options_;
  Server* server_ = nullptr;
  std::thread thread_;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Event> events_;
  std::map<ViewerId, int> waiting_;  // events of each viewer
  /// What new viewers are given at once, even while a step lasts: the scene and the frame that all have.
  struct Greeting {
    std::shared_ptr<const std::string> scene;
    std::shared_ptr<const ViewFrame> frame;
  } greeting_;
  bool ending_ = false;
  Bell bell_;  // rung for those who cannot wait for a step to end

  // Only the thread's own from here on.
  std::map<ViewerId, ViewerState> viewers_;
  bool playing_ = true, finished_ = false, state_changed_ = true;
  double speed_ = 1;
  int steps_left_ = 0;            // of those that somebody asked for
  std::int64_t shown_ = 0;        // frame
  std::uint16_t generation_ = 0;  // that viewers have the scene of
  double anchor_time_ = 0;
  Clock::time_point anchor_clock_, next_tick_, next_state_, next_bodies_;
  std::shared_ptr<const std::string> scenes_text_;
};

}  // namespace rotule::app
