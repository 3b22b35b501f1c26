#pragma once
// Elastic energy of an element by the principal stretches s_i of its deformation gradient F = U diag(s) V^T (rotations U and V;
// the smallest stretch is negative where the element is inside out). With the derivatives p_i and p_ij of energy per volume by s,
//   P = U diag(p) V^T,   and for a change G = U^T dF V:   dP^_ii = sum_j p_ij G_jj,
//   dP^_ij, dP^_ji = a_ij (G_ij + G_ji)/2 +- b_ij (G_ij - G_ji)/2,   a = (p_i - p_j)/(s_i - s_j),   b = (p_i + p_j)/(s_i + s_j),
// and, of a sheet in space, p_j/s_j across it (J. Teran et al. 2005; T. Kim, F. de Goes, H. Iben 2019). Where a positive matrix
// is wanted, what is negative among a, b, p_j/s_j and the eigenvalues of p_ij is left out, element by element. Viscosity: with E'
// = sym(F^T F') the rate of Green's strain, P = F tau (2 mu E' + lambda tr(E') 1), which takes energy always.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>

#include "model/forces.h"

namespace rotule {

/// Of `Dim` stretches: 3 of a solid, 2 of a sheet.
template <int Dim>
struct ElasticLaw {
  using Stretches = Eigen::Matrix<double, Dim, 1>;
  using Square = Eigen::Matrix<double, Dim, Dim>;
  using Gradient = Eigen::Matrix<double, 3, Dim>;  // F and P

  /// F by rotations and stretches.
  struct Frame {
    Mat3 U;
    Square V;
    Stretches s;
    // Inlined: by itself, compilers take what the decomposition leaves open of infinite numbers for a mistake.
    [[gnu::always_inline]] explicit Frame(const Gradient& F) {
      const Eigen::JacobiSVD<Gradient, Eigen::ColPivHouseholderQRPreconditioner> svd(F,
                                                                                     Eigen::ComputeFullU | Eigen::ComputeFullV);
      U = svd.matrixU();
      V = svd.matrixV();
      s = svd.singularValues();
      if (V.determinant() < 0) {
        V.col(Dim - 1) *= -1;
        if constexpr (Dim == 3)
          s[2] *= -1;
        else
          U.col(1) *= -1;
      }
      if (U.determinant() < 0) {
        U.col(2) *= -1;
        if constexpr (Dim == 3) s[2] *= -1;
      }
    }
  };

  /// Energy per volume, its derivatives by the stretches, and a and b of each pair (0, 1), (1, 2), (2, 0).
  struct Derivatives {
    double energy = 0;
    Stretches first;
    Square second;
    std::array<double, 3> a{}, b{};
    Derivatives(const ElasticModuli& m, const Stretches& s) {
      if (m.corotated)
        corotated(m, s);
      else
        neo_hookean(m, s);
    }

   private:
    void corotated(const ElasticModuli& m, const Stretches& s) {
      const double dilation = s.sum() - Dim;
      energy = m.mu * (s.array() - 1).square().sum() + 0.5 * m.lambda * dilation * dilation;
      first = (2 * m.mu * (s.array() - 1) + m.lambda * dilation).matrix();
      second.setConstant(m.lambda);
      second.diagonal().array() += 2 * m.mu;
      for (int k = 0; k < pairs; ++k) {
        const auto [i, j] = pair(k);
        a[static_cast<std::size_t>(k)] = 2 * m.mu;
        const double sum = s[i] + s[j];
        b[static_cast<std::size_t>(k)] = (first[i] + first[j]) / (std::abs(sum) > smallest_stretch ? sum : smallest_stretch);
      }
    }
    void neo_hookean(const ElasticModuli& m, const Stretches& s) {
      const double J = s.prod(), bulk = m.lambda + m.mu, c = bulk * (J - 1) - m.mu;
      energy = 0.5 * m.mu * (s.squaredNorm() - Dim) - m.mu * (J - 1) + 0.5 * bulk * (J - 1) * (J - 1);
      Stretches others;  // product of the others
      for (int i = 0; i < Dim; ++i) others[i] = Dim == 3 ? s[(i + 1) % Dim] * s[(i + 2) % Dim] : s[(i + 1) % Dim];
      first = m.mu * s + c * others;
      second = bulk * others * others.transpose();
      second.diagonal().array() += m.mu;
      for (int k = 0; k < pairs; ++k) {
        const auto [i, j] = pair(k);
        const double third = Dim == 3 ? s[3 - i - j < Dim ? 3 - i - j : 0] : 1;
        second(i, j) += c * third;
        second(j, i) += c * third;
        a[static_cast<std::size_t>(k)] = m.mu - c * third;
        b[static_cast<std::size_t>(k)] = m.mu + c * third;
      }
    }
  };

