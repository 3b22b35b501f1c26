#pragma once
// A full matrix of rank one beside a sparse one: products with it, and solutions where there is a way to solve with the sparse
// one (J. Sherman, W. J. Morrison 1950).
#include <rotule/types.h>

#include <vector>

namespace rotule {

/// scale vector vector^T, scale >= 0.
struct RankOne {
  double scale = 0;
  VecX vector;

  void add_product(const VecX& x, VecX& y) const { y += scale * vector.dot(x) * vector; }
};

/// Corrects solutions with A into such with A + sum of parts.
class RankOneUpdates {
 public:
  /// solve(b, x): x = A^-1 b.
  template <class Solve>
  void prepare(const std::vector<RankOne>& parts, Solve&& solve) {
    parts_ = parts;
    solved_.clear();
    for (const RankOne& part : parts) {
      VecX x;
      solve(part.vector, x);
      correct(x);
      const double share = part.scale / (1 + part.scale * part.vector.dot(x));
      solved_.push_back({share, std::move(x)});
    }
  }
  void correct(VecX& x) const {
    for (std::size_t k = 0; k < solved_.size(); ++k) x -= solved_[k].scale * parts_[k].vector.dot(x) * solved_[k].vector;
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }

 private:
  std::vector<RankOne> parts_, solved_;  // solved: A^-1 of the vector, those before corrected for
};

}  // namespace rotule
