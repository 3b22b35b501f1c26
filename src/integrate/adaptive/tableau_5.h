#pragma once
// Dormand and Prince's pair of orders 5 and 4 (J. Comp. Appl. Math. 6, 1980): six stages, and a seventh that is the next step's
// first. The continuous extension of order 4 is Shampine's, as printed in Hairer, Norsett and Wanner, Solving ODEs I, II.6.
#include <array>

namespace rotule {

struct DormandPrince5 {
  static constexpr int order = 5;
  static constexpr int stages = 7;                                      // the last one at the end of the step
  static constexpr int dense_stages = 7;                                // what the continuous extension needs
  static constexpr bool error_at_end = true;                            // the estimate looks at the last stage too
  static constexpr double share = 0.04;                                 // of the tolerance, for one step
  static constexpr double exponent = 0.2 - 0.75 * 0.04, memory = 0.04;  // of the PI control

  static constexpr std::array<double, 7> c{0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};
  static constexpr std::array<std::array<double, 6>, 7> a{{
      {},
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
  }};
  /// Difference of the two solutions, over h.
  static constexpr std::array<std::array<double, 7>, 1> error{
      {{71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40}}};
  /// The part of the extension that the values and slopes at both ends do not give: weights of theta^2 (1 - theta)^2.
  static constexpr std::array<std::array<double, 7>, 1> dense{
      {{-12715105075.0 / 11282082432, 0, 87487479700.0 / 32700410799, -10690763975.0 / 1880347072, 701980252875.0 / 199316789632,
        -1453857185.0 / 822651844, 69997945.0 / 29380423}}};

  static double combine(const std::array<double, 1>& norms) { return norms[0]; }
};

}  // namespace rotule
