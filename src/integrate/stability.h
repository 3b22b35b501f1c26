#pragma once
// Linear stability (B5). Dahlquist's test y' = lambda y, z = h lambda, asks by how much one step multiplies y: R(z). Methods that
// treat positions and velocities differently have no such function; they, like all others, are tried on the oscillator
//   q' = u,  u' = -|lambda|^2 q + 2 Re(lambda) u,
// whose eigenvalues are lambda and its conjugate. One step, with what the method remembers, is a matrix there; its spectral
// radius is the amplification. For Runge-Kutta methods it is |R(z)|, for multistep methods the largest root of the characteristic
// polynomial. The motion stays bounded where it is at most 1 (and simple, on the boundary).
//
// All of it in closed form, from the formulas of the methods and not from their code: the contract test compares the two.
#include <rotule/integrators.h>

#include <complex>
#include <optional>

namespace rotule {

using Complex = std::complex<double>;

/// R(z), of methods that have one.
std::optional<Complex> stability_function(const IntegratorSettings& integrator, Complex z);

/// Spectral radius of one step; infinite at a pole. Empty where a method has no fixed step to speak of.
std::optional<double> amplification(const IntegratorSettings& integrator, Complex z);

/// How far from 0 the step stays stable, without a gap, along the negative real axis (decay) and along the imaginary axis
/// (oscillation), as |z|; infinity where it does so without end. 0 on the imaginary axis: every undamped oscillation grows, if
/// slowly.
struct StabilityLimits {
  double real = 0;
  double imaginary = 0;
  double at_infinity = 0;  // amplification as z goes to minus infinity: 0 for L-stable methods
};
std::optional<StabilityLimits> stability_limits(const IntegratorSettings& integrator);

}  // namespace rotule
