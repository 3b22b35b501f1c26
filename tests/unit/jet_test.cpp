// Second-order jets against central differences of the same expressions in plain numbers.
#include <gtest/gtest.h>
#include <rotule/jet.h>

#include <Eigen/Geometry>

namespace rotule {
namespace {

/// Each expression once, for numbers and for jets alike.
struct Expressions {
  template <class T>
  static std::vector<std::pair<const char*, T>> at(const T& x, const T& y, const T& z) {
    using std::atan2, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt;
    T accumulated = x;
    accumulated += y;
    accumulated *= z;
    accumulated -= x * y;
    accumulated /= z + T(3.0);
    return {{"sum", x + y - z + T(2.0)},
            {"negative", -(x * y)},
            {"product", x * y * z},
            {"quotient", x / (y + z * z)},
            {"sin", sin(x * y)},
            {"cos", cos(x - z * y)},
            {"exp", exp(x * z)},
            {"log", log(x * x + y)},
            {"sqrt", sqrt(x * y + z * z)},
            {"pow", pow(x * y, 2.5)},
            {"inverse pow", pow(x + y, -1.5)},
            {"atan2, first quadrant", atan2(x * y, z + x)},
            {"atan2, second quadrant", atan2(x * y, -z - x)},
            {"atan2, third quadrant", atan2(-x * y, -z)},
            {"atan2, straight up", atan2(x * y, z - T(0.9))},
            {"atan2, along the axis", atan2(x - T(0.7), y)},
            {"compound assignments", accumulated},
            {"all together", sin(exp(x / y) * sqrt(z)) / (T(2.0) + cos(x))}};
  }
};

constexpr std::array<int, 3> variables{0, 7, 12};
const Eigen::Vector3d sample_point(0.7, 1.1, 0.9);

TEST(Jet, DerivativesAreThoseOfTheExpression) {
  const auto jets = Expressions::at<Jet>(Jet::variable(0, sample_point[0]), Jet::variable(7, sample_point[1]),
                                         Jet::variable(12, sample_point[2]));
  for (std::size_t n = 0; n < jets.size(); ++n) {
    const auto f = [&](Eigen::Vector3d at) { return Expressions::at<double>(at[0], at[1], at[2])[n].second; };
    const auto& [name, jet] = jets[n];
    EXPECT_NEAR(jet.value, f(sample_point), 1e-15) << name;
    const double h = 1e-3;
    const auto moved = [&](int i, double a, int j, double b) {
      return f(sample_point + a * h * Eigen::Vector3d::Unit(i) + b * h * Eigen::Vector3d::Unit(j));
    };
    for (int i = 0; i < 3; ++i) {
      const double first = (8 * (moved(i, 1, 0, 0) - moved(i, -1, 0, 0)) - (moved(i, 2, 0, 0) - moved(i, -2, 0, 0))) / (12 * h);
      EXPECT_NEAR(jet.gradient[variables[i]], first, 1e-9) << name << ", d/d" << i;
      for (int j = 0; j <= i; ++j) {
        const auto mixed = [&](double k) {
          return (moved(i, k, j, k) - moved(i, k, j, -k) - moved(i, -k, j, k) + moved(i, -k, j, -k)) / (4 * k * k * h * h);
        };
        const double second = (4 * mixed(1) - mixed(2)) / 3;
        EXPECT_NEAR(jet.hessian[Jet::pair(variables[i], variables[j])], second, 1e-7) << name << ", d2/d" << i << "d" << j;
      }
    }
    EXPECT_EQ(jet.gradient[3], 0) << name << ": does not depend on the other variables";
  }
}

TEST(Jet, VectorsFollowTheirComponents) {
  const JetVec3 a(Jet::variable(0, 1.0), Jet::variable(1, -2.0), Jet::variable(2, 0.5)), b(Eigen::Vector3d(0.3, 0.2, -1));
  const Eigen::Vector3d a0(1, -2, 0.5), b0(0.3, 0.2, -1);
  for (int k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(a.cross(b).e[k].value, a0.cross(b0)[k]);
  EXPECT_DOUBLE_EQ(a.cross(b).x().gradient[1], -1) << "d(a_y b_z - a_z b_y)/d(a_y) = b_z";
  EXPECT_DOUBLE_EQ(a.dot(b).value, a0.dot(b0));
  for (int k = 0; k < 3; ++k) EXPECT_DOUBLE_EQ(a.dot(b).gradient[k], b0[k]);
  // |a| has gradient n and Hessian (1 - n n^T) / |a|.
  const Jet length = a.norm();
  const Eigen::Vector3d n = a0.normalized();
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(length.gradient[i], n[i], 1e-15);
    for (int j = 0; j <= i; ++j) EXPECT_NEAR(length.hessian[Jet::pair(i, j)], ((i == j) - n[i] * n[j]) / a0.norm(), 1e-15);
  }
  const JetVec3 sum = a + b, difference = a - b, scaled = Jet(2.0) * a;
  EXPECT_DOUBLE_EQ(sum.z().value, -0.5);
  EXPECT_DOUBLE_EQ(difference.z().value, 1.5);
  EXPECT_DOUBLE_EQ(scaled.y().gradient[1], 2);
}

}  // namespace
}  // namespace rotule
