#include "solve/sweep/local_solver.h"

#include <algorithm>
#include <cmath>

#include "linalg/dense_ldlt.h"

namespace rotule {

namespace {

constexpr double smallest_part = 1e-14;  // of D against the largest: below it, rows count as dependent

double square(double v) { return v * v; }

/// The judge's psi of a row with bounds.
double bounded_residual(double d, double x, double w, double lower, double upper) {
  return std::max(std::min(d * (upper - x), std::max(-w, 0.0)), std::min(d * (x - lower), std::max(w, 0.0)));
}

double inverse_or_zero(double d) { return d > 0 ? 1 / d : 0.0; }

}  // namespace

void LocalSolver::begin(const ConstraintProblem& problem) {
  problem_ = &problem;
  classify(problem, sets_);
  blocks_.clear();
  data_.clear();
  cones_.clear();
  disks_.clear();
  d_.resize(problem.rows());
  inverse_d_.resize(problem.rows());
}

void LocalSolver::set_sizes(int i, const double* D) {
  const ConstraintBlock& block = problem_->blocks[i];
  double* const d = d_.data() + block.first_row;
  for (int r = 0; r < block.rows; ++r) d[r] = D[r * block.rows + r];
  for (const FrictionRows& f : friction_of(*problem_, sets_[i])) {
    if (!f.cone) continue;
    const int first = (is_sliding_cone(f) ? f.normal_row : f.first_row) - block.first_row;
    const int end = f.first_row + f.count - block.first_row;
    double sum = 0;
    for (int r = first; r < end; ++r) sum += d[r];
    for (int r = first; r < end; ++r) d[r] = sum / (end - first);
  }
  for (int r = 0; r < block.rows; ++r) inverse_d_[block.first_row + r] = inverse_or_zero(d[r]);
}

void LocalSolver::add_block(int i, const double* D) {
  const ConstraintBlock& source = problem_->blocks[i];
  const BlockSet& set = sets_[i];
  const int n = source.rows;
  set_sizes(i, D);
  Block block{.rows = n, .first_row = source.first_row, .data = static_cast<std::int32_t>(data_.size())};
  if (set.kind == RowSet::bilateral) {
    block.kind = Kind::bilateral;
    data_.insert(data_.end(), D, D + n * n);
    double scale[6], work[6];
    for (int r = 0; r < n; ++r) scale[r] = D[r * n + r];
    factor_dense_ldlt(data_.data() + block.data, n, 1e-12, scale, work, [](int) {});
  } else if (set.kind == RowSet::bounded) {
    block.kind = n == 1 ? Kind::row : Kind::bounded;
    data_.insert(data_.end(), D, D + n * n);
  } else {
    const FrictionRows& f = friction_of(*problem_, set).front();
    const bool sliding_cone = f.cone && f.count == 2 && f.first_row == source.first_row + 1;
    block.kind = sliding_cone && n == 3 ? Kind::cone : Kind::general;
    if (sliding_cone) {
      const double part[9] = {D[0], D[1], D[2], D[n], D[n + 1], D[n + 2], D[2 * n], D[2 * n + 1], D[2 * n + 2]};
      add_cone(block, f.mu, part);
    }
    bool boxes = true;  // whether friction covers all rows, and is of boxes alone
    int covered = 1;
    for (const FrictionRows& group : friction_of(*problem_, set)) {
      boxes = boxes && (!group.cone || group.count == 1);
      covered += group.count;
    }
    if (boxes && covered == n) block.kind = Kind::boxes;
    if (block.kind != Kind::cone) {
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) data_.push_back(0.5 * (D[r * n + c] + D[c * n + r]));
      block.disks = static_cast<std::int32_t>(disks_.size());
      for (const FrictionRows& group : friction_of(*problem_, set)) {
        const int k = group.first_row - source.first_row;
        const bool disk = group.cone && group.count == 2;
        const double* const A = data_.data() + block.data + k * n + k;
        disks_.push_back(disk ? make_disk(A[0], A[1], A[n + 1], 0, 0) : Disk{});
      }
    }
  }
  blocks_.push_back(block);
}

