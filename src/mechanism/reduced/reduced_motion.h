#pragma once
// Steps in reduced coordinates by the methods that bodies have too: a state is read into coordinates where a stretch of smooth
// motion begins, and written back where it ends. Drives that switch are located as ever (driven_motion.h), on the state.
#include <rotule/integrators.h>

#include <variant>

#include "base/snapshot_check.h"
#include "integrate/adaptive/adaptive.h"
#include "integrate/adaptive/tableau_5.h"
#include "integrate/adaptive/tableau_8.h"
#include "integrate/explicit/explicit_euler.h"
#include "integrate/explicit/modified_euler.h"
#include "integrate/explicit/rk2.h"
#include "integrate/explicit/rk4.h"
#include "integrate/explicit/taylor2.h"
#include "integrate/explicit/taylor3.h"
#include "integrate/explicit/two_thirds.h"
#include "integrate/multistep/ab4.h"
#include "integrate/symplectic/leapfrog.h"
#include "integrate/symplectic/semi_implicit_euler.h"
#include "integrate/symplectic/verlet.h"
#include "mechanism/driven_motion.h"
#include "mechanism/reduced/reduced_course.h"

namespace rotule {

class ReducedMotion {
 public:
  /// Throws Error where the model has what trees do not know, or the method wants more than accelerations.
  ReducedMotion(JointedMechanism& mechanism, ShockSolver& shocks, const IntegratorSettings& settings);

  /// Whether the model's joints make trees and nothing else, so that joints cannot open: what `automatic` asks for.
  static bool fits(const Model& model, bool by_impulses);

  /// Moves the state from t to t + h; adds what shocks take out to `lost`.
  void advance(State& s, double t, double h, DrivenMotion& driven, double& lost);
  void forget();
  /// Steps inside of methods with error control, written down to be made again.
  void keep_plan(StepPlan* plan) {
    std::visit(
        [&](auto& method) {
          if constexpr (requires { method.memory.plan; }) method.memory.plan = plan;
        },
        method_);
  }
  /// Bodies or joints came or went.
  void model_changed();

  /// What methods carry from step to step.
  template <class Archive>
  void archive(Archive& io) {
    std::visit(
        [&](auto& method) {
          if constexpr (requires { method.control; })
            archive_adaptive(io, method.memory);
          else if constexpr (requires { method.memory; })
            archive_samples(io, method.memory);
        },
        method_);
  }

 private:
  using M = ReducedMechanism;
  using Method = std::variant<Rk4<M>, ExplicitEuler<M>, SemiImplicitEuler<M>, Rk2<M>, ModifiedEuler<M>, TwoThirds<M>, Taylor2<M>,
                              Taylor3<M>, Leapfrog<M>, Verlet<M>, Ab4<M>, Adaptive<ReducedCourse, DormandPrince5>,
                              Adaptive<ReducedCourse, DormandPrince8>>;
  static Method make_method(const IntegratorSettings& settings);

  template <class Archive>
  static void archive_adaptive(Archive& io, AdaptiveMemory& memory) {
    io(memory.step);
    io(memory.previous_error);
    io(memory.knows_acceleration);
    io(memory.acceleration);
    memory.pace.archive(io);
  }
  template <class Archive>
  static void archive_samples(Archive& io, Memory<ReducedState>& memory) {
    io(memory.h);
    io(memory.filled);
    constexpr int most_samples = 16;  // more than any method remembers
    if constexpr (!Archive::writes) require_fit(memory.filled >= 0 && memory.filled <= most_samples);
    const auto filled = static_cast<std::size_t>(memory.filled);
    if (!Archive::writes || memory.samples.size() < filled) memory.samples.resize(filled);
    for (auto& sample : std::span(memory.samples).first(filled)) {
      io(sample.s.q);
      io(sample.s.x);
      io(sample.s.u);
      io(sample.acceleration);
    }
  }

  /// Whether what the method remembers, which may come from a file, is of these trees.
  [[nodiscard]] bool memory_fits() const;
  /// Trees are found where there are none yet, and a state that opens their joints is closed as a projection would.
  void settle_in(State& s, double t);

  JointedMechanism& bodies_;
  ShockSolver& shocks_;
  ReducedMechanism reduced_;
  Method method_;
  ReducedState r_;
  State scratch_;
  VecX kept_;
  Memory<ReducedState> memory_;
};

}  // namespace rotule
