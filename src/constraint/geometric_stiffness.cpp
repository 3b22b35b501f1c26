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

/// What couples a group of three variables to the others. Groups are translation and rotation of a, then of b; those of an
/// immovable partner do not exist.
double coupling_of(const auto& H, const auto& owner, int group) {
  double coupling = 0;
  for (int other = 0; other < 2 * static_cast<int>(owner.size()); ++other)
    if (other != group && owner[other / 2] >= 0) coupling += H.template block<3, 3>(3 * group, 3 * other).norm();
  return coupling;
}

std::span<const double> rows_of(const VecX& lambda, const ConstraintBlock& block) {
  return {lambda.data() + block.first_row, static_cast<std::size_t>(block.rows)};
}

}  // namespace

void lump_stiffness(const ConstraintSet& constraints, const Kinematics& bodies, double t, const VecX& lambda, int body_count,
                    LumpedStiffness& K, Gang* gang) {
  K.linear.assign(body_count, Mat3::Zero());
  K.angular.assign(body_count, Mat3::Zero());
  const auto& blocks = constraints.blocks();
  const auto hessian = [&](int i, auto&& visit) {
    constraints.with_hessian(i, bodies, t, rows_of(lambda, blocks[static_cast<std::size_t>(i)]), visit);
  };
  K.shares.resize(blocks.size());
  share_pieces(gang, static_cast<int>(blocks.size()), [&](int first, int end) {
    for (int i = first; i < end; ++i)
      hessian(i, [&]<std::size_t count>(const auto& H, const std::array<int, count>& owner) {
        LumpedStiffness::Share& share = K.shares[static_cast<std::size_t>(i)];
        share.known = count == 2;
        if constexpr (count == 2) {
          share.owner = owner;
          for (int g = 0; g < 4; ++g)
            if (owner[g / 2] >= 0) {
              share.own[g] = H.template block<3, 3>(3 * g, 3 * g);
              share.coupling[g] = coupling_of(H, owner, g);
            }
        }
      });
  });
  const auto add = [&](int body, int g, const auto& own, double coupling) {
    Mat3& target = g % 2 == 0 ? K.linear[body] : K.angular[body];
    target -= own;
    target.diagonal().array() += coupling;
  };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const LumpedStiffness::Share& share = K.shares[i];
    for (int g = 0; share.known && g < 4; ++g)
      if (const int body = share.owner[g / 2]; body >= 0) add(body, g, share.own[g], share.coupling[g]);
    if (!share.known)
      hessian(static_cast<int>(i), [&](const auto& H, const auto& owner) {
        for (int g = 0; g < 2 * static_cast<int>(owner.size()); ++g)
          if (const int body = owner[g / 2]; body >= 0)
            add(body, g, H.template block<3, 3>(3 * g, 3 * g), coupling_of(H, owner, g));
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
