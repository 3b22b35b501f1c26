#include "solve/newton/contact_system.h"

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

constexpr int block_entries = BlockSystem::block_entries;

}  // namespace

void ContactSystem::prepare(const ConstraintProblem& problem) {
  linear_.prepare(problem);
  classify(problem, sets_);
  D_.resize(block_entries * problem.blocks.size());
  activity_.resize(problem.blocks.size());
  rho_.resize(problem.rows());
  F_.resize(problem.rows());
  inverse_rho_.resize(problem.rows());
  u_.resize(6 * problem.bodies());
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    choose_rho(problem, problem.blocks[i], sets_[i], linear_.diagonal(static_cast<int>(i)),
               rho_.data() + problem.blocks[i].first_row);
  for (std::size_t r = 0; r < rho_.size(); ++r) inverse_rho_[r] = 1 / rho_[r];
}

void ContactSystem::velocities(const ConstraintProblem& problem, std::span<const double> x, std::span<double> w) {
  linear_.product(problem, x, w);
  for (std::size_t r = 0; r < w.size(); ++r) w[r] -= problem.b[static_cast<Eigen::Index>(r)];
}

double ContactSystem::evaluate(const ConstraintProblem& problem, std::span<const double> x, std::span<const double> w) {
  double merit = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int first = block.first_row;
    activity_[i] = alart_curnier(problem, block, sets_[i], x.data() + first, w.data() + first, rho_.data() + first,
                                 F_.data() + first, D_.data() + block_entries * i);
    for (int r = first; r < first + block.rows; ++r) merit += F_[r] * F_[r] / rho_[r];
  }
  return merit;
}

void ContactSystem::freeze_directions(const ConstraintProblem& problem) {
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (activity_[i] != Activity::mixed || sets_[i].kind != RowSet::contact) continue;
    const int n = problem.blocks[i].rows;
    double* const D = D_.data() + block_entries * i;
    for (const FrictionRows& f : friction_of(problem, sets_[i])) {
      const int first = f.first_row - problem.blocks[i].first_row, end = first + f.count;
      bool sliding = false;
      for (int k = first; k < end; ++k) sliding = sliding || D[k * n] != 0;
      if (!sliding || !f.cone) continue;
      for (int k = first; k < end; ++k)
        for (int l = first; l < end; ++l) D[k * n + l] = 0;
    }
  }
}

void ContactSystem::factor(const ConstraintProblem& problem, double epsilon) {
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const int n = problem.blocks[i].rows;
    const double *const D = D_.data() + block_entries * i, *const rho = rho_.data() + problem.blocks[i].first_row;
    double *const T = linear_.T(i), *const E = linear_.E(i);
    linear_.set_alone(i, activity_[i] == Activity::apart);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        T[r * n + c] = (r == c ? 1.0 : 0.0) - (1 - epsilon) * D[r * n + c];
        E[r * n + c] = D[r * n + c] * rho[c];
      }
  }
  linear_.factor(problem, inverse_rho_);
}

void ContactSystem::solve_block(const ConstraintProblem& problem, int i, const double* q, double* x) {
  constexpr int most_steps = 10;
  const ConstraintBlock& block = problem.blocks[i];
  const BlockSet& set = sets_[i];
  const int n = block.rows;
  const double *const A = linear_.diagonal(i), *const rho = rho_.data() + block.first_row;
  double F[6], D[block_entries], B[block_entries], w[6], best[6], smallest = infinity, first = 0;
  for (int step = 0;; ++step) {
    for (int r = 0; r < n; ++r) {
      w[r] = q[r];
      for (int c = 0; c < n; ++c) w[r] += A[r * n + c] * x[c];
    }
    const Activity activity = alart_curnier(problem, block, set, x, w, rho, F, D);
    double merit = 0;
    for (int r = 0; r < n; ++r) merit += F[r] * F[r] / rho[r];
    if (merit < smallest) {
      smallest = merit;
      std::copy_n(x, n, best);
    }
    if (step == 0) first = merit;
    if (step == most_steps || merit <= 1e-28 * first || merit == 0) break;
    if (activity == Activity::apart) {
      for (int r = 0; r < n; ++r) x[r] -= F[r];
      continue;
    }
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += D[r * n + k] * rho[k] * A[k * n + c];
        B[r * n + c] = (r == c ? 1.0 : 0.0) - D[r * n + c] * (1 - 1e-10) + sum;
      }
    invert_block(B, n, BlockSystem::smallest_local_pivot);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) x[r] -= B[r * n + c] * F[c];
  }
  // Newton may cycle: then one projected step, which always keeps to the bounds.
  std::copy_n(best, n, x);
  if (smallest > 1e-8 * first && first > 0) {
    for (int r = 0; r < n; ++r) {
      w[r] = q[r];
      for (int c = 0; c < n; ++c) w[r] += A[r * n + c] * x[c];
    }
    alart_curnier(problem, block, set, x, w, rho, F, D);
    for (int r = 0; r < n; ++r) x[r] -= 0.5 * F[r];
  }
}

void ContactSystem::sweep(const ConstraintProblem& problem, int sweeps, std::span<double> x) {
  const int count = static_cast<int>(problem.blocks.size());
  if (!linear_.has_matrix()) {
    std::fill(u_.begin(), u_.end(), 0.0);
    apply_impulses(problem, x, u_);
  }
  for (int s = 0; s < sweeps; ++s)
    for (int k = 0; k < count; ++k) {
      const int i = s % 2 == 0 ? k : count - 1 - k;
      const ConstraintBlock& block = problem.blocks[i];
      const int n = block.rows, first = block.first_row;
      double q[6], old[6];
      if (linear_.has_matrix())
        linear_.multiply_row(problem, i, x, q);
      else
        for (int r = 0; r < n; ++r) q[r] = row_velocity(problem, block, first + r, u_) + problem.C[first + r] * x[first + r];
      const double* const A = linear_.diagonal(i);
      for (int r = 0; r < n; ++r) {
        old[r] = x[first + r];
        q[r] -= problem.b[first + r];
        for (int c = 0; c < n; ++c) q[r] -= A[r * n + c] * x[first + c];
      }
      solve_block(problem, i, q, x.data() + first);
      rotule::clamp(problem, block, sets_[i], x);
      if (linear_.has_matrix()) continue;
      for_sides(problem, block, [&](int body, const double* J) {
        Vec6 impulse = Vec6::Zero();
        for (int r = 0; r < n; ++r) impulse += Eigen::Map<const Vec6>(J + 6 * r) * (x[first + r] - old[r]);
        Eigen::Map<Vec6>(u_.data() + 6 * body) += multiply_inverse_mass(problem, body, impulse);
      });
    }
}

}  // namespace rotule
