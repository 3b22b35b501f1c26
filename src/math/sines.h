#pragma once
// Sine and cosine of four angles at once, to about one unit in the last place, with the same bits on all processors. Angles are
// brought to within an eighth of a turn by two parts of pi/2, of which the first times a quarter's number is exact; polynomials
// are those of fdlibm (Sun Microsystems, 1993). Beyond 1e5 rad, and for what is no number, the library answers.
#include <cmath>

#include "math/lanes3.h"

namespace rotule {

using FourBits = long long __attribute__((vector_size(32)));

struct alignas(32) SinesCosines {
  Lanes3 sin = {}, cos = {};
};

ROTULE_LANES3_INLINE SinesCosines sines_cosines(const Lanes3& x) {
  constexpr double within = 1e5;                         // of the two parts
  constexpr double rounding = 6755399441055744.0;        // 1.5 * 2^52: what is added to it is rounded to whole numbers
  constexpr double quarters = 0.63661977236758134308;    // 2 / pi
  constexpr double first = 1.57079632673412561417;       // pi / 2, its first 33 bits
  constexpr double second = 6.07710050650619224932e-11;  // and the rest
  const Lanes3 shifted = x * quarters + rounding, n = shifted - rounding;
  const Lanes3 r = (x - n * first) - n * second, z = r * r;
  const Lanes3 s =
      r + r * z *
              (-1.66666666666666324348e-01 +
               z * (8.33333333332248946124e-03 +
                    z * (-1.98412698298579493134e-04 +
                         z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
  const Lanes3 half = 0.5 * z, about = 1.0 - half;
  const Lanes3 c =
      about +
      (((1.0 - about) - half) +
       z * z *
           (4.16666666666666019037e-02 +
            z * (-1.38888888888741095749e-03 +
                 z * (2.48015872894767294178e-05 +
                      z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))));
  const FourBits quarter = reinterpret_cast<FourBits>(shifted);
  const FourBits odd = (quarter & 1) != 0;
  const Lanes3 sine = odd ? c : s, cosine = odd ? s : c;
  const FourBits sine_bits = reinterpret_cast<FourBits>(sine) ^ ((quarter & 2) << 62);
  const FourBits cosine_bits = reinterpret_cast<FourBits>(cosine) ^ (((quarter + 1) & 2) << 62);
  SinesCosines out{reinterpret_cast<Lanes3>(sine_bits), reinterpret_cast<Lanes3>(cosine_bits)};
  for (int k = 0; k < 4; ++k)
    if (!(std::abs(x[k]) < within)) [[unlikely]] {
      out.sin[k] = std::sin(x[k]);
      out.cos[k] = std::cos(x[k]);
    }
  return out;
}

}  // namespace rotule
