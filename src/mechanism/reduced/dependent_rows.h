#pragma once
// Rows of joints outside the trees that follow from others, or that trees hold already.
#include <vector>

#include "model/state.h"

namespace rotule {

/// What is kept between calls.
struct DependentRows {
  std::vector<char> dropped;  // per row: the answer
  /// For A = G H^-1 G^T, which is overwritten. A row that trees hold answers nothing but rounding: what counts is what it would
  /// answer if its bodies were free, `free`.
  void find(MatX& A, const VecX& free);

 private:
  std::vector<int> order_;
};

}  // namespace rotule
