#pragma once
// The loops of a step, in lanes; each runs over all blocks of contacts or all lines of bodies.
#include <span>
#include <vector>

#include "step/realtime/contact_slots.h"

namespace rotule::realtime {

/// A spring that is solved implicitly: with omega = 2 pi f and damping ratio zeta over a substep h (E. Catto, "Solver2D", 2024)
///   v_n+ = -rate s,   impulse = -share (mass (v_n + rate s)) - give impulse.
struct Softness {
  float rate = 0, share = 1, give = 0;
};
Softness softness(double frequency, double damping, double h);

/// What the sweeps are told.
struct SweepSettings {
  float h = 0;             // of a substep
  Softness moving, fixed;  // contacts of two moving bodies, and of one with what is fixed
  float push_speed = 0;
  float impulse_scale = 1;  // of the last step's impulses, where its substeps were of another length
  float stick_speed = 0, restitution_speed = 0, slop = 0;
  bool led = false;  // whether there are kinematic bodies
};

/// Appends manifolds (by touch) whose bodies have moved too far against each other since they were collided.
void find_moved(ContactSlots& slots, const BodyLines& bodies, std::vector<int>& moved);
/// Rows of all contacts for this step, and the impulses of the last one given to the bodies.
void prepare(ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings);
/// One sweep with overlaps being pushed out.
void push(ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings);
/// One sweep without: takes back the speed that pushing has given; friction; new gaps.
void relax(ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings);
/// Throws back what arrived fast enough.
void bounce(ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings);

/// A manifold, by touch, that has begun to press or ceased to.
struct Pressing {
  int touch;
  bool begins;
};
/// Appends those of this step.
void find_pressing(ContactSlots& slots, std::vector<Pressing>& changed);

/// The lines of all bodies, from the state; where somebody placed one elsewhere, it has wandered.
void load_bodies(const State& s, BodyLines& bodies);
/// Of those in these rows alone.
void load_rows(const State& s, std::span<const int> rows, BodyLines& bodies);
/// How far bodies may get in h, which gravity makes longer by `fall`.
void look_ahead(BodyLines& bodies, float h, float fall);
/// Load-scaled inertia. A body that is squeezed between others with the force L counts for more, in this step, by 1 + share L/(m
/// g): its mass and inertia, not its weight, so that forces at rest stay what they are. Contacts are as stiff as the inertias
/// they see, and a light body under a heavy one would have springs for its own weight alone. Only what is slow, by `slow` in m/s:
/// what slides or falls has its own inertia. The factor follows loads by jumps, up at once and down slowly: following each change
/// would pump energy.
struct Burdens {
  float share = 0, gravity = 0, slow = 0;
};
void bear_loads(BodyLines& bodies, const Burdens& burdens);
/// v <- v + kick; moved <- 0.
void begin_step(BodyLines& bodies);
/// v <- 2 v - v_last: gravity and all impulses of the last substep once more, without looking at any contact.
void begin_substep(BodyLines& bodies);
/// moved <- moved + h v.
void advance(BodyLines& bodies, float h);
/// Appends lines of bodies that have moved, in this step, so far that they may have got past something.
void find_fast(const BodyLines& bodies, std::vector<int>& fast);
/// Into the state after a step of h, turning what spins on its own; false where a number is no longer finite.
bool finish_bodies(BodyLines& bodies, float h, State& s);

/// Where the parts of bodies are: boxes in body axes, from the centre of mass, and the fat boxes in which they are known to be.
struct ProxyBoxes {
  int count = 0;
  std::vector<WholeRow> line;       // of the body
  std::vector<Rows3> centre, half;  // of the core
  std::vector<Row> rounding, fat;   // m
  std::vector<Rows3> low, high;     // fat, in the world
  void resize(int proxies);
};
/// Gives new fat boxes to those of these rows that will have left theirs within h, and appends their numbers.
void find_left(ProxyBoxes& boxes, const BodyLines& bodies, std::span<const int> rows, float h, std::vector<int>& left);

}  // namespace rotule::realtime
