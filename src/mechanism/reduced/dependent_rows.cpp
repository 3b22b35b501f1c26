#include "mechanism/reduced/dependent_rows.h"

#include <algorithm>
#include <numeric>

namespace rotule {

void DependentRows::find(MatX& A, const VecX& free) {
  constexpr double dependent = 1e-10;  // of what its bodies would answer: what is left of a row that follows from others
  // Cholesky's elimination, the largest pivot first.
  const Eigen::Index count = A.rows();
  dropped.assign(static_cast<std::size_t>(count), 0);
  order_.resize(static_cast<std::size_t>(count));
  std::iota(order_.begin(), order_.end(), 0);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto share = [&](int i) { return free[i] > 0 ? A(i, i) / free[i] : 0.0; };
    const auto best = std::max_element(order_.begin() + k, order_.end(), [&](int i, int j) { return share(i) < share(j); });
    if (!(share(*best) > dependent)) {
      for (auto rest = order_.begin() + k; rest != order_.end(); ++rest) dropped[static_cast<std::size_t>(*rest)] = 1;
      break;
    }
    std::iter_swap(order_.begin() + k, best);
    const int pivot = order_[static_cast<std::size_t>(k)];
    for (auto i = order_.begin() + k + 1; i != order_.end(); ++i) {
      const double factor = A(*i, pivot) / A(pivot, pivot);
      for (auto j = order_.begin() + k + 1; j != order_.end(); ++j) A(*i, *j) -= factor * A(pivot, *j);
    }
  }
}

}  // namespace rotule
