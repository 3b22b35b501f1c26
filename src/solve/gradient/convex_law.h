#pragma once
// The laws of a problem with all that is not convex in them held: what gradient methods minimise over.
//   min 1/2 x^T A x - (b - s)^T x over bounds, Coulomb's cones, and boxes and disks of given size.
// In De Saxce's form the cone's w gains s_n = mu |w_t|, without which a minimiser obeys an associated law and dilates; boxes and
// disks have the size mu x_n. Both s and sizes are taken from an x and its w by follow(), again and again: where they no longer
// change, x obeys the true law (Acary, Cadoux, Lemarechal, Malick 2011). That outer iteration may not settle for large mu.
// Each set has one scalar d, from its part of A: steps are taken in the metric d, in which the projections are still exact.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "problem/cone.h"
#include "problem/laws.h"

namespace rotule {

class ConvexLaw {
 public:
  template <class Operator>
  void prepare(const ConstraintProblem& problem, const Operator& op) {
    problem_ = &problem;
    sets_.clear();
    d_.resize(problem.rows());
    FrictionCursor friction(problem);
    for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
      const ConstraintBlock& block = problem.blocks[i];
      double D[36];
      op.diagonal(i, D);
      const auto add = [&](const Set& set) {
        const int r = set.first_row - block.first_row;
        double bound = 0;  // of the set's part of A
        for (int k = r; k < r + set.count; ++k) {
          double sum = 0;
          for (int c = r; c < r + set.count; ++c) sum += std::abs(D[k * block.rows + c]);
          bound = std::max(bound, sum);
        }
        for (int k = 0; k < set.count; ++k) d_[set.first_row + k] = bound > 0 ? bound : 1.0;
        sets_.push_back(set);
      };
      walk_laws(
          friction.next(block), block.first_row, block.first_row + block.rows, [&](int row) { add({.first_row = row}); },
          [&](const FrictionRows& f) {
            add({f.first_row, f.count, f.normal_row, f.cone ? Kind::disk : Kind::box, f.mu});
          },
          [&](const FrictionRows& f) {
            add({f.normal_row, f.count + 1, f.normal_row, Kind::cone, f.mu});
          });
    }
  }

  /// Shifts and sizes as x and w have them.
  void follow(std::span<const double> x, std::span<const double> w) {
    for (Set& set : sets_) {
      if (set.kind == Kind::cone) {
        double squares = 0;
        for (int k = 1; k < set.count; ++k) squares += w[set.first_row + k] * w[set.first_row + k];
        set.value = set.mu * std::sqrt(squares);
      } else if (set.kind != Kind::bounds) {
        set.value = set.mu * std::max(0.0, x[set.normal]);
      }
    }
  }

  /// w becomes the gradient, w + s.
  void add_shift(std::span<double> w) const {
    for (const Set& set : sets_)
      if (set.kind == Kind::cone) w[set.first_row] += set.value;
  }

  void project(std::span<double> x) const {
    for (const Set& set : sets_) {
      double* const v = x.data() + set.first_row;
      switch (set.kind) {
        case Kind::bounds:
          *v = std::clamp(*v, problem_->lower[set.first_row], problem_->upper[set.first_row]);
          break;
        case Kind::cone:
          project_on_cone(set.mu, set.count - 1, v);
          break;
        case Kind::disk:
          project_on_disk(set.value, set.count, v);
          break;
        case Kind::box:
          for (int k = 0; k < set.count; ++k) v[k] = std::clamp(v[k], -set.value, set.value);
          break;
      }
    }
  }

  [[nodiscard]] std::span<const double> metric() const { return d_; }

 private:
  enum class Kind : std::uint8_t { bounds, cone, disk, box };
  struct Set {
    std::int32_t first_row = 0, count = 1, normal = -1;
    Kind kind = Kind::bounds;
    double mu = 0;
    double value = 0;  // a cone's shift; the size of a box or disk
  };
  const ConstraintProblem* problem_ = nullptr;
  std::vector<Set> sets_;
  std::vector<double> d_;
};

}  // namespace rotule
