// The longest step that a recipe's method bears: by the eigenvalues of the linearised scene where there are few, by bounds on
// them otherwise.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "analyse/remarks.h"
#include "base/text.h"
#include "integrate/stability.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

/// Growth that counts as unstable: an undamped mode on the border is allowed its rounding.
constexpr double border_growth = 1e-6;
constexpr int most_eigenvalues = 240;

/// Below it and with one digit, so that it can be typed.
double step_below(double h) {
  const double exponent = std::floor(std::log10(h));
  const double digit = std::max(1.0, std::floor(h / std::pow(10.0, exponent)));
  return to_double(fmt::format("{}e{}", digit, exponent)).value_or(h);
}

}  // namespace

double largest_stable_step(const IntegratorSettings& integrator, std::span<const std::complex<double>> spectrum) {
  double fastest = 0;
  for (const Complex& lambda : spectrum) fastest = std::max(fastest, std::abs(lambda));
  if (fastest == 0) return infinity;
  const auto stable = [&](double h) {
    return std::all_of(spectrum.begin(), spectrum.end(), [&](const Complex& lambda) {
      if (std::abs(lambda) < 1e-6 * fastest || lambda.real() > 1e-6 * fastest) return true;  // drifts, and true instabilities
      const Complex z = h * Complex(std::min(lambda.real(), 0.0), lambda.imag());
      return amplification(integrator, z).value_or(0) <= 1 + border_growth;
    });
  };
  double low = 1e-3 / fastest, high = low;
  if (!stable(low)) return 0;
  while (stable(high)) {
    high *= 1.25;
    if (high * fastest > 1e4) return infinity;
  }
  low = high / 1.25;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (stable(middle) ? low : high) = middle;
  }
  return low;
}

double look_at_stability(const Patient& patient, const World& world, bool closely, std::vector<Remark>& out) {
  const auto& [scene, recipe, content, model] = patient;
  const bool adaptive = std::visit([](const auto& method) { return method.traits.adaptive; }, recipe.integrator);
  // What holds particles together bears any step where they touch.
  const bool soft = content.needs.soft && !std::holds_alternative<NoContactSettings>(recipe.contacts);
  double frequency = soft ? content.tied_frequency : content.frequency, decay = soft ? content.tied_decay : content.decay;
  // By impulses springs and dampers of joints are taken at the step's end and bear any step; a linearisation has them in it.
  const bool on_joints = content.joint_frequency > 0 || content.joint_decay > 0, impulses = by_impulses(recipe.formulation);
  if (!impulses) {
    frequency = std::max(frequency, content.joint_frequency);
    decay = std::max(decay, content.joint_decay);
  }
  if (adaptive || (frequency == 0 && decay == 0)) return infinity;

  // By the bounds: an oscillation without damping, and a decay.
  const std::vector<Complex> bounds{Complex(0, frequency), Complex(0, -frequency), Complex(-decay, 0)};
  double step = largest_stable_step(recipe.integrator, bounds);
  double fastest = std::max(frequency, decay);
  bool bounded = true;  // whether it is no more than that
  const int unknowns = 6 * model.body_count() + 3 * model.particle_count();
  const bool borne = soft || (impulses && on_joints);
  if (std::isfinite(step) && !borne && (closely || recipe.dt > step)) {
    try {
      std::vector<Complex> spectrum;
      if (unknowns <= most_eigenvalues) {
        spectrum = eigenvalues(on_joints ? linearise(World(with_springs_alone(scene), recipes::exact())) : linearise(world));
      } else if (model.joints.empty()) {
        const LargestFrequency largest = largest_frequency(world, 1e-3);
        spectrum = {Complex(0, largest.frequency), Complex(0, -largest.frequency), Complex(-decay, 0)};
      }
      if (!spectrum.empty()) {
        step = largest_stable_step(recipe.integrator, spectrum);
        fastest = 0;
        for (const Complex& lambda : spectrum) fastest = std::max(fastest, std::abs(lambda));
        bounded = false;
      }
    } catch (const Error&) {  // no linearisation of this scene: the bounds stand
    }
  }
  // Methods that let every undamped oscillation grow do so slowly where it is well resolved: a tenth of a radian per step.
  if (step == 0) step = fastest > 0 ? 0.1 / fastest : infinity;
  if (recipe.dt <= step) return step;

  // A bound is a bound: what it says may be twice too careful.
  const bool sure = !bounded || recipe.dt > 2 * step;
  Remark remark{
      .kind = "unstable_step",
      .grade = sure ? Remark::Grade::grave : Remark::Grade::warning,
      .text = fmt::format("springs or dampers are too stiff for {} at dt {} s: the fastest motion has {:.4g}/s, which it "
                          "bears up to steps of {} {:.3g} s",
                          name_of(recipe.integrator), shortest(recipe.dt), fastest, bounded ? "at least" : "about", step),
      .flags = {},
      .edits = {}};
  remark.flags = step < 1e-5 && !impulses ? "--set integrator=gauss4" : fmt::format("--set dt={}", shortest(step_below(step)));
  out.push_back(std::move(remark));
  return step;
}

}  // namespace rotule
