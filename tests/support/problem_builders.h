#pragma once
// Synthetic bilateral problems: bodies at random places with random inertias, joints of 1 to 6 rows that only see relative
// motion. Shared by the tests and the benchmarks of solvers.
#include <rotule/problem.h>

#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "linalg/decompositions.h"

namespace rotule::testing {

class ProblemBuilder {
 public:
  explicit ProblemBuilder(unsigned seed = 1) : random_(seed) {}

  bool coupled = false;          // masses whose inverse couples linear and angular parts, as added mass does
  double log10_mass_spread = 0;  // masses are 10^(+- half of this)
  double compliance = 0;         // largest entry of C

  int add_body(double mass = 0) {
    if (mass <= 0) mass = std::pow(10.0, log10_mass_spread * (uniform() - 0.5));
    const Vec3 axis(normal(), normal(), normal());
    const Mat3 R = Eigen::AngleAxisd(6 * uniform(), axis.normalized()).toRotationMatrix();
    const Vec3 moments = mass * Vec3(0.06 + 0.04 * uniform(), 0.06 + 0.04 * uniform(), 0.06 + 0.04 * uniform());
    Mat6 M = Mat6::Zero();
    M.topLeftCorner<3, 3>() = mass * Mat3::Identity();
    M.bottomRightCorner<3, 3>() = R * moments.asDiagonal() * R.transpose();
    if (coupled) {
      Mat3 K;
      for (int i = 0; i < 9; ++i) K(i) = 0.05 * mass * (uniform() - 0.5);
      M.topRightCorner<3, 3>() = K;
      M.bottomLeftCorner<3, 3>() = K.transpose();
    }
    Mat6 W = inverse_of(M);
    if (!coupled) W.topRightCorner<3, 3>().setZero(), W.bottomLeftCorner<3, 3>().setZero();
    masses_.push_back(0.5 * (W + W.transpose()));
    return static_cast<int>(masses_.size()) - 1;
  }

  void set_inverse_mass(int body, const Mat6& W) { masses_[body] = W; }

  /// `rows` directions of the relative motion at a point half a metre or so from both bodies; 3 rows are a ball joint.
  void add_joint(int a, int b, int rows = 3) {
    Eigen::Matrix<double, 6, 6> basis = Mat6::Identity();
    if (rows != 3) {
      for (int i = 0; i < 36; ++i) basis(i) = normal();
      for (int i = 0; i < 6; ++i) {  // Gram-Schmidt
        for (int j = 0; j < i; ++j) basis.row(i) -= basis.row(i).dot(basis.row(j)) * basis.row(j);
        basis.row(i).normalize();
      }
    }
    const auto arm = [&] {
      Mat6 X = Mat6::Identity();
      const Vec3 r(0.5 * normal(), 0.5 * normal(), 0.5 * normal());
      X.topRightCorner<3, 3>() << 0, r.z(), -r.y(), -r.z(), 0, r.x(), r.y(), -r.x(), 0;
      return X;
    };
    Joint joint{a, b, rows, basis * arm(), -basis * arm()};
    joints_.push_back(joint);
  }

  /// The same rows once more, mixed among themselves: redundant by as many rows.
  void repeat_joint(int index) {
    Joint joint = joints_[index];
    Mat6 mix = Mat6::Identity();
    for (int i = 0; i < joint.rows; ++i)
      for (int j = 0; j < joint.rows; ++j) mix(i, j) += 0.3 * normal();
    joint.J_a = mix * joint.J_a;
    joint.J_b = mix * joint.J_b;
    joints_.push_back(joint);
  }

  /// All of it as a problem, with b = A x for a random x, so that it has a solution even where A is singular.
  ConstraintProblem problem() {
    ConstraintProblem p;
    int rows = 0;
    for (const Joint& joint : joints_) rows += joint.rows;
    p.resize(static_cast<int>(masses_.size()), rows);
    p.inverse_mass = masses_;
    p.coupled = coupled;
    int row = 0;
    for (const Joint& joint : joints_) {
      p.blocks.push_back({row, joint.rows, joint.a, joint.b, static_cast<int>(p.blocks.size())});
      for (int i = 0; i < joint.rows; ++i, ++row) {
        // The side of an immovable partner must not be read: poison it.
        for (int c = 0; c < 6; ++c) {
          p.J_a(row, c) = joint.a < 0 ? std::nan("") : joint.J_a(i, c);
          p.J_b(row, c) = joint.b < 0 ? std::nan("") : joint.J_b(i, c);
        }
        p.C[row] = compliance * uniform();
      }
    }
    std::vector<double> x(rows), u(6 * masses_.size(), 0.0);
    for (double& value : x) value = normal();
    apply_impulses(p, x, u);
    for (const ConstraintBlock& block : p.blocks)
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        p.b[r] = p.C[r] * x[r];
        for (int c = 0; c < 6; ++c) {
          if (block.body_a >= 0) p.b[r] += p.J_a(r, c) * u[6 * block.body_a + c];
          if (block.body_b >= 0) p.b[r] += p.J_b(r, c) * u[6 * block.body_b + c];
        }
      }
    return p;
  }

