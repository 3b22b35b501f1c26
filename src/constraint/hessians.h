#pragma once
// Second derivatives of the rows of rows.h in the small motions (p_a, phi_a, p_b, phi_b) of the two bodies. With multipliers
// lambda the constraint forces have the geometric stiffness K = -sum lambda_r H_r = -d(J^T lambda)/dq (F1).
#include "math/rotation.h"

namespace rotule {

using Mat12 = Eigen::Matrix<double, 12, 12>;

/// Of f . (rotated rho), in the rotation: its second-order term is 1/2 phi x (phi x rho).
Mat3 rotation_hessian(const Vec3& f, const Vec3& rho);
/// Three point rows with multipliers f.
void add_point_hessian(const Vec3& f, const Vec3& rho_a, const Vec3& rho_b, Mat12& H);
/// A slide row: C = n(phi_a) . (p_a - x_b) + constant, since n and rho_a turn together.
void add_slide_hessian(double lambda, const Vec3& n, const Vec3& from_b_to_a, const Vec3& rho_b, Mat12& H);
void add_align_hessian(double lambda, const Vec3& d_a, const Vec3& d_b, Mat12& H);
void add_distance_hessian(double lambda, const Vec3& e, const Vec3& rho_a, const Vec3& rho_b, Mat12& H);

}  // namespace rotule
