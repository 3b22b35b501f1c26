#include "base/parallel.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace rotule {
namespace {

class ParallelFor : public ::testing::TestWithParam<int> {};

TEST_P(ParallelFor, VisitsEveryIndexOnce) {
  for (const int count : {0, 1, 2, 7, 1000}) {
    std::vector<int> visits(count, 0);  // not atomic: each round owns its entry, and the loop's end publishes it
    parallel_for(count, GetParam(), [&](int i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(count, 1));
  }
}

TEST_P(ParallelFor, SeesWhatWasWrittenBeforeAndPublishesWhatItWrites) {
  // Each loop reads what other rounds of the loop before it wrote: sums of prefixes by doubling, against the plain scan.
  std::vector<double> values(513), expected(513);
  std::iota(values.begin(), values.end(), 1.0);
  std::partial_sum(values.begin(), values.end(), expected.begin());
  for (int stride = 1; stride < 513; stride *= 2) {
    std::vector<double> next = values;
    parallel_for(513, GetParam(), [&](int i) {
      if (i >= stride) next[i] += values[i - stride];
    });
    values.swap(next);
  }
  EXPECT_EQ(values, expected);
}

TEST_P(ParallelFor, PassesTheFirstExceptionOnWhateverTheThreads) {
  const auto fail_from_37 = [](int i) {
    if (i >= 37) throw std::runtime_error(std::to_string(i));
  };
  try {
    parallel_for(100, GetParam(), fail_from_37);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "37");
  }
}

TEST_P(ParallelFor, NestsInsideItself) {
  std::vector<std::vector<int>> table(8, std::vector<int>(8, 0));
  parallel_for(8, GetParam(), [&](int i) { parallel_for(8, GetParam(), [&](int j) { table[i][j] = 8 * i + j; }); });
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(table[i][j], 8 * i + j);
}

INSTANTIATE_TEST_SUITE_P(Threads, ParallelFor, ::testing::Values(0, 1, 2, 4), ::testing::PrintToStringParamName());

TEST(ParallelForSerial, OneThreadKeepsTheOrderAndTheCallersThread) {
  std::vector<int> order;
  const auto caller = std::this_thread::get_id();
  parallel_for(5, 1, [&](int i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace rotule