void LocalSolver::add_cone(Block& block, double mu, const double* A) {
  Cone cone{};
  cone.mu = mu;
  double D[6] = {A[0], 0.5 * (A[1] + A[3]), 0.5 * (A[2] + A[6]), A[4], 0.5 * (A[5] + A[7]), A[8]};
  const double floor = smallest_part * (D[0] + D[3] + D[5]);
  D[0] += floor, D[3] += floor, D[5] += floor;
  std::copy(D, D + 6, cone.D);
  cone.d = (D[0] + D[3] + D[5]) / 3;
  cone.inverse_d = inverse_or_zero(cone.d);
  // By cofactors, all over the determinant.
  const auto [nn, nt, nb, tt, tb, bb] = D;
  const double c_nn = tt * bb - tb * tb, c_nt = nb * tb - nt * bb, c_nb = nt * tb - nb * tt;
  const double determinant = nn * c_nn + nt * c_nt + nb * c_nb;
  const double inverse = determinant > 0 ? 1 / determinant : 0.0;
  cone.inverse[0] = inverse * c_nn;
  cone.inverse[1] = inverse * c_nt;
  cone.inverse[2] = inverse * c_nb;
  cone.inverse[3] = inverse * (nn * bb - nb * nb);
  cone.inverse[4] = inverse * (nt * nb - nn * tb);
  cone.inverse[5] = inverse * (nn * tt - nt * nt);
  block.cone = static_cast<std::int32_t>(cones_.size());
  cones_.push_back(cone);
}

/// The frame of the symmetric matrix [tt tb; tb bb], by one rotation (Jacobi), and (nt, nb) seen in it.
LocalSolver::Disk LocalSolver::make_disk(double tt, double tb, double bb, double nt, double nb) {
  Disk disk{};
  const double angle = 0.5 * std::atan2(2 * tb, tt - bb);
  const double c = std::cos(angle), s = std::sin(angle);
  disk.cosine = c;
  disk.sine = s;
  disk.s[0] = c * c * tt + 2 * c * s * tb + s * s * bb;
  disk.s[1] = s * s * tt - 2 * c * s * tb + c * c * bb;
  const double floor = smallest_part * std::max(std::abs(disk.s[0]), std::abs(disk.s[1]));
  for (double& value : disk.s) value = std::max(value, floor);
  disk.d[0] = c * nt + s * nb;
  disk.d[1] = c * nb - s * nt;
  disk.lambda = -1;
  return disk;
}

void LocalSolver::slip(Disk& disk, double mu, double D_nn, double q_n, const double* r, double& n, double* t) {
  const double r_1 = disk.cosine * r[0] + disk.sine * r[1], r_2 = disk.cosine * r[1] - disk.sine * r[0];
  double low = 0, high = infinity;
  double lambda = disk.lambda;
  if (lambda < 0) {
    const double guess = std::hypot(r_1, r_2) * D_nn / (-mu * q_n) - 0.5 * (disk.s[0] + disk.s[1]);
    lambda = guess > 0 && guess < infinity ? guess : 0.0;
  }
  double t_1 = 0, t_2 = 0, length = 0;
  for (int k = 0; k < 100; ++k) {
    const double i_1 = 1 / (disk.s[0] + lambda), i_2 = 1 / (disk.s[1] + lambda);
    t_1 = -r_1 * i_1;
    t_2 = -r_2 * i_2;
    n = -(q_n + disk.d[0] * t_1 + disk.d[1] * t_2) / D_nn;
    length = std::sqrt(t_1 * t_1 + t_2 * t_2);
    const double ratio = mu * n / length, error = ratio - 1;
    if (std::abs(error) <= 1e-14) break;
    (error < 0 ? low : high) = lambda;
    // d ratio / d lambda, where dt_k / d lambda = -t_k / (s_k + lambda).
    const double dn = (disk.d[0] * t_1 * i_1 + disk.d[1] * t_2 * i_2) / D_nn;
    const double slope = mu * dn / length + ratio * (t_1 * t_1 * i_1 + t_2 * t_2 * i_2) / (length * length);
    double next = lambda - error / slope;
    if (!(next > low && next < high)) next = high < infinity ? 0.5 * (low + high) : 2 * lambda + disk.s[0] + disk.s[1];
    if (std::abs(next - lambda) <= 1e-16 * lambda) break;
    lambda = next;
  }
  disk.lambda = lambda;
  n = std::max(n, 0.0);
  const double scale = length > 0 ? mu * n / length : 0.0;  // on the cone exactly
  t[0] = scale * (disk.cosine * t_1 - disk.sine * t_2);
  t[1] = scale * (disk.sine * t_1 + disk.cosine * t_2);
}

