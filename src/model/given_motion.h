#pragma once
// Bodies that move as functions of time say (PrescribedMotion). With x the displaced origin of the body's frame, R its rotation
// and c the centre of mass in it:
//   p = x + R c,   v = x' + omega x R c,   a = x'' + alpha x R c + omega x (omega x R c),   omega = angle' n,   alpha = angle''
//   n.
#include <rotule/joints.h>

#include "model/expression.h"
#include "model/state.h"

namespace rotule {

struct BodyMotion {
  int body = -1;
  Expression3 displacement;
  Expression angle;
  Vec3 axis = Vec3::UnitZ();  // of length one
  Pose start;                 // of the body's frame, where displacement and angle are zero
};

struct MotionAt {
  Vec3 p = Vec3::Zero();  // of the centre of mass
  Quat theta = Quat::Identity();
  Vec6 velocity = Vec6::Zero(), acceleration = Vec6::Zero();
};

/// With the formula of its given motion, if there is one, as a function. That throws Error where it is not a number.
Drive compiled(const Drive& drive);
/// Largest rate of a joint's given motion in its first ten seconds, by samples; of a function of C++ nothing is known.
double fastest(const GivenMotion& motion);

struct Model;

/// Throws Error, naming the body, where the motion is not a number then.
MotionAt motion_at(const Model& model, const BodyMotion& motion, double t);
/// Puts all such bodies where they are at that time, with the velocities that they have then.
void follow_given_motions(const Model& model, double t, State& state);
/// Leaves them where they stand, with the steady velocities that bring them within `h` to where they are at t + h: what a step by
/// impulses sees of them.
void head_for_given_motions(const Model& model, double t, double h, State& state);

}  // namespace rotule
