#pragma once
// What the doctor looks for, one function per kind of mistake; each says the number that gave it away and what to do.
#include <rotule/analyse.h>

#include <complex>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "model/content.h"

namespace rotule {

/// All that the looks below share.
struct Patient {
  const Scene& scene;  // with names, and its drives
  const Recipe& recipe;
  const SceneContent& content;
  const Model& model;  // compiled, in the order of the scene
};

void look_at_emptiness(const Patient& patient, std::vector<Remark>& out);
void look_at_contacts(const Patient& patient, std::vector<Remark>& out);
/// Particles that pass through bodies.
void look_at_particles(const Patient& patient, std::vector<Remark>& out);
void look_at_drives(const Patient& patient, std::vector<Remark>& out);
void look_at_places(const Patient& patient, std::vector<Remark>& out);
void look_at_angles(const Patient& patient, std::vector<Remark>& out);
void look_at_lengths(const Patient& patient, std::vector<Remark>& out);
void look_at_bodies(const Patient& patient, std::vector<Remark>& out);
void look_at_solver(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out);
/// Bodies that stand in each other at the start.
void look_at_overlaps(const Patient& patient, std::vector<Remark>& out);
/// Linkages that cannot move at all.
void look_at_locks(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out);
/// More given motions than their mechanisms can follow.
void look_at_given_motions(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out);
/// Poses on the way of linkages with one degree of freedom in which joints lose rank, or motors their hold.
void look_at_singular_poses(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out);
/// The estimate, and a remark where the recipe's step exceeds it. `closely`: by the eigenvalues, where there are not too many.
double look_at_stability(const Patient& patient, const World& world, bool closely, std::vector<Remark>& out);

/// Velocities that the joints do not allow; `world` as the scene describes it.
void look_at_velocities(const Patient& patient, const World& world, std::vector<Remark>& out);
/// Gravity that leads away from, or along, all ground that there is.
void look_at_gravity(const Patient& patient, std::vector<Remark>& out);
/// What a fluid on a grid does not know: particles, and bodies that are no obstacles in it.
void look_at_fluid(const Patient& patient, std::vector<Remark>& out);
/// Mechanisms that nothing holds.
void look_at_supports(const Patient& patient, std::vector<Remark>& out);
/// Cloths, ropes and elastic bodies that nothing holds.
void look_at_loose_particles(const Patient& patient, std::vector<Remark>& out);
/// Motors that cannot hold what hangs on them.
void look_at_strength(const Patient& patient, std::vector<Remark>& out);
/// Numbers out of proportion: springs that give by many times their length, friction in percent, turns per minute, inertias in
/// other units, starts beyond stops, steps longer than a swing.
void look_at_magnitudes(const Patient& patient, std::vector<Remark>& out);
/// Fast oscillations that nothing damps, by a method that would rather pass over them.
void look_at_swinging(const Patient& patient, std::vector<Remark>& out);
/// Bodies that nothing will stop: below them there is nothing, or a ground that they do not touch.
void look_at_falls(const Patient& patient, std::vector<Remark>& out);
/// What a scene says and does not get: forces on what cannot move, motors that push against their stops, wheels that turn about
/// their diameter, motion.
void look_at_effects(const Patient& patient, std::vector<Remark>& out);
/// Bodies that pass through the ground because both are of one group.
void look_at_groups(const Patient& patient, std::vector<Remark>& out);

/// From the body's origin to the farthest corner of its bounding box; 0 for points and half-spaces.
double reach_of(const Shape& shape);

/// The scene without what drives its joints: for questions to which that does not matter.
Scene undriven(const Scene& scene);
/// With what is kept of each drive.
Scene with_drives(const Scene& scene, const std::function<Drive(const Drive&)>& kept);
/// With springs and dampers alone.
Scene with_springs_alone(const Scene& scene);

/// As scene files have them.
std::string json_of(double value);
std::string json_of(const Vec3& v);
std::string json_of(std::string_view text);
/// Three digits are enough for what somebody will look at again.
double in_short(double value);
Vec3 in_short(const Vec3& v);
/// Of many of a kind the first few by name, the rest by number.
std::string and_others(const std::vector<std::string>& names);

/// The longest step at which no mode that decays or oscillates grows; infinity where none does at any step.
double largest_stable_step(const IntegratorSettings& integrator, std::span<const std::complex<double>> spectrum);

}  // namespace rotule
