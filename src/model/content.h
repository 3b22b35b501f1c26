#pragma once
// What a scene contains, as far as the choice of a recipe depends on it: who could meet whom, what acts on joints, how stiff the
// springs are, how fast things turn. No world is made for it, and no shape is looked at more closely than its bounding ball.
#include <rotule/scene.h>

#include <string>
#include <utility>

#include "model/model.h"

namespace rotule {

struct SceneContent {
  JointNeeds needs;
  bool joints = false, particles = false, movable = false;
  std::size_t particle_count = 0;
  /// Bodies that no chain of joints ties together, and that could meet.
  bool could_meet = false;
  std::pair<std::string, std::string> pair = {};  // the first of them
  /// Bodies of one mechanism, not joined to each other, that could meet.
  bool folds = false;
  std::pair<std::string, std::string> folding_pair = {};
  // Bounds from above: sqrt of the largest eigenvalue of M^-1 K over all springs, and the largest of M^-1 D over all dampers.
  double frequency = 0;  // rad/s
  double decay = 0;      // 1/s
  // The same without what holds groups of particles together, which is taken implicitly where particles touch.
  double tied_frequency = 0, tied_decay = 0;
  // The same of springs and dampers on joints, which steps by impulses bear at any length.
  double joint_frequency = 0, joint_decay = 0;
  bool realtime = false;  // whether the real-time stepper knows all of it
  double spin = 0;        // rad/s: the fastest rotation that the scene begins with or asks of a motor
};

/// Names must be given already (name_unnamed).
SceneContent content_of(const Scene& scene);

/// Whether any particles touch.
bool some_touches(const Scene& scene);
/// What the drives of joints ask for, described or compiled.
JointNeeds needs_of(const Scene& scene);
JointNeeds needs_of(const Model& model);
JointNeeds needs_of(const Joint& joint);

}  // namespace rotule
