#pragma once
// All that a run can be asked for, in one list: key, unit, label, extent, and the function that gives it. Recordings, CSV, plots,
// reports, `rotule run --json`, the viewer's numbers and `rotule list quantities` walk this list, in this order; a new number is
// one entry here, beside whatever computes it.
#include <rotule/results.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/stage_clock.h"

namespace rotule {

class World;

/// Of what there is one each.
enum class Per : std::uint8_t { run, body, particle, joint };
/// Whether every recording holds it, or those of older programs lack it.
enum class Age : std::uint8_t { first, added };
/// What `rotule run --json` and reports say of a number's course: bits.
enum Said : std::uint8_t { say_mean = 1, say_max = 2, say_final = 4, say_percentiles = 8 };

/// One step, as whoever asked for it saw it.
struct StepDone {
  StepReport report;
  double milliseconds = 0;  // that it took
};

/// The present moment; the ledger is that of the world's present state.
struct Moment {
  const World& world;
  const Diagnostics& ledger;
};

/// An entry. Exactly one of the functions gives what is recorded; an array with `of_ledger` besides is that number taken apart.
struct Quantity {
  std::string_view key;  // the same word everywhere
  std::string_view unit;
  std::string_view label;  // a word or two
  std::string_view meaning;
  std::string_view dataset = {};  // in recordings; none: not recorded
  Per per = Per::run;
  int components = 1;  // 3: x, y, z; 4: w, x, y, z; stage_count: the stages of a step
  Age age = Age::added;
  bool whole = false;        // counts
  bool logarithmic = false;  // spans decades
  bool measured = false;     // by a clock: another one each time
  bool from_start = false;   // its course begins before the first step
  unsigned said = 0;
  std::string_view title = {};                   // of its plot; none: the label
  std::string_view length = {};                  // what the length of a vector is called
  std::array<std::string_view, 2> sum_of = {};   // keys
  double (*of_ledger)(const Diagnostics&) = {};  // after a step
  double (*of_step)(const StepDone&) = {};       // of a step; its mean where several steps make one frame
  void (*of_moment)(const Moment&, std::vector<double>&) = {};
};

void take_time(const Moment& now, std::vector<double>& out);
void take_momentum(const Moment& now, std::vector<double>& out);
void take_angular_momentum(const Moment& now, std::vector<double>& out);
void take_positions(const Moment& now, std::vector<double>& out);
void take_orientations(const Moment& now, std::vector<double>& out);
void take_velocities(const Moment& now, std::vector<double>& out);
void take_angular_velocities(const Moment& now, std::vector<double>& out);
void take_particle_positions(const Moment& now, std::vector<double>& out);
void take_particle_velocities(const Moment& now, std::vector<double>& out);
void take_joint_forces(const Moment& now, std::vector<double>& out);
void take_joint_torques(const Moment& now, std::vector<double>& out);
void take_joint_errors(const Moment& now, std::vector<double>& out);
void take_stage_seconds(const Moment& now, std::vector<double>& out);

// The columns of a CSV file have this order: what joins later comes after the joints, so that the others keep their places.
inline constexpr auto quantities = std::to_array<Quantity>({
    {.key = "time",
     .unit = "s",
     .label = "Time",
     .meaning = "time of the frame",
     .dataset = "/time",
     .age = Age::first,
     .of_moment = take_time},
    {.key = "energy",
     .unit = "J",
     .label = "Energy",
     .meaning = "kinetic, potential and total energy",
     .sum_of = {"kinetic_energy", "potential_energy"},
     .of_ledger = [](const Diagnostics& d) { return d.energy(); }},
    {.key = "kinetic_energy",
     .unit = "J",
     .label = "Kinetic energy",
     .meaning = "kinetic energy",
     .dataset = "/energy/kinetic",
     .age = Age::first,
     .from_start = true,
     .of_ledger = [](const Diagnostics& d) { return d.kinetic_energy; }},
    {.key = "potential_energy",
     .unit = "J",
     .label = "Potential energy",
     .meaning = "potential energy, zero at the origin's height",
     .dataset = "/energy/potential",
     .age = Age::first,
     .of_ledger = [](const Diagnostics& d) { return d.potential_energy; }},
    {.key = "momentum",
     .unit = "kg m/s",
     .label = "Momentum",
     .meaning = "linear momentum",
     .dataset = "/momentum/linear",
     .components = 3,
     .age = Age::first,
     .title = "Linear momentum",
     .of_moment = take_momentum},
    {.key = "angular_momentum",
     .unit = "kg m^2/s",
     .label = "Angular momentum",
     .meaning = "angular momentum about the origin",
     .dataset = "/momentum/angular",
     .components = 3,
     .age = Age::first,
     .title = "Angular momentum about the origin",
     .of_moment = take_angular_momentum},
    {.key = "residual",
     .unit = "",
     .label = "Residual",
     .meaning = "relative residual of the last constraint solve",
     .dataset = "/residual",
     .age = Age::first,
     .logarithmic = true,
     .said = say_mean | say_max,
     .title = "Residual of the constraint solve",
     .of_ledger = [](const Diagnostics& d) { return d.residual; }},
    {.key = "contacts",
     .unit = "",
     .label = "Contacts",
     .meaning = "points that touch or nearly do",
     .dataset = "/contacts",
     .whole = true,
     .said = say_mean | say_max,
     .of_ledger = [](const Diagnostics& d) { return static_cast<double>(d.contacts); }},
    {.key = "penetration",
     .unit = "m",
     .label = "Penetration",
     .meaning = "deepest overlap of two bodies",
     .dataset = "/penetration",
     .logarithmic = true,
     .said = say_max | say_final,
     .title = "Deepest penetration",
     .of_ledger = [](const Diagnostics& d) { return d.penetration; }},
    {.key = "position",
     .unit = "m",
     .label = "Position",
     .meaning = "of the body's frame, in the world",
     .dataset = "/position",
     .per = Per::body,
     .components = 3,
     .age = Age::first,
     .of_moment = take_positions},
    {.key = "orientation",
     .unit = "",
     .label = "Orientation",
     .meaning = "body to world: quaternion w, x, y, z",
     .dataset = "/orientation",
     .per = Per::body,
     .components = 4,
     .age = Age::first,
     .of_moment = take_orientations},
    {.key = "velocity",
     .unit = "m/s",
     .label = "Velocity",
     .meaning = "of the centre of mass",
     .dataset = "/velocity",
     .per = Per::body,
     .components = 3,
     .age = Age::first,
     .length = "speed",
     .of_moment = take_velocities},
    {.key = "angular_velocity",
     .unit = "rad/s",
     .label = "Angular velocity",
     .meaning = "in world axes",
     .dataset = "/angular_velocity",
     .per = Per::body,
     .components = 3,
     .age = Age::first,
     .length = "angular_speed",
     .of_moment = take_angular_velocities},
    {.key = "particle_position",
     .unit = "m",
     .label = "Position",
     .meaning = "of the particles, in the world",
     .dataset = "/particle_position",
     .per = Per::particle,
     .components = 3,
     .age = Age::first,
     .of_moment = take_particle_positions},
    {.key = "particle_velocity",
     .unit = "m/s",
     .label = "Velocity",
     .meaning = "of the particles",
     .dataset = "/particle_velocity",
     .per = Per::particle,
     .components = 3,
     .age = Age::first,
     .of_moment = take_particle_velocities},
    {.key = "joint_force",
     .unit = "N",
     .label = "Joint force",
     .meaning = "on the joint's second body, in world axes",
     .dataset = "/joint_force",
     .per = Per::joint,
     .components = 3,
     .age = Age::first,
     .title = "Joint forces",
     .of_moment = take_joint_forces},
    {.key = "joint_torque",
     .unit = "N m",
     .label = "Joint torque",
     .meaning = "on the joint's second body, about the joint's point",
     .dataset = "/joint_torque",
     .per = Per::joint,
     .components = 3,
     .age = Age::first,
     .title = "Joint torques",
     .of_moment = take_joint_torques},
    {.key = "joint_error",
     .unit = "m, rad",
     .label = "Joint error",
     .meaning = "largest position error of the joint's rows",
     .dataset = "/joint_error",
     .per = Per::joint,
     .age = Age::first,
     .logarithmic = true,
     .from_start = true,
     .said = say_max | say_final,
     .of_ledger = [](const Diagnostics& d) { return d.joint_error.position; },
     .of_moment = take_joint_errors},
    {.key = "shock_energy",
     .unit = "J",
     .label = "Shock energy",
     .meaning = "taken out by shocks so far",
     .dataset = "/energy/shock",
     .said = say_final,
     .title = "Energy taken out by shocks",
     .of_ledger = [](const Diagnostics& d) { return d.shock_energy; }},
    {.key = "iterations",
     .unit = "",
     .label = "Iterations",
     .meaning = "of the solver, in the step that ended here",
     .dataset = "/iterations",
     .whole = true,
     .said = say_mean | say_max,
     .title = "Solver iterations per step",
     .of_step = [](const StepDone& s) { return static_cast<double>(s.report.iterations); }},
    {.key = "newton_iterations",
     .unit = "",
     .label = "Newton iterations",
     .meaning = "of an implicit method's equations, in the step that ended here",
     .dataset = "/newton_iterations",
     .whole = true,
     .said = say_mean | say_max,
     .title = "Newton iterations per step",
     .of_step = [](const StepDone& s) { return static_cast<double>(s.report.newton_iterations); }},
    {.key = "inner_steps",
     .unit = "",
     .label = "Inner steps",
     .meaning = "that a method with error control made in the step that ended here",
     .dataset = "/inner_steps",
     .whole = true,
     .said = say_mean | say_max,
     .title = "Inner steps per step",
     .of_step = [](const StepDone& s) { return static_cast<double>(s.report.inner_steps); }},
    {.key = "attempts",
     .unit = "",
     .label = "Attempts",
     .meaning = "at the step that ended here, made again where it gained energy or left joints open",
     .dataset = "/attempts",
     .whole = true,
     .said = say_mean | say_max,
     .title = "Attempts per step",
     .of_step = [](const StepDone& s) { return static_cast<double>(s.report.attempts); }},
    {.key = "energy_gained",
     .unit = "J",
     .label = "Energy gained",
     .meaning = "in the step that ended here, though nothing drives the mechanism, by the last attempt at it",
     .dataset = "/energy/gained",
     .logarithmic = true,
     .said = say_max,
     .title = "Energy gained by mistake, per step",
     .of_step = [](const StepDone& s) { return s.report.energy_gained; }},
    {.key = "push_energy",
     .unit = "J",
     .label = "Push energy",
     .meaning = "added so far by moving bodies out of each other",
     .dataset = "/energy/push",
     .said = say_final,
     .title = "Energy added by moving bodies out of each other",
     .of_ledger = [](const Diagnostics& d) { return d.push_energy; }},
    {.key = "stage_seconds",
     .unit = "s",
     .label = "Time by stage",
     .meaning = "of the step that ended here: collide, forces, solve, correct, move",
     .dataset = "/stage_seconds",
     .components = stage_count,
     .measured = true,
     .of_moment = take_stage_seconds},
    {.key = "ms_per_step",
     .unit = "ms",
     .label = "Time per step",
     .meaning = "wall time of a step, without recording and diagnostics",
     .measured = true,
     .said = say_mean | say_percentiles,
     .of_step = [](const StepDone& s) { return s.milliseconds; }},
});
inline constexpr std::size_t quantity_count = quantities.size();

/// The place in the list of a key written in the source: one that is not there does not compile.
struct QuantityKey {
  std::size_t index = 0;
  consteval QuantityKey(const char* key) {  // NOLINT(google-explicit-constructor): so that frame["position"] reads as it does
    while (index < quantity_count && quantities[index].key != std::string_view(key)) ++index;
    if (index == quantity_count) throw std::invalid_argument("no such quantity");
  }
};
constexpr const Quantity& quantity(QuantityKey key) { return quantities[key.index]; }
constexpr std::size_t index_of(const Quantity& q) { return static_cast<std::size_t>(&q - quantities.data()); }

/// Whether it has one value at a time for the run as a whole.
constexpr bool is_number(const Quantity& q) { return q.of_ledger != nullptr || q.of_step != nullptr; }
constexpr bool is_recorded(const Quantity& q) { return !q.dataset.empty(); }

/// "x", "y", "z"; none where it is a number alone.
std::vector<std::string_view> component_names(const Quantity& q);
/// What it is called after the name of a body, joint or particle and a dot: elbow.force.
std::string_view part_name(const Quantity& q);
/// "run", "body", "particle", "joint".
std::string_view name_of(Per per);

/// All recorded quantities at one moment.
struct TrajectoryFrame {
  std::array<std::vector<double>, quantity_count> values;  // in the list's order; thing by thing, component by component

  /// Zero where the list says how many there are.
  TrajectoryFrame();
  std::vector<double>& operator[](QuantityKey key) { return values[key.index]; }
  const std::vector<double>& operator[](QuantityKey key) const { return values[key.index]; }
  double& number(QuantityKey key) { return values[key.index].at(0); }
  [[nodiscard]] double number(QuantityKey key) const { return values[key.index].at(0); }
  /// The run's number of any entry that has one: the sum of what it is a sum of, the largest of an array.
  [[nodiscard]] double number(const Quantity& q) const;
};

/// The present moment of a world; `frame` keeps its memory from call to call.
void capture(const World& world, TrajectoryFrame& frame);
/// Asks every step from now on to measure its stages, for `capture`.
void time_stages(const World& world);

}  // namespace rotule
