#pragma once
// The free axes of a joint as numbers (A3): where the second body stands against the first, and how fast it moves, along and
// about the axes of the joint's frame, 0 to 2 along x, y, z, 3 to 5 about them; the coordinates of its drives (pool/drive.h). Of
// three free rotations the position is the rotation vector. Locked axes have zeros, and so have kinds without a frame.
#include <rotule/results.h>

#include <span>
#include <vector>

#include "constraint/pool/drive.h"

namespace rotule {

using JointCoordinates = Eigen::Matrix<double, 6, 1>;

JointCoordinates joint_position(const Model& model, const Joint& joint, const State& s);
JointCoordinates joint_rate(const Model& model, const Joint& joint, const State& s);

/// What drives exert on the free axes of a joint, motors apart from all else.
struct DriveForces {
  JointCoordinates motor = JointCoordinates::Zero(), passive = JointCoordinates::Zero();
};
/// Impulses of a step's rows as forces.
DriveForces drive_forces(std::span<const DriveRow> rows, int joint, double per_second);
/// Where the joint stands, how fast it moves, and what its drives do to it.
JointMotion joint_motion(const Model& model, const Joint& joint, const State& s, const DriveForces& forces);

/// Kinetic energy, J, of rotors that are geared to axes of joints (Drive::armature).
double rotor_energy(const Model& model, const State& s);
/// What springs on free axes of joints hold, J: k/2 (q - rest)^2.
double joint_spring_potential(const Model& model, const State& s);

/// Whether an axis is free; none is where the joint is no frame with some axes locked (rods, gears, functions), or holds a
/// particle.
bool is_free_axis(const Model& model, const Joint& joint, int axis);
/// All of them.
std::vector<int> free_axes(const Model& model, const Joint& joint);

}  // namespace rotule