double LocalSolver::solve_cone(Cone& cone, const double* w, double* x) {
  const double mu = cone.mu;
  const double y[3] = {cone.d * x[0], cone.d * x[1], cone.d * x[2]};
  double image[3] = {y[0] - (w[0] + mu * std::sqrt(w[1] * w[1] + w[2] * w[2])), y[1] - w[1], y[2] - w[2]};
  project_on_cone(mu, 2, image);
  const double residual = (square(y[0] - image[0]) + square(y[1] - image[1]) + square(y[2] - image[2])) * cone.inverse_d;

  const auto& [nn, nt, nb, tt, tb, bb] = cone.D;
  const double q_n = w[0] - (nn * x[0] + nt * x[1] + nb * x[2]);
  if (q_n >= 0 || !(nn > 0)) {
    x[0] = x[1] = x[2] = 0;
    return residual;
  }
  const auto& inverse = cone.inverse;
  const double n = x[0] - (inverse[0] * w[0] + inverse[1] * w[1] + inverse[2] * w[2]);
  const double t = x[1] - (inverse[1] * w[0] + inverse[3] * w[1] + inverse[4] * w[2]);
  const double b = x[2] - (inverse[2] * w[0] + inverse[4] * w[1] + inverse[5] * w[2]);
  if (n > 0 && t * t + b * b <= mu * mu * n * n) {
    x[0] = n, x[1] = t, x[2] = b;
    return residual;
  }
  if (mu == 0) {
    x[0] = -q_n / nn;
    x[1] = x[2] = 0;
    return residual;
  }
  const double q_t = w[1] - (nt * x[0] + tt * x[1] + tb * x[2]), q_b = w[2] - (nb * x[0] + tb * x[1] + bb * x[2]);
  const double r[2] = {q_t - nt * q_n / nn, q_b - nb * q_n / nn};
  if (!cone.slid) {
    cone.disk = make_disk(tt - nt * nt / nn, tb - nt * nb / nn, bb - nb * nb / nn, nt, nb);
    cone.slid = true;
  }
  slip(cone.disk, mu, nn, q_n, r, x[0], x + 1);
  return residual;
}

void LocalSolver::solve_bounded(const Block& block, const double* w, double* x) const {
  const int n = block.rows;
  const double* const D = data_.data() + block.data;
  const double* const lower = problem_->lower.data() + block.first_row;
  const double* const upper = problem_->upper.data() + block.first_row;
  double start[6], A[36] = {}, v[6] = {}, scale[6] = {}, work[6], image[6];
  std::int8_t side[6], next[6];  // -1 at the lower bound, 1 at the upper one, 0 between
  std::copy_n(x, n, start);
  const auto side_of = [&](int r, double value) {
    return static_cast<std::int8_t>(value <= lower[r] ? -1 : value >= upper[r] ? 1 : 0);
  };
  for (int r = 0; r < n; ++r) side[r] = side_of(r, D[r * n + r] > 0 ? x[r] - w[r] / D[r * n + r] : x[r] - w[r]);
  for (int round = 0; round < 20; ++round) {
    // Rows between their bounds from D_ff (x - start)_f = -w_f - D_fa (x - start)_a; the others at their bounds.
    int free[6], count = 0;
    for (int r = 0; r < n; ++r) {
      if (side[r] == 0)
        free[count++] = r;
      else
        x[r] = side[r] < 0 ? lower[r] : upper[r];
    }
    for (int i = 0; i < count; ++i) {
      v[i] = -w[free[i]];
      for (int c = 0; c < n; ++c)
        if (side[c] != 0) v[i] -= D[free[i] * n + c] * (x[c] - start[c]);
      for (int k = 0; k < count; ++k) A[i * count + k] = D[free[i] * n + free[k]];
      scale[i] = A[i * count + i];
    }
    factor_dense_ldlt(A, count, 1e-12, scale, work, [](int) {});
    solve_dense_ldlt(A, count, v);
    for (int i = 0; i < count; ++i) x[free[i]] = start[free[i]] + v[i];
    bool same = true;
    for (int r = 0; r < n; ++r) {
      double w_r = w[r];
      for (int c = 0; c < n; ++c) w_r += D[r * n + c] * (x[c] - start[c]);
      image[r] = side[r] == 0 || !(D[r * n + r] > 0) ? x[r] : x[r] - w_r / D[r * n + r];
      next[r] = side_of(r, image[r]);
      same = same && next[r] == side[r];
    }
    if (same) return;
    std::copy_n(next, n, side);
  }
  // The sets went round in circles (dependent rows): one pass of rows from the start, which does not lead away.
  std::copy_n(start, n, x);
  for (int r = 0; r < n; ++r) {
    double w_r = w[r];
    for (int c = 0; c < n; ++c) w_r += D[r * n + c] * (x[c] - start[c]);
    if (D[r * n + r] > 0) x[r] = std::clamp(x[r] - w_r / D[r * n + r], lower[r], upper[r]);
  }
}

