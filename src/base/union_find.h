#pragma once
// Which things hang together: union-find over 0 .. n - 1, the smallest index of a set being its root, so that sets come out in an
// order that does not depend on who joined whom first. Paths are halved on the way up. Nothing is allocated on reuse.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace rotule {

class UnionFind {
 public:
  UnionFind() = default;
  explicit UnionFind(std::size_t count) { reset(count); }

  /// Everything apart again.
  void reset(std::size_t count) {
    parent_.resize(count);
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  [[nodiscard]] std::size_t size() const { return parent_.size(); }

  [[nodiscard]] int root(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }

  /// Returns whether they were apart before.
  bool join(int i, int j) {
    const int a = root(i), b = root(j);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace rotule
