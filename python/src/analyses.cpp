// What can be asked of a scene besides its motion: the doctor, small motions about a pose, equilibrium.
#include <pybind11/complex.h>
#include <rotule/analyse.h>
#include <rotule/state_space.h>

#include "interrupts.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Handle = WorldHandle;

void add_doctor(py::module_& module) {
  Record<Remark> remark(module, "Remark", "Something that a user should know, with the number that gave it away.");
  remark.field("kind", &Remark::kind, "contacts_off, motor_without_strength ...")
      .value(
          "grade",
          [](const Remark& r) {
            return std::string(r.grade == Remark::Grade::grave     ? "grave"
                               : r.grade == Remark::Grade::warning ? "warning"
                                                                   : "note");
          },
          "note, warning or grave")
      .field("text", &Remark::text, "a sentence")
      .field("flags", &Remark::flags, "settings that mend it, as the program takes them")
      .value(
          "edits",
          [](const Remark& r) {
            py::list out;
            for (const Remark::Edit& edit : r.edits) out.append(py::make_tuple(edit.place, from_json(edit.value)));
            return out;
          },
          "or changes of the scene that do: (place, value) each");
  Record<Checkup>(module, "Checkup", "What the mechanism doctor found.")
      .field("bodies", &Checkup::bodies, "how many")
      .field("fixed", &Checkup::fixed, "how many of them")
      .field("particles", &Checkup::particles, "those that are not pinned")
      .field("joints", &Checkup::joints, "how many")
      .field("islands", &Checkup::islands, "how many")
      .field("rows", &Checkup::rows, "equations of all joints")
      .field("rank", &Checkup::rank, "of them")
      .field("degrees_of_freedom", &Checkup::degrees_of_freedom, "those that there are")
      .field("redundant", &Checkup::redundant, "joints with rows that others imply")
      .value(
          "open",
          [](const Checkup& c) {
            py::dict out;
            for (const Checkup::Gap& gap : c.open) out[py::str(gap.joint)] = gap.error;
            return out;
          },
          "joints that do not meet in the pose described: m, rad")
      .value(
          "conflicts",
          [](const Checkup& c) {
            py::dict out;
            for (const Checkup::Gap& gap : c.conflicts) out[py::str(gap.joint)] = gap.error;
            return out;
          },
          "joints that nothing can close: m, rad")
      .field("largest_mass_ratio", &Checkup::largest_mass_ratio, "across a joint")
      .field("point_masses", &Checkup::point_masses, "bodies without extent")
      .field("stable_step", &Checkup::stable_step, "s, by springs and dampers; inf where none limits it")
      .field("ms_per_step", &Checkup::ms_per_step, "where that was measured")
      .field("remarks", &Checkup::remarks, "gravest first");
  module.def(
      "check",
      [](const py::object& scene, bool measure) {
        const Scene described = scene_of(scene);
        return at_once([&] { return examine(described, measure); });
      },
      py::arg("scene"), py::arg("measure") = false,
      "The mechanism doctor's report on a scene; measure: how long steps take, too.");
}

void add_small_motions(py::module_& module) {
  Record<Linearisation>(
      module, "Linearisation",
      "M s'' + D s' + K s = J^T dl, J s = 0 about a pose; six columns per movable body, three per movable particle.")
      .field("bodies", &Linearisation::bodies, "the movable ones, in the order of the columns")
      .field("particles", &Linearisation::particles, "likewise")
      .field("M", &Linearisation::M, "kg, kg m^2")
      .field("K", &Linearisation::K, "N/m, N m/rad")
      .field("D", &Linearisation::D, "N s/m, N m s/rad")
      .field("J", &Linearisation::J, "rows of all joints")
      .field("unbalance", &Linearisation::unbalance, "m/s^2, rad/s^2: how far from an equilibrium the pose is");
  Record<DampedMode>(module, "Mode", "One mode exp(lambda t) of the constrained motion with its damping.")
      .field("eigenvalue", &DampedMode::eigenvalue, "1/s")
      .field("frequency", &DampedMode::frequency, "Hz, of the oscillation")
      .field("damping_ratio", &DampedMode::damping_ratio, "1 decays without oscillating, below 0 grows")
      .field("shape", &DampedMode::shape, "in the columns of the linearisation; its largest entry is 1");
  Record<StateSpace>(module, "StateSpace", "x' = A x + B i, y = C x + D i near an equilibrium, for the design of control.")
      .field("A", &StateSpace::A, "of the state")
      .field("B", &StateSpace::B, "of forces of motors, N, N m")
      .field("C", &StateSpace::C, "to coordinates, then rates")
      .field("D", &StateSpace::D, "zero")
      .field("states", &StateSpace::states, "names")
      .field("inputs", &StateSpace::inputs, "names")
      .field("outputs", &StateSpace::outputs, "names");
  module.def(
      "linearise",
      [](Handle& world) {
        const Handle::AtWork here(world);
        return at_once([&] { return linearise(world.world_at_work()); });
      },
      py::arg("world"), "The mechanism near its present pose, velocities set aside.");
  module.def(
      "modes",
      [](Handle& world) {
        const Handle::AtWork here(world);
        return at_once([&] { return damped_modes(linearise(world.world_at_work())); });
      },
      py::arg("world"), "All modes about the present pose with their damping, slowest first.");
  module.def(
      "state_space",
      [](Handle& world, const std::vector<std::string>& axes) {
        const Handle::AtWork here(world);
        return at_once([&] { return state_space(world.world_at_work(), axes); });
      },
      py::arg("world"), py::arg("axes") = std::vector<std::string>{},
      "A linear model with motors on the axes named (\"elbow\", \"shoulder.rx\"; none: all free ones) as inputs.");
}

void add_equilibrium(py::module_& module) {
  Record<RelaxationReport>(module, "RelaxationReport", "How an equilibrium was looked for.")
      .field("reached", &RelaxationReport::reached, "whether it was found")
      .field("iterations", &RelaxationReport::iterations, "of Newton's method")
      .field("linear_iterations", &RelaxationReport::linear_iterations, "of conjugate gradients")
      .field("evaluations", &RelaxationReport::evaluations, "of forces")
      .field("force", &RelaxationReport::force, "N, N m: the largest that is left");
  module.def(
      "relax",
      [](Handle& world, double force_tolerance, int max_iterations) {
        RelaxationSettings settings;
        settings.force_tolerance = force_tolerance;
        settings.max_iterations = max_iterations;
        RelaxationReport report;
        {
          const Handle::AtWork here(world);
          report = at_once([&] { return relax(world.world_at_work(), settings); });
        }
        world.changed();
        return report;
      },
      py::arg("world"), py::arg("force_tolerance") = 0.0, py::arg("max_iterations") = 1000,
      "Moves the world to an equilibrium and leaves it there at rest. Knows nothing of contacts, walls, motors and limits.");
}

}  // namespace

void add_analyses(py::module_& module) {
  add_doctor(module);
  add_small_motions(module);
  add_equilibrium(module);
}

}  // namespace rotule::python
