#pragma once
// A step of bodies that touch, by a method of accelerations: stretches of smooth motion, each with its rows in force, from event
// to event. A stretch is one step of the method, or as long as error control allows. Whether something happens in it is looked
// for on cubics through its ends; when, by making the stretch anew, shorter, until it ends there: the state at an event is as
// good as any other, and the method keeps its order.
#include <rotule/integrators.h>

#include <memory>
#include <variant>

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
#include "mechanism/touching/touching_mechanism.h"

namespace rotule {

class TouchingMotion {
 public:
  /// Throws Error where the model has what contacts by accelerations cannot do.
  TouchingMotion(JointedMechanism& mechanism, const IntegratorSettings& settings);

  /// Moves the state from t to t + h.
  void advance(State& s, double t, double h);
  /// Forces at this state, into the contacts found there.
  void finish(const State& s, double t, std::vector<Contact>& contacts);
  void forget();
  void shapes_changed() { touching_.shapes_changed(); }
  /// J that impacts have taken out in the last step.
  [[nodiscard]] double struck_energy() const { return touching_.struck_energy; }

  /// What a method with error control carries from step to step.
  template <class Archive>
  void archive(Archive& io) {
    std::visit(
        [&](auto& method) {
          if constexpr (requires { method.control; }) {
            io(method.memory.step);
            io(method.memory.previous_error);
            method.memory.pace.archive(io);
          }
        },
        method_);
  }

 private:
  using M = TouchingMechanism;
  using Method = std::variant<Rk4<M>, ExplicitEuler<M>, Rk2<M>, ModifiedEuler<M>, TwoThirds<M>, Taylor2<M>, Taylor3<M>,
                              Adaptive<M, DormandPrince5>, Adaptive<M, DormandPrince8>>;
  static Method make_method(const IntegratorSettings& settings);

  template <class AnyMethod>
  void advance_by(AnyMethod& method, State& s, double t, double h);
  /// The stretch that begins at s, made but not taken; its end is end_of(method).
  template <class AnyMethod>
  double make(AnyMethod& method, State& s, double t, double remaining);
  template <class AnyMethod>
  void remake(AnyMethod& method, const State& s, double t, double length);
  template <class AnyMethod>
  State& end_of(AnyMethod& method);

  struct Located {
    double share = 1;  // of the stretch
    TouchingMechanism::Event event;
  };
  template <class AnyMethod>
  Located first_event(AnyMethod& method, const State& s, double t, double length);
  /// On the cubics through both ends.
  void between(const State& s, double theta, double length, State& out);

  JointedMechanism& mechanism_;
  TouchingMechanism touching_;
  Method method_;
  ShockSolver shocks_;
  State end_, trial_;
  Flow booked_;  // before the present stretch
  VecX a_start_, a_end_, sigma_end_, rate_end_, sigma_, u_end_;
};

}  // namespace rotule
