#pragma once
// A world as Python holds it: the engine's, the scene that it was made of, and arrays that follow its state.
//
// An array is made when it is first asked for, and belongs to NumPy: whoever holds it may keep it for as long as he likes. Steps
// and changes of the state write the new numbers into it. Where bodies or joints come or go it is let go, with the numbers of
// that moment, and the next question makes another. The engine's own memory is not shown: integrators exchange it between steps,
// and what was a view of it would become one of something else.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "module.h"

namespace rotule::python {

/// What there are arrays of.
enum class Quantity : std::uint8_t {
  positions,
  orientations,
  centers_of_mass,
  velocities,
  angular_velocities,
  forces,
  joint_positions,
  joint_rates,
  particle_positions,
  particle_velocities,
};
inline constexpr std::size_t quantity_kinds = 10;

/// A free axis of a joint, by its places in the model.
struct Coordinate {
  int joint = 0, axis = 0;
};

class WorldHandle {
 public:
  /// Needs no lock.
  WorldHandle(std::shared_ptr<const Scene> of, const Recipe& recipe) : scene(std::move(of)), world_(*scene, recipe) {}

  std::shared_ptr<const Scene> scene;

  /// The world; throws Error where another thread is stepping it.
  World& world();
  /// Moves on by n steps, without the interpreter's lock; h of NaN means the recipe's. What the steps say is put together.
  StepReport step(std::int64_t n, double h);
  /// The state was changed by hand: arrays follow.
  void changed();
  /// Bodies, joints or forces came or went.
  void reshaped();

  /// Read-only.
  const py::object& array(Quantity quantity);
  /// Writes the numbers of a quantity; without the lock too.
  void write(Quantity quantity, double* out);
  /// How many numbers that is.
  std::vector<py::ssize_t> extent(Quantity quantity);
  /// All free axes, in the order of the joints: "elbow" where there is one, else "shoulder.rx"; without the lock too.
  const std::vector<Coordinate>& coordinates();
  std::vector<std::string> coordinate_names();
  /// By such a name. Throws UnknownName.
  Coordinate coordinate(const std::string& name);

  /// Marks the world as at work, with the lock held on both ends.
  class AtWork {
   public:
    explicit AtWork(WorldHandle& handle) : handle_(&handle) {
      static_cast<void>(handle.world());
      handle.working_ = true;
    }
    ~AtWork() {
      if (handle_) handle_->working_ = false;
    }
    AtWork(AtWork&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    AtWork& operator=(AtWork&&) = delete;

   private:
    WorldHandle* handle_;
  };
  /// For who has marked it.
  World& world_at_work() { return world_; }

 private:
  World world_;
  bool working_ = false;
  /// Null until it is asked for.
  struct Following {
    py::object array;
    double* data = nullptr;
  };
  std::array<Following, quantity_kinds> arrays_;
  std::vector<Coordinate> coordinates_;
  bool coordinates_known_ = false;
};

using WorldClass = py::class_<WorldHandle, std::shared_ptr<WorldHandle>>;
/// The class, once add_worlds has made it.
WorldClass world_class(py::module_& module);

}  // namespace rotule::python
