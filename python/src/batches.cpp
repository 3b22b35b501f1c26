// Many worlds of one scene, stepped by one call on all cores. Each is a world like any other, and no thread writes what is not
// its own: bits are those of worlds stepped one by one, on any number of threads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "interrupts.h"
#include "model/joint_kinds.h"
#include "world/world_implementation.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Rows = py::array_t<double, py::array::c_style | py::array::forcecast>;

Quantity quantity_named(const std::string& name) {
  static const std::array<std::pair<const char*, Quantity>, quantity_kinds> known{{
      {"positions", Quantity::positions},
      {"orientations", Quantity::orientations},
      {"centers_of_mass", Quantity::centers_of_mass},
      {"velocities", Quantity::velocities},
      {"angular_velocities", Quantity::angular_velocities},
      {"forces", Quantity::forces},
      {"joint_positions", Quantity::joint_positions},
      {"joint_rates", Quantity::joint_rates},
      {"particle_positions", Quantity::particle_positions},
      {"particle_velocities", Quantity::particle_velocities},
  }};
  std::string all;
  for (const auto& [word, quantity] : known) {
    if (name == word) return quantity;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  throw UnknownName("a batch cannot observe \"" + name + "\"; it can: " + all);
}

enum class Control : std::uint8_t { torque, speed, position };

Control control_named(const std::string& name) {
  if (name == "torque") return Control::torque;
  if (name == "speed") return Control::speed;
  if (name == "position") return Control::position;
  throw Error("control must be torque, speed or position, is " + name);
}

struct Gains {
  double strength = 0;                // N m, N: of speed
  double stiffness = 0, damping = 0;  // N m/rad, N m s/rad: of position
};

class Batch {
 public:
  Batch(const py::object& scene, int n, const py::object& recipe, const std::optional<std::vector<std::string>>& motors,
        const std::string& control, const Gains& gains, const std::vector<std::string>& observe, int threads)
      : control_(control_named(control)), gains_(gains), threads_(threads) {
    if (n < 1) throw py::value_error("a batch has at least one world");
    if (control_ == Control::speed && !(gains.strength > 0))
      throw Error("strength: must be greater than 0 where control is speed");
    if (control_ == Control::position && !(gains.stiffness > 0))
      throw Error("stiffness: must be greater than 0 where control is position");
    if (threads < 0) throw py::value_error("threads must not be negative; 0 takes all");
    const auto described = std::make_shared<const Scene>(scene_of(scene));
    const Recipe chosen = recipe_of(*described, recipe);
    worlds_.resize(static_cast<std::size_t>(n));
    at_once([&] {
      parallel_for(n, threads_,
                   [&](int i) { worlds_[static_cast<std::size_t>(i)] = std::make_shared<WorldHandle>(described, chosen); });
    });
    for (const auto& world : worlds_) static_cast<void>(world->coordinates());
    WorldHandle& first = *worlds_.front();
    actions_ = motors ? *motors : first.coordinate_names();
    for (const std::string& name : actions_) motors_.push_back(first.coordinate(name));
    for (const std::string& name : observe) observed_.push_back(quantity_named(name));
    for (const Quantity quantity : observed_) {
      py::ssize_t size = 1;
      for (const py::ssize_t k : first.extent(quantity)) size *= k;
      sizes_.push_back(size);
      width_ += size;
    }
    observations_ = py::array_t<double>({static_cast<py::ssize_t>(n), width_});
    memory_ = observations_.mutable_data();
    observations_.attr("flags").attr("writeable") = false;
    start_ = first.world().save();
    joints_ = implementation_of(first.world()).model.joints.size();
    bodies_ = implementation_of(first.world()).model.bodies.size();
    reports_.resize(worlds_.size());
    failures_.resize(worlds_.size());
    observe_all();
  }

  py::array_t<double> step(const std::optional<Rows>& actions, std::int64_t n) {
    if (n < 1) throw py::value_error("the number of steps must be at least 1");
    if (actions) check(*actions);
    const double* const given = actions ? actions->data() : nullptr;
    const std::vector<std::string> failed_before = failures_;
    const bool main = on_main_thread();
    std::int64_t done = 0;
    while (done < n) {
      {
        const std::vector<WorldHandle::AtWork> here = mark_all();
        if (main) listen_to_signals();
        const py::gil_scoped_release released;
        // Ctrl-C is heard between rounds, so that all worlds have always made the same number of steps.
        for (; done < n && !(main && done > 0 && interrupt_bell().rung()); ++done)
          parallel_for(static_cast<int>(worlds_.size()), threads_,
                       [&](int i) { advance(i, done == 0 ? given : nullptr, done == 0); });
      }
      if (done < n) {
        observe_all();
        answer_interrupt();
      }
    }
    observe_all();
    complain(failed_before);
    return observations_;
  }

  py::array_t<double> reset(const std::optional<std::vector<int>>& which) {
    std::vector<int> wanted;
    if (which)
      wanted = *which;
    else
      for (std::size_t i = 0; i < worlds_.size(); ++i) wanted.push_back(static_cast<int>(i));
    for (const int i : wanted) static_cast<void>(world(i));
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    {
      const std::vector<WorldHandle::AtWork> here = mark_all();
      at_once([&] {
        parallel_for(static_cast<int>(wanted.size()), threads_, [&](int k) {
          const auto i = static_cast<std::size_t>(wanted[static_cast<std::size_t>(k)]);
          // The bytes are enough where nothing came or went: the shape would make the stepper anew.
          worlds_[i]->world_at_work().load(fits(i) ? Snapshot{start_.bytes} : start_);
          failures_[i].clear();
          reports_[i] = {};
        });
      });
    }
    for (const int i : wanted) worlds_[static_cast<std::size_t>(i)]->reshaped();
    observe_all();
    return observations_;
  }

  const std::shared_ptr<WorldHandle>& world(int i) const {
    if (i < 0 || i >= static_cast<int>(worlds_.size()))
      throw py::index_error("the batch has worlds 0 to " + std::to_string(worlds_.size() - 1));
    return worlds_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::size_t size() const { return worlds_.size(); }
  [[nodiscard]] const std::vector<std::string>& actions() const { return actions_; }

  /// As the worlds stand now, changes by hand included.
  const py::array_t<double>& observations() {
    observe_all();
    return observations_;
  }
  py::array_t<std::uint64_t> state_hash() {
    std::vector<std::uint64_t> out;
    for (const auto& world : worlds_) out.push_back(world->world().state_hash());
    const auto count = static_cast<py::ssize_t>(out.size());
    return array_of(std::move(out), {count});
  }
  StepReport report(int i) const {
    static_cast<void>(world(i));
    return reports_[static_cast<std::size_t>(i)];
  }
  /// Which worlds failed, and why: number to message.
  py::dict failed() const {
    py::dict out;
    for (std::size_t i = 0; i < failures_.size(); ++i)
      if (!failures_[i].empty()) out[py::int_(i)] = failures_[i];
    return out;
  }

 private:
  std::vector<WorldHandle::AtWork> mark_all() {
    std::vector<WorldHandle::AtWork> out;
    out.reserve(worlds_.size());
    for (const auto& world : worlds_) out.emplace_back(*world);
    return out;
  }

  /// Whether the world still has the bodies and joints that it began with, as far as their number tells.
  bool fits(std::size_t i) const {
    const Model& model = implementation_of(worlds_[i]->world_at_work()).model;
    return model.joints.size() == joints_ && model.bodies.size() == bodies_;
  }

  void check(const Rows& actions) const {
    const auto n = static_cast<py::ssize_t>(worlds_.size()), m = static_cast<py::ssize_t>(motors_.size());
    if (actions.ndim() != 2 || actions.shape(0) != n || actions.shape(1) != m)
      throw py::value_error("actions must have the shape (" + std::to_string(n) + ", " + std::to_string(m) +
                            "): one row per world, one number per motor");
    for (py::ssize_t k = 0; k < n * m; ++k)
      if (!std::isfinite(actions.data()[k]))
        throw py::value_error("actions must be finite; that of world " + std::to_string(k / m) + ", motor \"" +
                              actions_[static_cast<std::size_t>(k % m)] + "\" is not");
  }

  /// One step of one world; one that failed stands still until it is reset.
  void advance(int number, const double* given, bool first) {
    const auto i = static_cast<std::size_t>(number);
    if (!failures_[i].empty()) return;
    World& world = worlds_[i]->world_at_work();
    try {
      if (!fits(i)) throw Error("bodies or joints came or went: its row no longer fits the batch");
      if (given) tell_motors(world, given + i * motors_.size());
      const StepReport& report = world.step();
      if (first)
        reports_[i] = report;
      else
        put_together(reports_[i], report);
      if (report.broken > 0) throw Error("a joint broke: its row no longer fits the batch");
    } catch (const Error& error) {
      failures_[i] = error.what();
    }
  }

  void tell_motors(World& world, const double* action) const {
    const WorldImplementation& w = implementation_of(world);
    for (std::size_t k = 0; k < motors_.size(); ++k) {
      const JointId joint = w.joint_slots.id(motors_[k].joint);
      const std::string_view axis = axis_names[static_cast<std::size_t>(motors_[k].axis)];
      switch (control_) {
        case Control::torque:
          world.set_motor(joint, MotorTorque{action[k]}, axis);
          break;
        case Control::speed:
          world.set_motor(joint, MotorSpeed{action[k], gains_.strength}, axis);
          break;
        case Control::position:
          world.set_motor(joint, MotorPosition{action[k], gains_.stiffness, gains_.damping}, axis);
          break;
      }
    }
  }

  /// Of a world that lost a joint or a body there is nothing to tell: its row is NaN.
  void observe_all() {
    parallel_for(static_cast<int>(worlds_.size()), threads_, [&](int number) {
      const auto i = static_cast<std::size_t>(number);
      double* out = memory_ + static_cast<py::ssize_t>(i) * width_;
      if (!fits(i)) {
        std::fill_n(out, width_, std::numeric_limits<double>::quiet_NaN());
        return;
      }
      worlds_[i]->changed();
      for (std::size_t k = 0; k < observed_.size(); out += sizes_[k++]) worlds_[i]->write(observed_[k], out);
    });
    for (std::size_t i = 0; i < worlds_.size(); ++i)
      if (!fits(i)) worlds_[i]->reshaped();
  }

  /// Tells of worlds that failed just now; the others went on.
  void complain(const std::vector<std::string>& before) const {
    std::string message;
    int count = 0;
    for (std::size_t i = 0; i < failures_.size(); ++i)
      if (!failures_[i].empty() && before[i].empty() && count++ == 0)
        message = "world " + std::to_string(i) + ": " + failures_[i];
    if (count > 1) message += "; and " + std::to_string(count - 1) + " more (Batch.failed)";
    if (count > 0) throw StepFailed(message);
  }

  std::vector<std::shared_ptr<WorldHandle>> worlds_;
  std::vector<std::string> actions_;
  std::vector<Coordinate> motors_;
  std::size_t joints_ = 0, bodies_ = 0;  // of each world
  std::vector<Quantity> observed_;
  std::vector<py::ssize_t> sizes_;  // numbers of each
  py::ssize_t width_ = 0;
  py::array_t<double> observations_;
  double* memory_ = nullptr;
  Control control_;
  Gains gains_;
  int threads_;
  Snapshot start_;
  std::vector<StepReport> reports_;
  std::vector<std::string> failures_;
};

}  // namespace

void add_batches(py::module_& module) {
  py::class_<Batch>(module, "Batch", "Worlds of one scene, stepped by one call on all cores; bits are those of single worlds.")
      .def(py::init([](const py::object& scene, int n, const py::object& recipe,
                       const std::optional<std::vector<std::string>>& motors, const std::string& control, double strength,
                       double stiffness, double damping, const std::vector<std::string>& observe, int threads) {
             return std::make_unique<Batch>(scene, n, recipe, motors, control, Gains{strength, stiffness, damping}, observe,
                                            threads);
           }),
           py::arg("scene"), py::arg("n"), py::arg("recipe") = py::none(), py::kw_only(), py::arg("motors") = py::none(),
           py::arg("control") = "torque", py::arg("strength") = 0.0, py::arg("stiffness") = 0.0, py::arg("damping") = 0.0,
           py::arg("observe") = std::vector<std::string>{"joint_positions", "joint_rates"}, py::arg("threads") = 0,
           "motors: axes that actions tell (World.coordinates; default: all). control: what an action is: \"torque\" (N m, N), "
           "\"speed\" "
           "(rad/s, m/s, by a motor of this strength) or \"position\" (rad, m, by a servo of this stiffness and damping). "
           "observe: names of "
           "World's arrays, side by side in a row. threads: 0 takes all.")
      .def("step", &Batch::step, py::arg("actions") = py::none(), py::arg("n") = 1,
           "Tells the motors (n worlds x m motors), moves all worlds on by n steps, and returns the observations: one row per "
           "world, "
           "the same read-only array each time. A world that fails raises StepError once all others are done, and stands still "
           "until reset.")
      .def("reset", &Batch::reset, py::arg("which") = py::none(), "Back to the start: all worlds, or those of these numbers.")
      .def_property_readonly("observations", &Batch::observations,
                             "of all worlds as they stand; read-only, kept up to date by step")
      .def_property_readonly("motors", &Batch::actions, "names of the axes that actions tell")
      .def("state_hash", &Batch::state_hash, "World.state_hash of each.")
      .def("report", &Batch::report, py::arg("world"), "What the last call's steps of a world did.")
      .def_property_readonly("failed", &Batch::failed, "worlds that failed since their last reset: number and message")
      .def("__getitem__", &Batch::world, py::arg("world"), "One of the worlds.")
      .def("__len__", &Batch::size);
}

}  // namespace rotule::python
