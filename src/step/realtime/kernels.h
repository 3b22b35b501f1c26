#pragma once
// The loops of a step, in lanes; each runs over some blocks of contacts or some rows of bodies, so that threads can share
// them (stages.h).
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
};

/// Some blocks of one colour, which threads may go through at the same time as others of it; of the crowded colour, all.
struct BlockRange {
  int family, colour, first, last;
};
/// Appends manifolds (by touch) whose bodies have moved too far against each other since they were collided.
void find_moved(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, std::vector<int>& moved);

enum class Pass : std::uint8_t {
  prepare,  // rows for this step, and the impulses of the last one given to the bodies
  push,     // overlaps are pushed out
  relax,    // they are not: takes back the speed that pushing has given; friction; new gaps
  bounce    // throws back what arrived fast enough
};
/// All of them, colour by colour, are one sweep.
void sweep(Pass pass, ContactSlots& slots, const BlockRange& range, BodyLines& bodies, const SweepSettings& settings);

/// What contacts did in a substep, J: impulses times mean velocities, of its start (BodyLines::last) and of now.
struct ContactWork {
  double normal = 0, friction = 0;  // on what they lie between
  double led = 0;                   // by kinematic bodies
};
/// Adds to it; `bounced`: of what bouncing gave, velocities before it being the last ones.
void add_work(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, bool bounced, ContactWork& out);

/// At the end of the last substep: what all its impulses together did to velocities, in the place of those at its start, and the
/// lengths of that (linear, angular).
void note_changes(BodyLines& bodies, std::span<const int> rows);
/// The worst law among these contacts after a last substep of h, changes being noted: as the reference's judge says
/// (judging.cpp).
float judge(ContactSlots& slots, const BlockRange& range, const BodyLines& bodies, float h);

/// A manifold, by touch, that has begun to press or ceased to.
struct Pressing {
  int touch;
  bool begins;
};
/// Appends those of this step.
void find_pressing(ContactSlots& slots, const BlockRange& range, std::vector<Pressing>& changed);

/// The lines of all bodies, from the state; where somebody placed one elsewhere, it has wandered.
void load_bodies(const State& s, BodyLines& bodies);
/// Of those in these rows alone; and so on for all that follow.
void load_rows(const State& s, std::span<const int> rows, BodyLines& bodies);
/// How far bodies may get in h, which gravity makes longer by `fall`.
void look_ahead(BodyLines& bodies, std::span<const int> rows, float h, float fall);
/// How slow each body is (BodyLines::calm), 1 at rest, 0 at `slow` (m/s) and beyond; and the momentum of what is fast (push).
void find_calm(BodyLines& bodies, std::span<const int> rows, float slow);
/// Load-scaled inertia. A body that is squeezed between others with the force L counts for more, in this step, by 1 + share L/(m
/// g): its mass and inertia, not its weight, so that forces at rest stay what they are. Contacts are as stiff as the inertias
/// they see, and a light body under a heavy one would have springs for its own weight alone. Only what is calm: what slides,
/// falls or is struck has its own inertia, or momentum would be lost. The factor follows loads by jumps, up at once and down
/// slowly, but for what is no longer calm: following each change would pump energy. No load counts for more than `most` (N): what
/// is wedged is pushed apart by springs that are the stiffer the more it counts for, and would count for more in every step.
struct Burdens {
  float share = 0, gravity = 0, most = 0;
};
void bear_loads(BodyLines& bodies, std::span<const int> rows, const Burdens& burdens);
/// v <- v + kick; moved <- 0.
void begin_step(BodyLines& bodies, std::span<const int> rows);
/// v_last <- v.
void mark(BodyLines& bodies, std::span<const int> rows);
/// v <- 2 v - v_last: gravity and all impulses of the last substep once more, without looking at any contact.
void begin_substep(BodyLines& bodies, std::span<const int> rows);
/// moved <- moved + h v.
void advance(BodyLines& bodies, std::span<const int> rows, float h);
/// The energy of bodies' motion as it is now, with their own inertia.
void note_energy(BodyLines& bodies, std::span<const int> rows);
/// Appends lines of bodies that are faster than `slow` (m/s), and whose motion has gained by a share more than weight did on
/// their way in this step.
void find_gaining(const BodyLines& bodies, std::span<const int> rows, const Vec3& gravity, float slow, std::vector<int>& gaining);
/// Appends lines of bodies that have moved, in this step, so far that they may have got past something.
void find_fast(const BodyLines& bodies, std::span<const int> rows, std::vector<int>& fast);
/// Into the state after a step of h, turning what spins on its own; false where a number is no longer finite.
bool finish_bodies(BodyLines& bodies, std::span<const int> rows, float h, State& s);

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
