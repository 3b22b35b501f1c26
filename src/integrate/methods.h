#pragma once
// Every method over one kind of mechanism, and the one that settings name.
#include <rotule/integrators.h>

#include <variant>

#include "integrate/explicit/explicit_euler.h"
#include "integrate/explicit/modified_euler.h"
#include "integrate/explicit/rk2.h"
#include "integrate/explicit/rk4.h"
#include "integrate/explicit/taylor2.h"
#include "integrate/explicit/taylor3.h"
#include "integrate/explicit/two_thirds.h"
#include "integrate/implicit/gauss4.h"
#include "integrate/implicit/gauss6.h"
#include "integrate/implicit/generalised_alpha.h"
#include "integrate/implicit/implicit_euler.h"
#include "integrate/implicit/implicit_midpoint.h"
#include "integrate/implicit/linear_implicit_euler.h"
#include "integrate/implicit/sdirk.h"
#include "integrate/implicit/trapezoid.h"
#include "integrate/multistep/ab4.h"
#include "integrate/multistep/bdf2.h"
#include "integrate/symplectic/leapfrog.h"
#include "integrate/symplectic/semi_implicit_euler.h"
#include "integrate/symplectic/verlet.h"

namespace rotule {

template <ImplicitMechanism M>
using AnyIntegrator =
    std::variant<Rk4<M>, ExplicitEuler<M>, SemiImplicitEuler<M>, Rk2<M>, Ab4<M>, Leapfrog<M>, Verlet<M>, ModifiedEuler<M>,
                 TwoThirds<M>, Taylor2<M>, Taylor3<M>, LinearImplicitEuler<M>, ImplicitEuler<M>, Trapezoid<M>,
                 ImplicitMidpoint<M>, Gauss4<M>, Gauss6<M>, Bdf2<M>, Sdirk<M>, GeneralisedAlpha<M>>;

template <ImplicitMechanism M>
AnyIntegrator<M> make_integrator(const IntegratorSettings& settings) {
  struct Make {
    AnyIntegrator<M> operator()(const Rk4Settings&) { return Rk4<M>(); }
    AnyIntegrator<M> operator()(const ExplicitEulerSettings&) { return ExplicitEuler<M>(); }
    AnyIntegrator<M> operator()(const SemiImplicitEulerSettings&) { return SemiImplicitEuler<M>(); }
    AnyIntegrator<M> operator()(const Rk2Settings&) { return Rk2<M>(); }
    AnyIntegrator<M> operator()(const Ab4Settings&) { return Ab4<M>(); }
    AnyIntegrator<M> operator()(const LeapfrogSettings&) { return Leapfrog<M>(); }
    AnyIntegrator<M> operator()(const VerletSettings&) { return Verlet<M>(); }
    AnyIntegrator<M> operator()(const ModifiedEulerSettings&) { return ModifiedEuler<M>(); }
    AnyIntegrator<M> operator()(const TwoThirdsSettings&) { return TwoThirds<M>(); }
    AnyIntegrator<M> operator()(const Taylor2Settings&) { return Taylor2<M>(); }
    AnyIntegrator<M> operator()(const Taylor3Settings&) { return Taylor3<M>(); }
    AnyIntegrator<M> operator()(const LinearImplicitEulerSettings&) { return LinearImplicitEuler<M>(); }
    AnyIntegrator<M> operator()(const ImplicitEulerSettings& s) { return ImplicitEuler<M>(s); }
    AnyIntegrator<M> operator()(const TrapezoidSettings& s) { return Trapezoid<M>(s); }
    AnyIntegrator<M> operator()(const ImplicitMidpointSettings& s) { return ImplicitMidpoint<M>(s); }
    AnyIntegrator<M> operator()(const Gauss4Settings& s) { return Gauss4<M>(s); }
    AnyIntegrator<M> operator()(const Gauss6Settings& s) { return Gauss6<M>(s); }
    AnyIntegrator<M> operator()(const Bdf2Settings& s) { return Bdf2<M>(s); }
    AnyIntegrator<M> operator()(const SdirkSettings& s) { return Sdirk<M>(s); }
    AnyIntegrator<M> operator()(const GeneralisedAlphaSettings& s) { return GeneralisedAlpha<M>(s); }
  };
  // Methods that want more of a mechanism than these verbs have a place of their own (step/reference_stepper.h).
  return std::visit(
      []<class S>(const S& chosen) -> AnyIntegrator<M> {
        if constexpr (S::traits.adaptive || S::traits.constrained)
          return Rk4<M>();
        else
          return Make()(chosen);
      },
      settings);
}

}  // namespace rotule