  int joints() const { return static_cast<int>(joints_.size()); }
  int bodies() const { return static_cast<int>(masses_.size()); }
  double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  double normal() { return std::normal_distribution<double>()(random_); }
  int integer(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

 private:
  struct Joint {
    int a, b, rows;
    Mat6 J_a, J_b;
  };
  std::mt19937 random_;
  std::vector<Mat6> masses_;
  std::vector<Joint> joints_;
};

/// Appends `rows` random rows over any number of different bodies to a problem, with a right-hand side that some x gives: what
/// ties more than two bodies, or what is to stand beside it.
inline void append_block(ConstraintProblem& p, std::span<const int> bodies, int rows, ProblemBuilder& random) {
  const int first = p.rows();
  ConstraintBlock block{first, rows, bodies[0], bodies.size() > 1 ? bodies[1] : -1, static_cast<int>(p.blocks.size())};
  for (JacobianRows* J : {&p.J_a, &p.J_b}) {
    J->conservativeResize(first + rows, 6);
    for (int i = 0; i < rows; ++i)
      for (int c = 0; c < 6; ++c) (*J)(first + i, c) = random.normal();
  }
  if (block.body_b < 0) p.J_b.bottomRows(rows).setConstant(std::nan(""));  // must not be read
  block.first_more = static_cast<int>(p.more.size());
  for (std::size_t k = 2; k < bodies.size(); ++k) {
    p.more.push_back({bodies[k], static_cast<int>(p.J_more.rows())});
    p.J_more.conservativeResize(p.J_more.rows() + rows, 6);
    for (int i = 0; i < rows; ++i)
      for (int c = 0; c < 6; ++c) p.J_more(p.J_more.rows() - rows + i, c) = random.normal();
    ++block.more_count;
  }
  p.blocks.push_back(block);
  for (VecX* v : {&p.b, &p.C, &p.lower, &p.upper, &p.x0}) v->conservativeResize(first + rows);
  for (int r = first; r < first + rows; ++r) {
    p.b[r] = random.normal();
    p.C[r] = random.compliance * random.uniform();
    p.lower[r] = -infinity;
    p.upper[r] = infinity;
    p.x0[r] = 0;
  }
}

/// A chain of links, the first hung from the immovable partner. `rows` 0 mixes joints of 1 to 6 rows.
inline void add_chain(ProblemBuilder& builder, int links, int rows = 3) {
  for (int i = 0; i < links; ++i) {
    const int body = builder.add_body();
    builder.add_joint(i == 0 ? -1 : body - 1, body, rows ? rows : 1 + builder.integer(6));
  }
}

/// A free tree: each body hangs from a random earlier one, or from the first with probability `hub`.
inline void add_tree(ProblemBuilder& builder, int bodies, int rows = 3, double hub = 0) {
  const int root = builder.add_body();
  for (int i = 1; i < bodies; ++i) {
    const int parent = builder.uniform() < hub ? root : root + builder.integer(i);
    const int child = builder.add_body();
    if (i % 2)
      builder.add_joint(parent, child, rows ? rows : 1 + builder.integer(6));
    else
      builder.add_joint(child, parent, rows ? rows : 1 + builder.integer(6));
  }
}

/// 15 segments and 14 ball joints, as a jointed doll has: pelvis, chest, head, and twice arm, forearm, hand, thigh, shin, foot.
inline void add_mannequin(ProblemBuilder& builder) {
  constexpr int parents[15] = {-1, 0, 1, 1, 3, 4, 0, 6, 7, 1, 9, 10, 0, 12, 13};
  for (const int parent : parents) {
    const int body = builder.add_body();
    if (parent >= 0) builder.add_joint(parent, body, 3);
  }
}

}  // namespace rotule::testing
