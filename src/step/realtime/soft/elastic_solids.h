#pragma once
// Elastic elements, bending and what fills closed surfaces, in a substep of h: an implicit step of each group by itself,
// linearised at the places where it begins,
//   dx = W p,   p = h^2 (f(x) - K dx),   K without what is negative, W the inverse masses (ParticleLines::held),
// solved for the impulses p by conjugate gradients from those of the last substep on. Their directions are W times what is
// unbalanced, which elements give in sums of zero: so whatever is left unsolved, momentum is kept, and angular momentum but for
// what K leaves out. What is left is below `enough` of what is given, or told (docs/decisions/0034-*.md).
#include <vector>

#include "dynamics/forces/gas.h"
#include "step/realtime/soft/elastic_rows.h"
#include "step/realtime/stages.h"

namespace rotule::realtime {

class ElasticSolids {
 public:
  ElasticSolids() = default;
  explicit ElasticSolids(const Model& model);

  [[nodiscard]] bool any() const { return !groups_.empty(); }
  /// At the start of a step.
  void begin(const Model& model, const State& s, Stages& stages);
  /// In a substep of h: moves particles by what elements give. `given`: forces of the last substep, N, and then of this one.
  void solve(const Model& model, const State& s, float h, std::vector<ParticleLine>& given, ParticleLines& lines, Stages& stages);
  /// The largest share of forces that was left unbalanced in a substep since the step began, of those that were given up on.
  [[nodiscard]] double left() const;

 private:
  struct Gas {
    int number = 0;
    float stiffness = 0;                 // h^2 dp/dV, negative
    std::vector<ParticleLine> gradient;  // dV/dx
  };
  struct Group {
    Group(const Model& model, const Particles::Group& of) : rows(model, of.first, of.count) {}
    ElasticRows rows;
    std::vector<Gas> gases;
    std::vector<ParticleLine> impulse, along;  // p; and a direction's
    float left = 0;
  };
  void solve_one(const Model& model, const State& s, float h, std::vector<ParticleLine>& given, ParticleLines& lines,
                 Group& group) const;

  std::vector<Group> groups_;
  bool wears_ = false;
};

}  // namespace rotule::realtime