  static constexpr int pairs = Dim == 3 ? 3 : 1;
  static constexpr double smallest_stretch = 1e-6;  // where sums of stretches stand in denominators
  static constexpr std::array<int, 2> pair(int k) { return {k, (k + 1) % 3 < Dim ? (k + 1) % 3 : 0}; }

  [[nodiscard]] static double energy(const ElasticModuli& m, const Gradient& F) { return Derivatives(m, Frame(F).s).energy; }
  [[nodiscard]] static Gradient stress(const ElasticModuli& m, const Gradient& F) {
    const Frame frame(F);
    return frame.U.template leftCols<Dim>() * Derivatives(m, frame.s).first.asDiagonal() * frame.V.transpose();
  }
  [[nodiscard]] static Gradient viscous_stress(const ElasticModuli& m, const Gradient& F, const Gradient& rate) {
    const Square strain_rate = 0.5 * (F.transpose() * rate + rate.transpose() * F);
    return m.viscosity * F * (2 * m.mu * strain_rate + m.lambda * strain_rate.trace() * Square::Identity());
  }

  /// The second derivative of energy per volume: block(g_p, g_q) is that of corners whose shape functions have these gradients.
  class Stiffness {
   public:
    Stiffness(const ElasticModuli& m, const Gradient& F, bool positive) : frame_(F), d_(m, frame_.s) {
      for (int j = 0; j < Dim; ++j)
        across_[static_cast<std::size_t>(j)] =
            d_.first[j] / (std::abs(frame_.s[j]) > smallest_stretch ? frame_.s[j] : smallest_stretch);
      if (!positive) return;
      for (std::size_t k = 0; k < 3; ++k) {
        d_.a[k] = std::max(d_.a[k], 0.0);
        d_.b[k] = std::max(d_.b[k], 0.0);
        across_[k] = std::max(across_[k], 0.0);
      }
      Eigen::SelfAdjointEigenSolver<Square> eigen;
      eigen.computeDirect(d_.second);
      d_.second = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).asDiagonal() * eigen.eigenvectors().transpose();
    }
    [[nodiscard]] Mat3 block(const Stretches& g_p, const Stretches& g_q) const {
      const Stretches p = frame_.V.transpose() * g_p, q = frame_.V.transpose() * g_q;
      Mat3 out = Mat3::Zero();
      for (int i = 0; i < Dim; ++i)
        for (int j = 0; j < Dim; ++j) out(i, j) = p[i] * d_.second(i, j) * q[j];
      for (int k = 0; k < pairs; ++k) {
        const auto [i, j] = pair(k);
        const double half_sum = 0.5 * (d_.a[static_cast<std::size_t>(k)] + d_.b[static_cast<std::size_t>(k)]);
        const double half_difference = 0.5 * (d_.a[static_cast<std::size_t>(k)] - d_.b[static_cast<std::size_t>(k)]);
        out(i, i) += p[j] * half_sum * q[j];
        out(j, j) += p[i] * half_sum * q[i];
        out(i, j) += p[j] * half_difference * q[i];
        out(j, i) += p[i] * half_difference * q[j];
      }
      if constexpr (Dim == 2)
        for (int j = 0; j < Dim; ++j) out(2, 2) += p[j] * across_[static_cast<std::size_t>(j)] * q[j];
      return frame_.U * out * frame_.U.transpose();
    }

   private:
    Frame frame_;
    Derivatives d_;
    std::array<double, 3> across_{};
  };

  /// That of the viscous stress by the rate of F.
  [[nodiscard]] static Mat3 viscous_block(const ElasticModuli& m, const Gradient& F, const Stretches& g_p, const Stretches& g_q) {
    const Vec3 h_p = F * g_p, h_q = F * g_q;
    return m.viscosity * (m.mu * (g_p.dot(g_q) * F * F.transpose() + h_q * h_p.transpose()) + m.lambda * h_p * h_q.transpose());
  }
};

}  // namespace rotule
