// A factor that gains and loses rows must stay the factor of the rows that are left: checked by multiplying back.
#include "linalg/growing_ldlt.h"

#include <gtest/gtest.h>
#include <rotule/types.h>

#include <algorithm>
#include <random>

namespace rotule {
namespace {

TEST(GrowingLdlt, SolvesWithTheRowsThatAreThere) {
  constexpr int n = 20;
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  MatX half(n, n);
  for (int i = 0; i < n * n; ++i) half.data()[i] = normal(random);
  const MatX A = half * half.transpose() + 0.1 * MatX::Identity(n, n);

  GrowingLdlt factor;
  factor.clear(n);
  std::vector<int> rows;
  for (int turn = 0; turn < 200; ++turn) {
    const bool remove = !rows.empty() && (static_cast<int>(rows.size()) == n || random() % 3 == 0);
    if (remove) {
      const int at = static_cast<int>(random() % rows.size());
      factor.remove(at);
      rows.erase(rows.begin() + at);
    } else {
      int row = static_cast<int>(random() % n);
      while (std::find(rows.begin(), rows.end(), row) != rows.end()) row = (row + 1) % n;
      std::vector<double> entries;
      for (const int r : rows) entries.push_back(A(row, r));
      factor.append(entries.data(), A(row, row));
      rows.push_back(row);
    }
    ASSERT_EQ(factor.size(), static_cast<int>(rows.size()));
    const MatX part = A(rows, rows);
    VecX b(rows.size());
    for (double& value : b) value = normal(random);
    VecX x = b;
    factor.solve(x.data());
    EXPECT_LT((part * x - b).norm(), 1e-9 * (1 + b.norm())) << turn;
  }
}

}  // namespace
}  // namespace rotule
