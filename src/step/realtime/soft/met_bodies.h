#pragma once
// Bodies as particles meet them in a substep: where they are since the step's start, their velocities, which impulses change as
// they come, and what those impulses add up to.
#include <vector>

#include "model/model.h"
#include "step/realtime/body_lines.h"

namespace rotule::realtime {

struct MetBody {
  int body = -1;
  bool moves = false;  // whether impulses move it
  bool goes = false;   // whether it goes anywhere
  // At the substep's start, from the step's: its turn, and its way.
  Mat3 turn = Mat3::Identity();
  Vec3 way = Vec3::Zero();
  // The same, and the rest, as contacts have it.
  Eigen::Matrix3f turned = Eigen::Matrix3f::Identity(), turned_less_one = Eigen::Matrix3f::Zero(),
                  inverse_inertia = Eigen::Matrix3f::Zero();
  Eigen::Vector3f gone = Eigen::Vector3f::Zero(), v = Eigen::Vector3f::Zero(), omega = Eigen::Vector3f::Zero(),
                  belt = Eigen::Vector3f::Zero();                                          // m/s, in its axes at the step's start
  Eigen::Vector3f mean_v = Eigen::Vector3f::Zero(), mean_omega = Eigen::Vector3f::Zero();  // of the substep
  float inverse_mass = 0;
  int holding = 0;                                 // particles that rest on it
  Vec3 push = Vec3::Zero(), twist = Vec3::Zero();  // N s, N m s: what it got in this substep
};

/// Reads it from the lines.
void read_body(const BodyLines& lines, MetBody& out);
/// Gives it what it got, or takes it back (times = -1): what particles gave is not to be repeated in the next substep, as
/// impulses of contacts and joints are (begin_substep), for particles make it anew.
void give_body(const MetBody& from, float times, BodyLines& lines);
/// The mean of its velocities at the start and at the end of a substep, where that is over.
void find_mean(const BodyLines& lines, MetBody& out);

}  // namespace rotule::realtime
