#pragma once
// Tops and wheels: bodies that turn far in a step about an axis that hardly does. Rows and inertias are those of the step's
// start, and finishing turns inertias at once; what spins by a radian meanwhile would be pushed by its tip or its hinge as if its
// angular momentum lay where it did at the start, and a top tips over. So these are turned from substep to substep: with L their
// angular momentum, which impulses alone change,
//
//   q <- exp(h omega) q,   omega <- I(q)^-1 L
//
// and velocities and turns are handed to the lines as everybody else's, whitened by the inertia of the start. That a push is
// answered by that inertia within its substep is mended in the next one: L has it exactly. What wheels, so that the two inertias
// differ much, is left to finishing: levers of the start and inertia of now would not belong together.
#include <vector>

#include "model/model.h"
#include "step/realtime/body_lines.h"
#include "step/realtime/stages.h"

namespace rotule::realtime {

class Spins {
 public:
  explicit Spins(const Model& model) : model_(model) {}

  /// Who turns fast in a step of h from this state, inertias being those of the step.
  void begin(const State& s, double h, const BodyLines& bodies, Stages& stages);
  /// After velocities were repeated for another substep of `part`.
  void turn_on(double part, BodyLines& bodies, Stages& stages);
  /// After the last substep: as finishing wants them, which turns inertia and adds the swerve of the whole step h.
  void settle(double part, double h, const State& s, BodyLines& bodies, Stages& stages);

 private:
  struct Spin {
    int line;
    Quat start, now;
    Vec3 momentum;
    Mat3 root, inverse_root;  // of the inertia at the step's start
    float turned[3];          // whitened, as the line had it when it was looked at last
    float given[3];           // whitened velocity at the start of the substep
    bool followed;
  };
  /// Turned by what the line has turned since it was looked at last, and its momentum by what the velocity has changed; from when
  /// on its inertia differs too much from that of the start, it is no longer followed.
  void move_on(Spin& spin, double part, const Line& motion, const float* velocity) const;
  [[nodiscard]] bool keeps_inertia(const Spin& spin, const Quat& q) const;
  [[nodiscard]] Vec3 velocity_of(const Spin& spin) const;
  /// The whole turn since the step began, as a vector near `about`.
  static Vec3 whole_turn(const Spin& spin, const Vec3& about);

  const Model& model_;
  std::vector<int> lines_;
  std::vector<Spin> spins_;
};

}  // namespace rotule::realtime
