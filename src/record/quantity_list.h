#pragma once
// All that a run can be asked for, in one list: key, unit, label, extent, and the function that gives it. Recordings, CSV, plots,
// reports, `rotule run --json`, the viewer's numbers and `rotule list quantities` walk this list, in this order; a new number is
// one entry here, beside whatever computes it.
#include <rotule/contacts.h>
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
enum class Per : std::uint8_t { run, body, particle, joint, contact };  // of contacts there are others in every frame
/// Whether every recording holds it, or those of older programs lack it.
enum class Age : std::uint8_t { first, added };
/// What `rotule run --json` and reports say of a number's course: bits.
enum Said : std::uint8_t { say_mean = 1, say_max = 2, say_final = 4, say_percentiles = 8 };

/// One step, as whoever asked for it saw it.
struct StepDone {
  StepReport report;
  double milliseconds = 0;  // that it took
};

/// The present moment; the ledger and the contacts are those of the world's present state.
struct Moment {
  const World& world;
  const Diagnostics& ledger;
  const std::vector<ContactResult>& contacts;
};

/// An entry. Exactly one of the functions gives what is recorded; an array with `of_ledger` besides is that number taken apart.
struct Quantity {
  std::string_view key;  // the same word everywhere
  std::string_view unit;
  std::string_view label;  // a word or two
  std::string_view meaning;
  std::string_view dataset = {};  // in recordings; none: not recorded
  Per per = Per::run;
  int components = 1;  // 2: a, b; 3: x, y, z; 4: w, x, y, z; stage_count: the stages of a step
  Age age = Age::added;
  bool whole = false;        // counts
  bool logarithmic = false;  // spans decades
  bool measured = false;     // by a clock: another one each time
  bool by_axis = false;      // along or about the axes of a joint, of which most are locked
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
void take_left_over(const Moment& now, std::vector<double>& out);
void take_accelerations(const Moment& now, std::vector<double>& out);
void take_angular_accelerations(const Moment& now, std::vector<double>& out);
void take_contact_forces(const Moment& now, std::vector<double>& out);
void take_joint_motion(const Moment& now, Vec3 JointMotion::*part, std::vector<double>& out);
void take_joint_powers(const Moment& now, std::vector<double>& out);
void take_contact_bodies(const Moment& now, std::vector<double>& out);
void take_contact_vectors(const Moment& now, Vec3 ContactResult::*part, std::vector<double>& out);
void take_contact_gaps(const Moment& now, std::vector<double>& out);
inline void put(const Vec3& v, std::vector<double>& out) { out.assign(v.data(), v.data() + 3); }

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
    {.key = "spring_energy",
     .unit = "J",
     .label = "Energy in springs",
     .meaning = "part of the potential energy that springs hold: of bodies, particles, joints and soft surfaces",
     .dataset = "/energy/springs",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.spring_energy); }},
    {.key = "gravity_energy",
     .unit = "J",
     .label = "Energy of weight",
     .meaning = "part of the potential energy by weight and gravitation",
     .dataset = "/energy/gravity",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.gravity_energy); }},
    {.key = "work_motors",
     .unit = "J",
     .label = "Work of motors",
     .meaning = "brought in so far by motors of joints",
     .dataset = "/energy/work_motors",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.motors); }},
    {.key = "work_forces",
     .unit = "J",
     .label = "Work of set forces",
     .meaning = "brought in so far by forces set by hand",
     .dataset = "/energy/work_forces",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.forces); }},
    {.key = "work_fields",
     .unit = "J",
     .label = "Work of fields",
     .meaning = "brought in so far by forces that a user wrote, and by potentials that change in time",
     .dataset = "/energy/work_fields",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.fields); }},
    {.key = "work_fluid",
     .unit = "J",
     .label = "Work of the fluid",
     .meaning = "brought in so far by fluid that flows past bodies or bears them",
     .dataset = "/energy/work_fluid",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.fluid); }},
    {.key = "work_guides",
     .unit = "J",
     .label = "Work of guides",
     .meaning = "brought in so far by motion that is prescribed",
     .dataset = "/energy/work_guides",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.guides); }},
    {.key = "work_hands",
     .unit = "J",
     .label = "Work of hands",
     .meaning = "brought in so far between steps: impulses, velocities, poses, bodies that came and went",
     .dataset = "/energy/work_hands",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.hands); }},
    {.key = "lost_drag",
     .unit = "J",
     .label = "Lost to drag",
     .meaning = "taken out so far by drag",
     .dataset = "/energy/lost_drag",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.drag); }},
    {.key = "lost_dampers",
     .unit = "J",
     .label = "Lost to dampers",
     .meaning = "taken out so far by dampers of springs, joints and soft surfaces",
     .dataset = "/energy/lost_dampers",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.dampers); }},
    {.key = "lost_joint_friction",
     .unit = "J",
     .label = "Lost to joint friction",
     .meaning = "taken out so far by dry friction of joints",
     .dataset = "/energy/lost_joint_friction",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.joint_friction); }},
    {.key = "lost_contact_friction",
     .unit = "J",
     .label = "Lost to friction",
     .meaning = "taken out so far by friction of contacts",
     .dataset = "/energy/lost_contact_friction",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.contact_friction); }},
    {.key = "lost_impacts",
     .unit = "J",
     .label = "Lost to impacts",
     .meaning = "taken out so far by impacts of contacts, walls, limits and shocks",
     .dataset = "/energy/lost_impacts",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.impacts); }},
    {.key = "lost_yield",
     .unit = "J",
     .label = "Lost to yield",
     .meaning = "taken out so far by materials that flow",
     .dataset = "/energy/lost_yield",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.yield); }},
    {.key = "lost_tearing",
     .unit = "J",
     .label = "Lost to tearing",
     .meaning = "taken out so far by elements that tear, and by gas that escapes there",
     .dataset = "/energy/lost_tearing",
     .of_moment = [](const Moment& now, std::vector<double>& out) { out.assign(1, now.ledger.energy_balance.tearing); }},
    {.key = "energy_left_over",
     .unit = "J",
     .label = "Left over",
     .meaning =
         "of the energy, with all work and losses accounted for: the error of the method; not a number where no books were kept",
     .dataset = "/energy/left_over",
     .title = "Energy left over",
     .of_moment = take_left_over},
    {.key = "momentum_weight",
     .unit = "kg m/s",
     .label = "Weight",
     .meaning = "momentum that weight has given so far",
     .dataset = "/momentum/linear_weight",
     .components = 3,
     .title = "Momentum: weight",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.momentum_balance.weight, out); }},
    {.key = "momentum_applied",
     .unit = "kg m/s",
     .label = "Applied",
     .meaning = "momentum that set forces, drag, fluid and forces of users have given so far",
     .dataset = "/momentum/linear_applied",
     .components = 3,
     .title = "Momentum: applied",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.momentum_balance.applied, out); }},
    {.key = "momentum_supports",
     .unit = "kg m/s",
     .label = "Supports",
     .meaning = "momentum that all that does not move has given so far: through joints, springs, contacts, walls",
     .dataset = "/momentum/linear_supports",
     .components = 3,
     .title = "Momentum: supports",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.momentum_balance.supports, out); }},
    {.key = "momentum_left_over",
     .unit = "kg m/s",
     .label = "Left over",
     .meaning = "momentum that is left over, all of it accounted for: the error of the method",
     .dataset = "/momentum/linear_left_over",
     .components = 3,
     .title = "Momentum: left over",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.momentum_balance.left_over, out); }},
    {.key = "angular_momentum_weight",
     .unit = "kg m^2/s",
     .label = "Weight",
     .meaning = "angular momentum about the origin that weight has given so far",
     .dataset = "/momentum/angular_weight",
     .components = 3,
     .title = "Angular momentum about the origin: weight",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.angular_momentum_balance.weight, out); }},
    {.key = "angular_momentum_applied",
     .unit = "kg m^2/s",
     .label = "Applied",
     .meaning = "angular momentum about the origin that set forces, drag and forces of users have given so far",
     .dataset = "/momentum/angular_applied",
     .components = 3,
     .title = "Angular momentum about the origin: applied",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.angular_momentum_balance.applied, out); }},
    {.key = "angular_momentum_supports",
     .unit = "kg m^2/s",
     .label = "Supports",
     .meaning = "angular momentum about the origin that all that does not move has given so far: through joints, springs, "
                "contacts, walls",
     .dataset = "/momentum/angular_supports",
     .components = 3,
     .title = "Angular momentum about the origin: supports",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.angular_momentum_balance.supports, out); }},
    {.key = "angular_momentum_left_over",
     .unit = "kg m^2/s",
     .label = "Left over",
     .meaning = "angular momentum about the origin that is left over, all of it accounted for: the error of the method",
     .dataset = "/momentum/angular_left_over",
     .components = 3,
     .title = "Angular momentum about the origin: left over",
     .of_moment = [](const Moment& now, std::vector<double>& out) { put(now.ledger.angular_momentum_balance.left_over, out); }},
    {.key = "acceleration",
     .unit = "m/s^2",
     .label = "Acceleration",
     .meaning = "of the centre of mass; at velocity level the mean of the last step",
     .dataset = "/acceleration",
     .per = Per::body,
     .components = 3,
     .of_moment = take_accelerations},
    {.key = "angular_acceleration",
     .unit = "rad/s^2",
     .label = "Angular acceleration",
     .meaning = "in world axes; at velocity level the mean of the last step",
     .dataset = "/angular_acceleration",
     .per = Per::body,
     .components = 3,
     .of_moment = take_angular_accelerations},
    {.key = "contact_force",
     .unit = "N",
     .label = "Contact force",
     .meaning = "of all contacts of the body, on it, in world axes",
     .dataset = "/contact_force",
     .per = Per::body,
     .components = 3,
     .of_moment = take_contact_forces},
    {.key = "joint_displacement",
     .unit = "m",
     .label = "Joint displacement",
     .meaning = "of the second body against the first along the axes of the joint",
     .dataset = "/joint_displacement",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::displacement, out); }},
    {.key = "joint_angle",
     .unit = "rad",
     .label = "Joint angle",
     .meaning = "of the second body against the first about the axes of the joint",
     .dataset = "/joint_angle",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::angle, out); }},
    {.key = "joint_displacement_rate",
     .unit = "m/s",
     .label = "Joint speed",
     .meaning = "of the displacement",
     .dataset = "/joint_displacement_rate",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now,
                     std::vector<double>& out) { take_joint_motion(now, &JointMotion::displacement_rate, out); }},
    {.key = "joint_angular_rate",
     .unit = "rad/s",
     .label = "Joint angular rate",
     .meaning = "about the axes of the joint",
     .dataset = "/joint_angular_rate",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::angular_rate, out); }},
    {.key = "joint_motor_force",
     .unit = "N",
     .label = "Motor force",
     .meaning = "of the motor on the second body, along the axes of the joint",
     .dataset = "/joint_motor_force",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::motor_force, out); }},
    {.key = "joint_motor_torque",
     .unit = "N m",
     .label = "Motor torque",
     .meaning = "of the motor on the second body, about the axes of the joint",
     .dataset = "/joint_motor_torque",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::motor_torque, out); }},
    {.key = "joint_passive_force",
     .unit = "N",
     .label = "Passive force",
     .meaning = "of springs, dampers, friction and limits on the second body, along the axes of the joint",
     .dataset = "/joint_passive_force",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::passive_force, out); }},
    {.key = "joint_passive_torque",
     .unit = "N m",
     .label = "Passive torque",
     .meaning = "of springs, dampers, friction and limits on the second body, about the axes of the joint",
     .dataset = "/joint_passive_torque",
     .per = Per::joint,
     .components = 3,
     .by_axis = true,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_joint_motion(now, &JointMotion::passive_torque, out); }},
    {.key = "joint_power",
     .unit = "W",
     .label = "Motor power",
     .meaning = "that the motor gives to the mechanism",
     .dataset = "/joint_power",
     .per = Per::joint,
     .of_moment = take_joint_powers},
    {.key = "contact_bodies",
     .unit = "",
     .label = "Bodies in contact",
     .meaning = "numbers of the two bodies",
     .dataset = "/contact/bodies",
     .per = Per::contact,
     .components = 2,
     .of_moment = take_contact_bodies},
    {.key = "contact_point",
     .unit = "m",
     .label = "Contact point",
     .meaning = "halfway between the two surfaces",
     .dataset = "/contact/point",
     .per = Per::contact,
     .components = 3,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_contact_vectors(now, &ContactResult::point, out); }},
    {.key = "contact_normal",
     .unit = "",
     .label = "Contact normal",
     .meaning = "from the first body to the second",
     .dataset = "/contact/normal",
     .per = Per::contact,
     .components = 3,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_contact_vectors(now, &ContactResult::normal, out); }},
    {.key = "contact_point_force",
     .unit = "N",
     .label = "Force at a contact",
     .meaning = "on the second body: the mean over the step that ended here, blows included",
     .dataset = "/contact/force",
     .per = Per::contact,
     .components = 3,
     .of_moment = [](const Moment& now, std::vector<double>& out) { take_contact_vectors(now, &ContactResult::force, out); }},
    {.key = "contact_gap",
     .unit = "m",
     .label = "Gap",
     .meaning = "of the surfaces; negative: overlap",
     .dataset = "/contact/gap",
     .per = Per::contact,
     .of_moment = take_contact_gaps},
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
/// "run", "body", "particle", "joint", "contact".
std::string_view name_of(Per per);

/// All recorded quantities at one moment.
struct TrajectoryFrame {
  std::array<std::vector<double>, quantity_count> values;  // in the list's order; thing by thing, component by component
  std::vector<ContactResult> contacts;                     // memory of `capture`

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
