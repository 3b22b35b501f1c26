#include "constraint/geometric_stiffness.h"

#include <Eigen/Eigenvalues>

#include "base/gang.h"

namespace rotule {

namespace {

/// The nearest symmetric matrix without negative eigenvalues.
Mat3 positive_part(const Mat3& K) {
  Eigen::SelfAdjointEigenSolver<Mat3> eigen;
  eigen.compute(0.5 * (K + K.transpose()));
  const Vec3 values = eigen.eigenvalues().cwiseMax(0.0);
  return eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

std::span<const double> rows_of(const VecX& lambda, const ConstraintBlock& block) {
  return {lambda.data() + block.first_row, static_cast<std::size_t>(block.rows)};
}

}  // namespace

void lump_stiffness(const ConstraintSet& constraints, const Kinematics& bodies, double t, const VecX& lambda, int body_count,
                    LumpedStiffness& K, Gang* gang) {
  K.linear.assign(body_count, Mat3::Zero());
  K.angular.assign(body_count, Mat3::Zero());
  for (std::size_t i = 0; i < constraints.blocks().size(); ++i) {
    const ConstraintBlock& block = constraints.blocks()[i];
    constraints.with_hessian(static_cast<int>(i), bodies, t, rows_of(lambda, block),
                             [&]<std::size_t count>(const auto& H, const std::array<int, count>& owner) {
                               // Groups of three variables: translation and rotation of a, then of b; those of an immovable
                               // partner do not exist.
                               constexpr int groups = 2 * static_cast<int>(count);
                               for (int g = 0; g < groups; ++g) {
                                 const int body = owner[g / 2];
                                 if (body < 0) continue;
                                 Mat3& target = g % 2 == 0 ? K.linear[body] : K.angular[body];
                                 target -= H.template block<3, 3>(3 * g, 3 * g);
                                 double coupling = 0;
                                 for (int other = 0; other < groups; ++other)
                                   if (other != g && owner[other / 2] >= 0)
                                     coupling += H.template block<3, 3>(3 * g, 3 * other).norm();
                                 target.diagonal().array() += coupling;
                               }
                             });
  }
  share_pieces(gang, body_count, [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      K.linear[i] = positive_part(K.linear[i]);
      K.angular[i] = positive_part(K.angular[i]);
    }
  });
}

MatX geometric_stiffness(const ConstraintSet& constraints, const Kinematics& bodies, double t, const VecX& lambda,
                         int body_count) {
  MatX K = MatX::Zero(6 * body_count, 6 * body_count);
  for (std::size_t i = 0; i < constraints.blocks().size(); ++i) {
    const ConstraintBlock& block = constraints.blocks()[i];
    constraints.with_hessian(static_cast<int>(i), bodies, t, rows_of(lambda, block),
                             [&]<std::size_t count>(const auto& H, const std::array<int, count>& owner) {
                               for (std::size_t row = 0; row < count; ++row)
                                 for (std::size_t column = 0; column < count; ++column)
                                   if (owner[row] >= 0 && owner[column] >= 0)
                                     K.block<6, 6>(6 * owner[row], 6 * owner[column]) -=
                                         H.template block<6, 6>(6 * row, 6 * column);
                             });
  }
  return K;
}

}  // namespace rotule
