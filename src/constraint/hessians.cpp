#include "constraint/hessians.h"

namespace rotule {

Mat3 rotation_hessian(const Vec3& f, const Vec3& rho) {
  Mat3 H = 0.5 * (f * rho.transpose() + rho * f.transpose());
  H.diagonal().array() -= f.dot(rho);
  return H;
}

void add_point_hessian(const Vec3& f, const Vec3& rho_a, const Vec3& rho_b, Mat12& H) {
  H.block<3, 3>(3, 3) += rotation_hessian(f, rho_a);
  H.block<3, 3>(9, 9) -= rotation_hessian(f, rho_b);
}

void add_slide_hessian(double lambda, const Vec3& n, const Vec3& from_b_to_a, const Vec3& rho_b, Mat12& H) {
  const Mat3 N = lambda * skew(n);
  const Mat3 turn_turn = lambda * (rho_b * n.transpose() - n.dot(rho_b) * Mat3::Identity());
  H.block<3, 3>(3, 3) += rotation_hessian(lambda * n, from_b_to_a);
  H.block<3, 3>(3, 0) += N;
  H.block<3, 3>(0, 3) += N.transpose();
  H.block<3, 3>(3, 6) -= N;
  H.block<3, 3>(6, 3) -= N.transpose();
  H.block<3, 3>(3, 9) += turn_turn;
  H.block<3, 3>(9, 3) += turn_turn.transpose();
  H.block<3, 3>(9, 9) -= rotation_hessian(lambda * n, rho_b);
}

void add_align_hessian(double lambda, const Vec3& d_a, const Vec3& d_b, Mat12& H) {
  const Mat3 turn_turn = lambda * (d_a.dot(d_b) * Mat3::Identity() - d_b * d_a.transpose());
  H.block<3, 3>(3, 3) += rotation_hessian(lambda * d_a, d_b);
  H.block<3, 3>(9, 9) += rotation_hessian(lambda * d_a, d_b);
  H.block<3, 3>(3, 9) += turn_turn;
  H.block<3, 3>(9, 3) += turn_turn.transpose();
}

void add_distance_hessian(double lambda, const Vec3& e, const Vec3& rho_a, const Vec3& rho_b, Mat12& H) {
  const double distance = e.norm();
  const Vec3 n = e / distance;
  Eigen::Matrix<double, 3, 12> De;
  De << Mat3::Identity(), -skew(rho_a), -Mat3::Identity(), skew(rho_b);
  const Mat3 across = lambda / distance * (Mat3::Identity() - n * n.transpose());
  H += De.transpose() * across * De;
  add_point_hessian(lambda * n, rho_a, rho_b, H);
}

}  // namespace rotule
