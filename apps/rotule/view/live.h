#pragma once
// A world that people watch: steps it, keeps its past, and lets them pull at bodies, throw balls and change the recipe.
//
// Dragging is a spring from a point of the body to the pointer, F = k (to - x) - c v, applied as a constant force over each step.
// It is stable where k h^2 and c h stay small against the least mass m that the point can have (that of the body alone, for any
// direction: joints only add to it): k = min(M w^2, m / (10 h^2)), c = min(2 M w, m / (2 h)), with w = 12 rad/s and M the
// geometric mean of the body's mass and that of all that hangs together by joints. No more than 30 m/s^2 times the latter is
// exerted.
#include <rotule/world.h>

#include <map>
#include <optional>
#include <utility>

#include "history.h"
#include "record/problem_file.h"
#include "scene_message.h"
#include "show.h"

namespace rotule::app {

/// Somebody's hold on a body.
struct Grip {
  int body = 0;
  Vec3 at = Vec3::Zero();  // in the body's frame
  Vec3 to = Vec3::Zero();  // in the world
};

class Live final : public Show {
 public:
  /// `generation` is that of its first frames.
  Live(std::string name, Scene scene, std::uint16_t generation, std::size_t history_bytes = std::size_t{256} << 20);
  /// A recording of problems that is still going on is ended as it should be.
  ~Live() override;

  /// Steps once, without making a frame. Throws Error where the run leaves the realm of numbers; Interrupted, the step not made,
  /// where somebody rang.
  void step();
  /// Steps that the recipe's budget cut short since this was last asked, and the largest residual that was left.
  struct Cuts {
    int steps = 0;
    double residual = 0;
  };
  Cuts take_cuts() { return std::exchange(cuts_, {}); }
  /// Makes a frame of the present moment, with what `parts` ask for; afterwards it is `last()`.
  void capture(unsigned parts);

  /// Whoever `who` is pulls at one body at a time. Throws Error where there is no such body, or it is fixed.
  void drag(std::uint64_t who, const Grip& grip);
  void release(std::uint64_t who);
  /// Brings a point of a body to a place, or as near as its joints and their stops let it, and leaves all at rest there (A9).
  /// Throws Error as `drag` does.
  void pose(const Grip& grip);
  /// The damped modes of the present pose, slowest first; with `shape`, how one of them moves bodies and particles. Throws Error
  /// where the scene is too large for it, or there is no such mode.
  [[nodiscard]] nlohmann::ordered_json modes(std::optional<int> shape) const;
  /// A new ball; frames belong to a new generation from now on.
  void throw_ball(const Vec3& from, const Vec3& velocity, double radius, double mass);
  /// Sets fields of the recipe by their dotted names. Throws Error, and changes nothing, where one is refused.
  void change_recipe(const std::vector<std::pair<std::string, std::string>>& changes);
  /// The recipe of a setting of the dial, or of an accuracy, from now on. Throws Error, and changes nothing, where none fits.
  void turn_dial(const Turned& wish);
  /// The recipe that it has was made for this.
  void note_dial(const Turned& wish);
  /// It was chosen for those who watch, in place of the scene's own: whoever comes is told.
  void note_real_time();
  /// What whoever comes should know of how the scene is shown; empty where there is nothing.
  [[nodiscard]] const std::string& remark() const { return remark_; }

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Scene& definition() const { return scene_; }
  [[nodiscard]] std::uint16_t generation() const { return generation_; }
  void set_bounds(const Bounds& bounds);
  /// The plane of the fluid that is shown: across an axis (0 to 2), at a coordinate. Throws Error where there is none.
  void set_slice(int axis, double at);
  /// Begins to record every step's constraint problems to a new file in the present folder, or ends it; says what it did.
  std::string record_problems();

  [[nodiscard]] std::int64_t first() const override { return history_.first(); }
  [[nodiscard]] std::int64_t last() const override { return history_.last(); }
  [[nodiscard]] double time(std::int64_t frame) const override { return history_.time(frame); }
  std::shared_ptr<const ViewFrame> frame(std::int64_t frame) override;
  [[nodiscard]] std::shared_ptr<const std::string> scene(std::uint16_t generation) const override;
  nlohmann::ordered_json body(int body, std::int64_t frame) override;
  [[nodiscard]] int bodies() const override;
  [[nodiscard]] double duration() const override { return scene_.recipe.duration; }
  [[nodiscard]] double pace() const override { return natural_pace(world_.recipe().dt, scene_.recipe.duration); }

 private:
  void require_movable(const char* who, int body) const;
  void pull();
  void describe();
  void keep_books(unsigned parts);
  void add_loads(ViewFrame& out);

  std::string name_;
  Scene scene_;
  World world_;
  History history_;
  Bounds bounds_;
  ViewQuanta quanta_;
  std::uint16_t generation_;
  std::map<std::uint16_t, std::shared_ptr<const std::string>> scenes_;  // by generation
  std::map<std::uint64_t, Grip> grips_;
  std::vector<double> joined_mass_;  // kg, per body: of all that joints tie it to
  std::vector<Vec3> centers_;        // of mass, in the bodies' frames
  std::vector<int> pulled_;          // bodies on which a force was set
  std::shared_ptr<const ViewFrame> newest_;
  std::vector<double> positions_, orientations_;
  std::vector<ContactResult> contacts_;
  std::vector<double> loads_;
  int balls_ = 0;
  FluidPlane plane_;  // of the fluid
  std::array<float, 3> fluid_scale_{};
  Diagnostics ledger_;
  std::uint16_t ledger_generation_ = 0;
  double ledger_ms_ = 0, stepped_ms_ = 0;  // what the last ledger took; what steps took since then
  int frames_without_ledger_ = 0;
  // Since the last frame: sums of what steps tell, in the list's order; what they took; how many.
  std::array<double, quantity_count> step_sums_{};
  double ms_ = 0;
  int steps_ = 0;
  Cuts cuts_;
  std::optional<ProblemWriter> problems_;
  std::string problems_file_;
  std::int64_t problems_count_ = 0;
  Turned dial_;  // until a field of the recipe is changed by itself
  std::string remark_;
};

/// Gives steps a budget of time where the recipe has none, so that frames keep coming: dt, but not below what a few sweeps over a
/// large scene take, nor above what leaves room for 30 frames a second. On a machine that is busy with other things Live
/// stretches it, and makes steps again that were cut short by others: what those take of the clock would else be missing in the
/// answers, blows would have other speeds, and walls would fall.
void keep_to_the_clock(Recipe& recipe);
/// Where bodies touch and the real-time stepper knows all of the scene, those who watch get it, but for a few bodies that bounce
/// hard; whether that is so.
bool watch_in_real_time(Scene& scene);

}  // namespace rotule::app
