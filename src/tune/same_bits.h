#pragma once
// Logarithm and exponential, and a generator of random numbers, that give the same bits on every machine: the C library picks its
// own functions by processor, and those differ in the last bit. Sums, products and square roots are the same everywhere (IEEE
// 754, contraction off), and nothing else is used here. Good to about 1e-15, which is more than an evolution strategy can see.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace rotule::tune {

/// Natural logarithm: x = m 2^e with m near 1, and ln m = 2 artanh((m - 1) / (m + 1)) by its series.
inline double same_log(double x) {
  if (!(x > 0)) return x == 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  if (x > std::numeric_limits<double>::max()) return x;
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < std::numbers::sqrt2 / 2) {
    m *= 2;
    --e;
  }
  const double z = (m - 1) / (m + 1), z2 = z * z;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * z2 + 1.0 / k;
  return e * std::numbers::ln2 + 2 * z * sum;
}
inline double same_log10(double x) { return same_log(x) / std::numbers::ln10; }

/// e^x: x = n ln 2 + r, and e^r by its series.
inline double same_exp(double x) {
  if (x > 709) return std::numeric_limits<double>::infinity();
  if (x < -745) return 0;
  const double n = std::nearbyint(x / std::numbers::ln2), r = x - n * std::numbers::ln2;
  double sum = 1;
  for (int k = 18; k >= 1; --k) sum = 1 + sum * r / k;
  return std::ldexp(sum, static_cast<int>(n));
}
inline double same_pow10(double x) { return same_exp(x * std::numbers::ln10); }

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64: any seed and stream give a state that is not near any other's.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t mix = seed ^ (stream * 0xd1342543de82ef95ULL + 0x2545f4914f6cdd1dULL);
    for (std::uint64_t& word : state_) {
      mix += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = mix;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t out = std::rotl(state_[1] * 5, 7) * 9, t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return out;
  }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Mean 0, deviation 1, by Marsaglia's polar method.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double u = 0, v = 0, s = 0;
    do {
      u = 2 * uniform() - 1;
      v = 2 * uniform() - 1;
      s = u * u + v * v;
    } while (s >= 1 || s == 0);
    const double scale = std::sqrt(-2 * same_log(s) / s);
    spare_ = v * scale;
    has_spare_ = true;
    return u * scale;
  }

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace rotule::tune
