#pragma once
// Where the time of a step goes: seconds by stage, measured on the thread that makes the step. Stages nest, and every moment
// counts for the innermost one. It runs only during a `Run`, and only where somebody asked for it (`wanted`): reading
// the clock costs some 25 ns, which a step of a pendulum would feel.
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace rotule {

enum class Stage : std::uint8_t { collide, forces, solve, correct, move };
inline constexpr int stage_count = 5;
inline constexpr std::array<std::string_view, stage_count> stage_names{"collide", "forces", "solve", "correct", "move"};

class StageClock {
 public:
  bool wanted = false;

  /// Of the last step, one per stage.
  [[nodiscard]] const std::array<double, stage_count>& seconds() const { return seconds_; }

  /// From here to the end of the block is one step.
  class Run {
   public:
    explicit Run(StageClock& clock) : clock_(clock) {
      clock.running_ = clock.wanted;
      if (!clock.running_) return;
      clock.seconds_.fill(0);
      clock.now_ = Stage::move;
      clock.since_ = std::chrono::steady_clock::now();
    }
    ~Run() {
      if (clock_.running_) clock_.enter(Stage::move);
      clock_.running_ = false;
    }
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;

   private:
    StageClock& clock_;
  };

  /// The time of a block counts for a stage.
  class Scope {
   public:
    Scope(StageClock& clock, Stage stage) : clock_(clock), outer_(clock.running_ ? clock.enter(stage) : stage) {}
    ~Scope() {
      if (clock_.running_) clock_.enter(outer_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    StageClock& clock_;
    Stage outer_;
  };

 private:
  Stage enter(Stage stage) {
    const auto time = std::chrono::steady_clock::now();
    seconds_[static_cast<std::size_t>(now_)] += std::chrono::duration<double>(time - since_).count();
    since_ = time;
    const Stage before = now_;
    now_ = stage;
    return before;
  }

  bool running_ = false;
  Stage now_ = Stage::move;
  std::chrono::steady_clock::time_point since_;
  std::array<double, stage_count> seconds_{};
};

}  // namespace rotule