/// A disk of friction other than the sliding cone, within the limit that the normal gives.
void LocalSolver::solve_group(int i, int g, const double* w, double* x) {
  const Block& block = blocks_[i];
  const int n = block.rows;
  const FrictionRows& f = friction_of(*problem_, sets_[i])[g];
  const int k = f.first_row - block.first_row;
  const double* const D = data_.data() + block.data + k * n + k;
  const double limit = f.mu * x[0];
  if (limit <= 0) {
    std::fill_n(x + k, f.count, 0.0);
  } else if (f.count == 1) {
    x[k] = std::clamp(D[0] > 0 ? x[k] - w[k] / D[0] : x[k], -limit, limit);
  } else if (f.cone && f.count == 2) {
    const double r[2] = {w[k] - D[0] * x[k] - D[1] * x[k + 1], w[k + 1] - D[n] * x[k] - D[n + 1] * x[k + 1]};
    const double determinant = D[0] * D[n + 1] - D[1] * D[n];
    const double t[2] = {(-D[n + 1] * r[0] + D[1] * r[1]) / determinant, (D[n] * r[0] - D[0] * r[1]) / determinant};
    if (determinant > 0 && t[0] * t[0] + t[1] * t[1] <= limit * limit) {
      x[k] = t[0], x[k + 1] = t[1];
    } else if (r[0] != 0 || r[1] != 0) {
      double normal = x[0];
      slip(disks_[block.disks + g], f.mu, 1.0, -x[0], r, normal, x + k);
    }
  } else {
    double bound = 0;  // of the group's part of D
    for (int r = 0; r < f.count; ++r) {
      double sum = 0;
      for (int c = 0; c < f.count; ++c) sum += std::abs(D[r * n + c]);
      bound = std::max(bound, sum);
    }
    if (bound > 0)
      for (int r = 0; r < f.count; ++r) x[k + r] -= w[k + r] / bound;
    project_on_disk(limit, f.count, x + k);
  }
}

