#pragma once
// The few mathematical types that the interface speaks: SI units, z up, quaternions body-to-world.
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <cstdint>
#include <limits>

namespace rotule {

using Vec3 = Eigen::Vector3d;
using Vec6 = Eigen::Matrix<double, 6, 1>;
using Mat3 = Eigen::Matrix3d;
using Mat6 = Eigen::Matrix<double, 6, 6>;
using Quat = Eigen::Quaterniond;
using VecX = Eigen::VectorXd;
using MatX = Eigen::MatrixXd;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Where a frame stands in another: x_outer = position + orientation * x_inner.
struct Pose {
  Vec3 position = Vec3::Zero();
  Quat orientation = Quat::Identity();
};

}  // namespace rotule
