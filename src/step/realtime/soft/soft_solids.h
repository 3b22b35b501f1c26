#pragma once
// Groups of particles in the real-time step: springs, what touches them, forces. A part of each substep, between what moves
// bodies by weight and last impulses, and what presses them apart (realtime_stepper.h): so contacts and joints of bodies know in
// the same substep what particles gave.
#include "base/gang.h"
#include "step/realtime/soft/body_touches.h"
#include "step/realtime/soft/chains.h"
#include "step/realtime/soft/elastic_solids.h"
#include "step/realtime/soft/free_groups.h"
#include "step/realtime/soft/particle_pairs.h"
#include "step/realtime/stages.h"

namespace rotule::realtime {

class SoftSolids {
 public:
  explicit SoftSolids(const Model& model);

  [[nodiscard]] bool any() const { return model_.particle_count() > 0; }
  /// After bodies came or went.
  void bodies_changed() { touches_.gather_shapes(); }

  /// At the start of a step of so many substeps of h. `forces` on all, laid out as u, weight and what is inside of groups left
  /// out; or none.
  void begin(const State& s, double t, double h, int substeps, const VecX& forces, Stages& stages);
  /// The next substep.
  void substep(const State& s, double push_speed, Stages& stages, BodyLines& bodies);
  /// What contacts did in it, once bodies have theirs.
  void book(const BodyLines& bodies, SoftWork& work);
  /// Into the state; throws Error, naming the particle, where a number is no longer finite.
  void finish(State& s, Stages& stages);

  /// How far particles have come in this step, and their velocities, for the books: into triples behind those of bodies.
  void add_way(double share, VecX& u) const;
  void add_velocities(const VecX& before, double share, VecX& u) const;

  /// The largest share of the forces of elements that was given up on in the last step.
  [[nodiscard]] double left() const { return elastic_.left(); }
  [[nodiscard]] int touching() const { return touches_.touching() + pairs_.touching(); }

  template <class Archive>
  void archive(Archive& io) {
    io(rest_);
    io(given_);
    if constexpr (!Archive::writes) built_ = false;
  }
  [[nodiscard]] bool fits() const {
    return (rest_.size() == 0 || rest_.size() == 3 * model_.particle_count()) &&
           (given_.empty() || given_.size() == static_cast<std::size_t>(line_of_particle(model_.particle_count())));
  }

 private:
  void build(const State& s);
  void resist(const State& s, double t, double h, const VecX& forces);

  const Model& model_;
  ParticleLines lines_;
  Chains chains_;
  ElasticSolids elastic_;
  FreeGroups free_;
  BodyTouches touches_;
  ParticlePairs pairs_;
  std::vector<ChainScratch> scratch_;
  std::vector<Resistance> resistances_;
  std::vector<Mat3> slopes_;
  VecX rest_;                        // where particles were when this began: chains are cut by it
  std::vector<ParticleLine> given_;  // N: what elements gave each in the last substep
  bool built_ = false;
  bool found_ = false;
  int part_ = 0, parts_ = 0;
  double h_ = 0;
};

}  // namespace rotule::realtime