/// Which rows are at their limits is guessed from the last x, and corrected until it agrees with the x that follows from it:
/// w = 0 for the normal and for rows within their limits, x_k = +- mu_k x_n for the others. False where no guess agrees.
bool LocalSolver::solve_boxes(int i, const double* w, double* x) const {
  const Block& block = blocks_[i];
  const BlockSet& set = sets_[i];
  const int n = block.rows;
  const double* const D = data_.data() + block.data;
  double q[6] = {}, mu[6] = {}, v[6] = {};
  for (int r = 0; r < n; ++r) {
    q[r] = w[r];
    for (int c = 0; c < n; ++c) q[r] -= D[r * n + c] * x[c];
  }
  if (q[0] >= 0 || !(D[0] > 0)) {
    std::fill_n(x, n, 0.0);
    return true;
  }
  int at = 1;
  for (const FrictionRows& f : friction_of(*problem_, set))
    for (int k = 0; k < f.count; ++k) mu[at++] = f.mu;
  int side[6] = {};
  const auto side_of = [&](int r, double value, double normal) {
    const double limit = mu[r] * normal;
    return value >= limit ? 1 : value <= -limit ? -1 : 0;
  };
  const double normal = std::max(0.0, x[0] - w[0] / D[0]);
  for (int r = 1; r < n; ++r) side[r] = side_of(r, D[r * n + r] > 0 ? x[r] - w[r] / D[r * n + r] : x[r], normal);
  for (int round = 0; round < 12; ++round) {
    // Gaussian elimination with pivoting on the rows that are free, the tied columns added to the normal's.
    double A[6][7];
    int free[6] = {0}, count = 1;
    for (int r = 1; r < n; ++r)
      if (side[r] == 0) free[count++] = r;
    for (int a = 0; a < count; ++a) {
      const double* const row = D + free[a] * n;
      A[a][0] = row[0];
      for (int r = 1; r < n; ++r) A[a][0] += side[r] * mu[r] * row[r];
      for (int b = 1; b < count; ++b) A[a][b] = row[free[b]];
      A[a][count] = -q[free[a]];
    }
    for (int k = 0; k < count; ++k) {
      int pivot = k;
      for (int a = k + 1; a < count; ++a)
        if (std::abs(A[a][k]) > std::abs(A[pivot][k])) pivot = a;
      if (std::abs(A[pivot][k]) <= smallest_part * D[free[k] * n + free[k]]) return false;
      if (pivot != k) std::swap(A[k], A[pivot]);
      for (int a = k + 1; a < count; ++a) {
        const double factor = A[a][k] / A[k][k];
        for (int b = k; b <= count; ++b) A[a][b] -= factor * A[k][b];
      }
    }
    for (int k = count - 1; k >= 0; --k) {
      double sum = A[k][count];
      for (int b = k + 1; b < count; ++b) sum -= A[k][b] * v[free[b]];
      v[free[k]] = sum / A[k][k];
    }
    if (!(v[0] > 0)) return false;
    for (int r = 1; r < n; ++r)
      if (side[r] != 0) v[r] = side[r] * mu[r] * v[0];
    bool same = true;
    for (int r = 1; r < n; ++r) {
      int next = 0;
      if (side[r] == 0) {
        next = std::abs(v[r]) <= mu[r] * v[0] ? 0 : v[r] > 0 ? 1 : -1;
      } else {
        double w_r = q[r];
        for (int c = 0; c < n; ++c) w_r += D[r * n + c] * v[c];
        next = side[r] * w_r <= 0 ? side[r] : 0;
      }
      same = same && next == side[r];
      side[r] = next;
    }
    if (same) {
      std::copy_n(v, n, x);
      return true;
    }
  }
  return false;
}

void LocalSolver::solve_general(int i, const double* w_start, double* x) {
  const Block& block = blocks_[i];
  const BlockSet& set = sets_[i];
  const int n = block.rows;
  const double* const D = data_.data() + block.data;
  double w[6], before[6];
  std::copy_n(w_start, n, w);
  for (int round = 0; round < 100; ++round) {
    double change = 0, size = 0;
    const auto carry = [&](int first, int count) {  // what a change of these rows does to w
      for (int c = first; c < first + count; ++c) {
        const double dx = x[c] - before[c];
        change = std::max(change, D[c * n + c] * dx * dx);
        size = std::max(size, D[c * n + c] * x[c] * x[c]);
        if (dx != 0)
          for (int r = 0; r < n; ++r) w[r] += D[r * n + c] * dx;
      }
    };
    int next = 1;
    std::copy_n(x, n, before);
    if (block.cone >= 0) {
      solve_cone(cones_[block.cone], w, x);
      next = 3;
    } else {
      x[0] = D[0] > 0 ? std::max(0.0, x[0] - w[0] / D[0]) : 0.0;
    }
    carry(0, next);
    const auto plain_until = [&](int end) {
      for (; next < end; ++next) {
        const double d = D[next * n + next];
        before[next] = x[next];
        if (d > 0)
          x[next] =
              std::clamp(x[next] - w[next] / d, problem_->lower[block.first_row + next], problem_->upper[block.first_row + next]);
        carry(next, 1);
      }
    };
    for (int g = block.cone >= 0 ? 1 : 0; g < set.friction_count; ++g) {
      const FrictionRows& f = friction_of(*problem_, set)[g];
      plain_until(f.first_row - block.first_row);
      if (!f.cone) {  // a box: row by row
        const double limit = f.mu * x[0];
        for (const int end = next + f.count; next < end; ++next) {
          const double d = D[next * n + next];
          before[next] = x[next];
          x[next] = std::clamp(d > 0 ? x[next] - w[next] / d : x[next], -limit, limit);
          carry(next, 1);
        }
        continue;
      }
      std::copy_n(x + next, f.count, before + next);
      solve_group(i, g, w, x);
      carry(next, f.count);
      next += f.count;
    }
    plain_until(n);
    if (change <= 1e-30 * size) return;
  }
}

