// Stages over a gang of threads: every index once, whatever threads there are and however short the stages.
#include "base/gang.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace rotule {
namespace {

TEST(Gang, EveryIndexOnceInEachOfManyShortStages) {
  for (const int threads : {1, 2, 3, 8}) {
    Gang gang(threads);
    EXPECT_EQ(gang.threads(), threads);
    std::vector<int> visits(100);
    int expected = 0;
    for (int shift = 0; shift < 20; ++shift) {
      const Gang::Shift on(gang);
      for (int stage = 0; stage < 100; ++stage) {
        const int count = (7 * stage + shift) % 100;
        std::fill(visits.begin(), visits.end(), 0);
        gang.run(count, [&](int i, int worker) {
          ASSERT_GE(worker, 0);
          ASSERT_LT(worker, threads);
          ++visits[i];
        });
        for (int i = 0; i < 100; ++i) ASSERT_EQ(visits[i], i < count ? 1 : 0) << threads << " " << stage << " " << i;
        expected += count;
      }
    }
    EXPECT_GT(expected, 0);
  }
}

TEST(Gang, WhatOneStageWroteTheNextOneReads) {
  Gang gang(4);
  const Gang::Shift on(gang);
  std::vector<int> values(64, 0), next(64, 0);
  for (int stage = 0; stage < 3000; ++stage) {
    gang.run(64, [&](int i, int) { next[i] = values[(i + 17) % 64] + 1; });
    values.swap(next);
  }
  for (const int value : values) EXPECT_EQ(value, 3000);
}

TEST(Gang, OutsideAShiftTheCallerDoesAllInOrder) {
  Gang gang(4);
  std::vector<int> order;
  gang.run(10, [&](int i, int worker) {
    EXPECT_EQ(worker, 0);
    order.push_back(i);
  });
  std::vector<int> rising(10);
  std::iota(rising.begin(), rising.end(), 0);
  EXPECT_EQ(order, rising);
}

TEST(Gang, TheFirstOfThoseThatThrowIsHeardOf) {
  Gang gang(3);
  const Gang::Shift on(gang);
  for (int round = 0; round < 200; ++round) {
    try {
      gang.run(50, [](int i, int) {
        if (i % 10 == 7) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nobody threw";
    } catch (const std::runtime_error& error) {
      ASSERT_STREQ(error.what(), "7");
    }
    // And it goes on.
    std::vector<int> visits(30, 0);
    gang.run(30, [&](int i, int) { ++visits[i]; });
    ASSERT_EQ(std::accumulate(visits.begin(), visits.end(), 0), 30);
  }
}

TEST(Gang, TellsHowMuchWasWork) {
  Gang gang(2);
  Gang::watch(true);
  {
    const Gang::Shift on(gang);
    std::vector<double> sums(200, 0);
    for (int stage = 0; stage < 50; ++stage)
      gang.run(200, [&](int i, int) {
        for (int k = 1; k < 200; ++k) sums[i] += 1.0 / k;
      });
  }
  Gang::watch(false);
  const Gang::Effort effort = Gang::effort();
  EXPECT_GT(effort.busy, 0);
  EXPECT_GT(effort.stages, 0);
  EXPECT_LE(effort.busy, 2 * effort.stages);
}

}  // namespace
}  // namespace rotule
