#pragma once
// How far to go along a direction in which a potential falls: back by parabolas until it has fallen enough (Armijo), on by
// doubling where it does not curve upwards.
#include <algorithm>
#include <cmath>
#include <utility>

namespace rotule {

/// Of sums of energies, relative to what was summed and per root of the number of terms.
inline constexpr double rounding_of_sums = 1e-14;

/// From `here` along a direction of which the potential falls by `slope` per part at first; the point found is left in `here`,
/// and how far along it lies in `part`. False, with `here` as it was, where nothing lower was found.
///   look(part, point): makes `point` lie that far along, and returns what the potential there is above that of `here`
///   noise(point): below which its differences are rounding
///   flatter(point): whether the slope there is no steeper than at the beginning, which decides where differences are lost
/// `curved`: the direction may lead on beyond its end.
template <class Point, class Look, class Noise, class Flatter>
bool search_line(Point& here, Point& there, Point& further, double slope, bool curved, double& part, Look&& look, Noise&& noise,
                 Flatter&& flatter) {
  constexpr double enough = 1e-4;
  constexpr int most_tries = 40, most_doublings = 60;
  part = 1;
  double gained = 0;
  for (int tries = 0; tries < most_tries; ++tries) {
    gained = look(part, there);
    if (gained <= -enough * part * slope) break;
    if (part * slope <= noise(there)) {
      if (flatter(there)) break;
      part *= 0.5;
    } else {
      const double by_parabola = slope * part * part / (2 * (gained + slope * part));
      part = std::isfinite(by_parabola) ? std::clamp(by_parabola, 0.1 * part, 0.5 * part) : 0.1 * part;
    }
    if (tries + 1 == most_tries) return false;
  }
  for (int tries = 0; curved && part >= 1 && tries < most_doublings; ++tries) {
    const double after = look(2 * part, further);
    if (!(after < gained)) break;
    gained = after;
    part *= 2;
    std::swap(there, further);
  }
  std::swap(here, there);
  return true;
}

}  // namespace rotule