double LocalSolver::residual_of_laws(int i, const double* w, const double* x) const {
  const Block& block = blocks_[i];
  const BlockSet& set = sets_[i];
  const double *const d = d_.data() + block.first_row, *const inverse = inverse_d_.data() + block.first_row;
  double sum = 0;
  const auto own_bounds = [&](int row) {
    const int r = row - block.first_row;
    sum += square(bounded_residual(d[r], x[r], w[r], problem_->lower[row], problem_->upper[row])) * inverse[r];
  };
  const auto friction = [&](const FrictionRows& f) {
    const int k = f.first_row - block.first_row;
    const double limit = f.mu * x[0];
    double image[6];
    for (int c = 0; c < f.count; ++c) {
      image[c] = d[k] * x[k + c] - w[k + c];
      if (!f.cone) sum += square(bounded_residual(d[k + c], x[k + c], w[k + c], -limit, limit)) * inverse[k + c];
    }
    if (!f.cone) return;
    project_on_disk(d[k] * limit, f.count, image);
    for (int c = 0; c < f.count; ++c) sum += square(d[k] * x[k + c] - image[c]) * inverse[k];
  };
  const auto cone = [&](const FrictionRows& f) {
    double slip = 0, image[6];
    for (int c = 1; c <= f.count; ++c) slip += w[c] * w[c];
    image[0] = d[0] * x[0] - (w[0] + f.mu * std::sqrt(slip));
    for (int c = 1; c <= f.count; ++c) image[c] = d[0] * x[c] - w[c];
    project_on_cone(f.mu, f.count, image);
    for (int c = 0; c <= f.count; ++c) sum += square(d[0] * x[c] - image[c]) * inverse[0];
  };
  walk_laws(friction_of(*problem_, set), block.first_row, block.first_row + block.rows, own_bounds, friction, cone);
  return sum;
}

double LocalSolver::solve(int i, const double* w, double* x) {
  const Block& block = blocks_[i];
  switch (block.kind) {
    case Kind::cone:
      return solve_cone(cones_[block.cone], w, x);
    case Kind::bilateral: {
      double v[6], sum = 0;
      for (int r = 0; r < block.rows; ++r) {
        v[r] = w[r];
        sum += w[r] * w[r] * inverse_d_[block.first_row + r];
      }
      solve_dense_ldlt(data_.data() + block.data, block.rows, v);
      for (int r = 0; r < block.rows; ++r) x[r] -= v[r];
      return sum;
    }
    case Kind::row: {
      const double lower = problem_->lower[block.first_row], upper = problem_->upper[block.first_row], D = data_[block.data];
      const double residual = bounded_residual(D, x[0], w[0], lower, upper);
      if (D > 0) x[0] = std::clamp(x[0] - w[0] / D, lower, upper);
      return residual * residual * inverse_d_[block.first_row];
    }
    case Kind::bounded: {
      const double residual = residual_of_laws(i, w, x);
      solve_bounded(block, w, x);
      return residual;
    }
    case Kind::boxes:
    case Kind::general:
      break;
  }
  const double residual = residual_of_laws(i, w, x);
  if (block.kind != Kind::boxes || !solve_boxes(i, w, x)) solve_general(i, w, x);
  return residual;
}

void LocalSolver::make_feasible(std::span<double> x) const {
  for (int i = 0; i < static_cast<int>(blocks_.size()); ++i) make_feasible(i, x);
}

}  // namespace rotule
