#pragma once
// What the real-time stepper writes down besides the motion: who touches whom; and, on request, the constraint problem that each
// step is worth, with the impulses that it gave, for the judge of the reference (problem.h).
#include "constraint/formulation/contact_formulation.h"
#include "dynamics/flow.h"
#include "mechanism/island.h"
#include "step/realtime/kernels.h"
#include "step/realtime/touch_counts.h"
#include "step/split_into_islands.h"

namespace rotule::realtime {

class Articulations;
class Touches;

struct Records {
  TouchLog log;
  TouchCounts counts;
  std::vector<Pressing> pressing;
  std::vector<TouchPair> touching;
  std::vector<std::pair<int, int>> overlapping;  // pairs with a sensor, now
  std::vector<TouchPair> sensed;                 // and those that were told
  std::vector<TouchPair> quiet;                  // that woke or fell asleep

  bool books = false;  // whether they are kept
  Flow flow;           // of this step
  VecX mean, rate;     // velocities of this step, and how they change
  State middle;
  FlowScratch flow_scratch;

  bool problems = false;  // whether they are kept
  std::vector<Island> islands;
  int island_count = 0;
  IslandSearch search;
  Kinematics start;               // of the step
  VecX free;                      // velocities that forces alone give
  std::vector<Contact> contacts;  // with the impulses of the whole step
  std::vector<Contact> at_hand;   // of one part of it
  std::vector<VecX> joints;       // impulses of the whole step, by linkage
  std::vector<DriveRow> drives;

  /// At the start of a step, after contacts were found; `forces` besides weight, laid out as u, or none.
  void begin_problem(const Model& model, const State& s, double t, double h, const VecX& forces, const ContactRules& rules,
                     double size, Touches& touches, const Articulations& articulations);
  /// After each part of it, the state still being that of the start.
  void add_part(const State& s, Touches& touches, const Articulations& articulations);
  /// Islands with their problems, answers and residuals; the largest residual.
  double close_problem(const Model& model, double t, double h, const ContactRules& rules, const Articulations& articulations);

  template <class Archive>
  void archive(Archive& io) {
    log.archive(io);
    counts.archive(io);
    io(sensed);
  }
  /// Whether what was read of a snapshot speaks of so many bodies alone.
  [[nodiscard]] bool fits(int bodies) const {
    return log.fits(bodies) && counts.fits(bodies) && TouchLog::are_of(sensed, bodies);
  }
};

}  // namespace rotule::realtime
