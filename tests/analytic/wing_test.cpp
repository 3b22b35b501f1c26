// A wing that bends and twists in a stream: the bending-torsion flutter of M. Goland (1945), against a Galerkin solution of the
// same wing with Theodorsen's function, and the speed that was published.
#include <gtest/gtest.h>
#include <rotule/flutter.h>
#include <rotule/scene.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <vector>

#include "linalg/decompositions.h"

namespace rotule {
namespace {

using std::numbers::pi;
using Complex = std::complex<double>;

/// Goland's wing: places along the chord are measured downstream from its elastic axis.
struct GolandWing {
  double L = 6.096, chord = 1.8288, m = 35.72, I = 35.72 * 0.0625 * 1.8288 * 1.8288;  // I about the centre of mass
  double EI = 9.77e6, GJ = 0.988e6, rho = 1.225;
  double offset = 0.10 * 1.8288;  // of the centre of mass
  double quarter = -0.08 * 1.8288, half = 0.17 * 1.8288, three_quarters = 0.42 * 1.8288;

  [[nodiscard]] Scene scene(int elements) const {
    constexpr double E = 70e9, G = 26e9, area = 1e-2;
    Scene out;
    out.gravity.setZero();
    out.add(FlowDef(UniformFlow{.name = "wind", .velocity = {0, -1, 0}}));
    const std::vector<double> angles{-0.5, 0, 0.5};
    out.add(Beam{.name = "wing",
                 .to = {L, 0, 0},
                 .elements = elements,
                 .youngs_modulus = E,
                 .shear_modulus = G,
                 .area = area,
                 .second_moment = EI / E,
                 .second_moment_side = 30 * EI / E,
                 .torsion_constant = GJ / G,
                 .density = m / area,
                 .rotary_inertia = I,
                 .mass_offset = offset,
                 .section = SectionCoefficients{.width = chord,
                                                .density = rho,
                                                .angles = angles,
                                                .lift = {-pi, 0, pi},
                                                .unsteady = true,
                                                .apparent_mass = true,
                                                .pressure_offset = quarter,
                                                .velocity_offset = three_quarters}});
    return out;
  }

  static constexpr int modes = 3;  // of bending, and of torsion

  /// Of the section by (h up, theta nose up), both turning as exp(i omega t): forces over omega^2, U = omega b / k.
  [[nodiscard]] Eigen::Matrix2cd inertia(double k) const {
    using Row = Eigen::RowVector2cd;
    const Complex i(0, 1);
    const Complex h1(std::cyl_bessel_j(1.0, k), -std::cyl_neumann(1.0, k)),
        h0(std::cyl_bessel_j(0.0, k), -std::cyl_neumann(0.0, k));
    const Complex C = h1 / (h1 + i * h0);
    const auto z = [](double p) { return Row(1, -p); };
    const double b = chord / 2, U = b / k, apparent = pi * rho * b * b;
    Eigen::Matrix2cd B;
    B << m, -m * offset, -m * offset, I + m * offset * offset + apparent * b * b / 8;
    B += apparent * z(half).transpose() * z(half) + apparent * U * i * z(three_quarters).transpose() * Row(0, 1);
    B += 2 * pi * rho * U * b * C * z(quarter).transpose() * (Row(0, U) - i * z(three_quarters));
    return B;
  }

  /// Squared frequencies at this reduced frequency, by the modes of the wing without its offset.
  [[nodiscard]] Eigen::VectorXcd roots(double k) const {
    constexpr std::array<double, modes> beta{1.875104068711961, 4.694091132974174, 7.854757438237613};
    constexpr int points = 200;
    const auto shape = [&](int n, double s) {
      if (n >= modes) return std::sin((n - modes + 0.5) * pi * s);
      const double b = beta[static_cast<std::size_t>(n)];
      const double ratio = (std::cosh(b) + std::cos(b)) / (std::sinh(b) + std::sin(b));
      return std::cosh(b * s) - std::cos(b * s) - ratio * (std::sinh(b * s) - std::sin(b * s));
    };
    MatX overlap = MatX::Zero(2 * modes, 2 * modes);
    for (int p = 0; p <= points; ++p) {
      const double s = static_cast<double>(p) / points, weight = L / points / 3 *
                                                                 (p == 0 || p == points ? 1
                                                                  : p % 2 == 1          ? 4
                                                                                        : 2);
      for (int a = 0; a < 2 * modes; ++a)
        for (int c = 0; c < 2 * modes; ++c) overlap(a, c) += weight * shape(a, s) * shape(c, s);
    }
    const Eigen::Matrix2cd B = inertia(k);
    Eigen::MatrixXcd whole = overlap.cast<Complex>();
    VecX stiffness(2 * modes);
    for (int a = 0; a < 2 * modes; ++a) {
      for (int c = 0; c < 2 * modes; ++c) whole(a, c) *= B(a / modes, c / modes);
      const double wave = a < modes ? beta[static_cast<std::size_t>(a)] / L : (a - modes + 0.5) * pi / L;
      stiffness[a] = (a < modes ? EI * std::pow(wave, 4) : GJ * wave * wave) * overlap(a, a);
    }
    const Eigen::MatrixXcd S = whole.inverse() * stiffness.cast<Complex>().asDiagonal().toDenseMatrix();
    // A complex matrix as a real one twice as large has its eigenvalues and their conjugates: of each pair, v_below = -i v_above
    // tells its own.
    MatX real(4 * modes, 4 * modes);
    real << S.real(), -S.imag(), S.imag(), S.real();
    const ComplexEigen eigen = complex_eigen(real);
    Eigen::VectorXcd out(2 * modes);
    Eigen::Index found = 0;
    for (Eigen::Index n = 0; n < eigen.values.size() && found < out.size(); ++n) {
      const Eigen::VectorXcd above = eigen.vectors.col(n).head(2 * modes), below = eigen.vectors.col(n).tail(2 * modes);
      const Eigen::VectorXcd own = above + Complex(0, 1) * below;
      if (own.norm() > 1e-6 * above.norm()) out[found++] = eigen.values[n];
    }
    return out.head(found);
  }

  /// The lowest speed at which one of the two slowest roots is real: k from high to low.
  [[nodiscard]] double critical() const {
    const auto least = [&](double k) {
      Eigen::VectorXcd all = roots(k);
      Complex out(0, infinity);
      for (const Complex& root : all)
        if (std::sqrt(std::abs(root)) < 120 && root.imag() < out.imag()) out = root;
      return out;
    };
    double high = 2;
    while (least(high).imag() > 0 && high > 0.05) high *= 0.98;
    double low = high, above = high / 0.98;
    for (int n = 0; n < 40; ++n) {
      const double middle = 0.5 * (low + above);
      (least(middle).imag() > 0 ? above : low) = middle;
    }
    return std::sqrt(least(low).real()) * chord / 2 / low;
  }
};

TEST(Wing, GolandsFluttersAtThePublishedSpeed) {
  const GolandWing wing;
  const double wanted = wing.critical();
  EXPECT_NEAR(wanted, 137.2, 0.02 * 137.2);
  const FlutterReport report = flutter(wing.scene(16), {.speeds = {100, 120, 150, 180}});
  ASSERT_TRUE(report.critical_speed) << wanted;
  EXPECT_NEAR(*report.critical_speed / wanted, 1, 0.015) << wanted;
  EXPECT_NEAR(2 * pi * report.critical_frequency, 70.7, 0.02 * 70.7);
}

}  // namespace
}  // namespace rotule
