#pragma once
// Every method over one kind of mechanism, and the one that settings name.
#include <rotule/error.h>
#include <rotule/integrators.h>

#include <string>
#include <utility>
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

/// A variant with more alternatives: for methods that want more of a mechanism than these verbs.
template <class Variant, class... More>
struct WithMoreAlternatives;
template <class... Alternatives, class... More>
struct WithMoreAlternatives<std::variant<Alternatives...>, More...> {
  using type = std::variant<Alternatives..., More...>;
};
template <class Variant, class... More>
using WithMore = typename WithMoreAlternatives<Variant, More...>::type;

/// For a mechanism that has no more than these verbs.
struct NoMoreMethods {};

/// The method that the settings name. `more` makes those that AnyIntegrator has not; where it does not know one either, it is
/// refused.
template <ImplicitMechanism M, class Any = AnyIntegrator<M>, class More = NoMoreMethods>
Any make_integrator(const IntegratorSettings& settings, const More& more = {}) {
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
  return std::visit(
      [&more]<class S>(const S& chosen) -> Any {
        if constexpr (requires { Make()(chosen); })
          return std::visit([]<class Method>(Method&& method) -> Any { return std::forward<Method>(method); }, Make()(chosen));
        else if constexpr (requires { more(chosen); })
          return more(chosen);
        else
          throw Error("integrator", std::string(S::name) + " wants more of a mechanism than this one has");
      },
      settings);
}

}  // namespace rotule
