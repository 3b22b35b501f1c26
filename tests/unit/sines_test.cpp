// Four sines and cosines at once against the library's, in units of the last place, where quarters meet, far out, and beyond
// numbers.
#include "math/sines.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace rotule {
namespace {

/// The worse of both, in units in the last place of 1.
double worst(double x) {
  const SinesCosines at = sines_cosines(all_lanes(x));
  return std::max(std::abs(at.sin[0] - std::sin(x)), std::abs(at.cos[3] - std::cos(x))) / std::numeric_limits<double>::epsilon();
}

TEST(Sines, AreTheLibrarysToAUnitInTheLastPlace) {
  std::mt19937 random(1);
  for (const double reach : {1e-9, 1.0, 10.0, 1e3, 9e4}) {
    std::uniform_real_distribution<double> angle(-reach, reach);
    for (int n = 0; n < 20000; ++n) {
      const double x = angle(random);
      ASSERT_LE(worst(x), 1) << x;
    }
  }
  for (int quarter = -100; quarter <= 100; ++quarter)
    for (const double beside : {-1e-9, 0.0, 1e-9}) ASSERT_LE(worst(quarter * 0.785398163397448279 + beside), 1) << quarter;
}

TEST(Sines, SmallAnglesKeepTheirDigits) {
  for (double x = 1; x > 1e-300; x /= 3) ASSERT_LE(std::abs(sines_cosines(all_lanes(x)).sin[1] / std::sin(x) - 1), 4e-16) << x;
}

TEST(Sines, FarOutTheLibraryAnswers) {
  for (const double x : {1e5, -3e7, 1e18, 1e300}) {
    EXPECT_EQ(sines_cosines(Lanes3{0.5, x, 0.5, 0.5}).sin[1], std::sin(x));
    EXPECT_EQ(sines_cosines(Lanes3{0.5, 0.5, x, 0.5}).cos[2], std::cos(x));
  }
  const SinesCosines none = sines_cosines(Lanes3{std::numeric_limits<double>::infinity(), 0, std::nan(""), 0});
  EXPECT_TRUE(std::isnan(none.sin[0]) && std::isnan(none.cos[2]));
  EXPECT_EQ(none.sin[1], 0);
  EXPECT_EQ(none.cos[1], 1);
}

}  // namespace
}  // namespace rotule
