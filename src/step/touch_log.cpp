#include "step/touch_log.h"

#include <algorithm>

namespace rotule {

namespace {

void sort_once(std::vector<TouchPair>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

}  // namespace

void TouchLog::end_step(std::vector<TouchPair>& touching) {
  sort_once(touching);
  sort_once(met_);
  const auto has = [](const std::vector<TouchPair>& pairs, const TouchPair& pair) {
    return std::binary_search(pairs.begin(), pairs.end(), pair);
  };
  changes_.clear();
  for (const TouchPair& pair : touching_)
    if (!has(touching, pair)) changes_.push_back({pair, false});
  const std::size_t ended = changes_.size();
  for (const TouchPair& pair : touching)
    if (!has(touching_, pair)) changes_.push_back({pair, true});
  // What came and went within the step.
  for (const TouchPair& pair : met_)
    if (!has(touching_, pair) && !has(touching, pair)) changes_.push_back({pair, true});
  std::sort(changes_.begin() + static_cast<std::ptrdiff_t>(ended), changes_.end(),
            [](const TouchChange& p, const TouchChange& q) { return p.pair < q.pair; });
  for (const TouchPair& pair : met_)
    if (!has(touching_, pair) && !has(touching, pair)) changes_.push_back({pair, false});
  touching_.swap(touching);
}

bool TouchLog::touching(int a, int b) const {
  const TouchPair pair{std::min(a, b), std::max(a, b)};
  const auto at = std::lower_bound(touching_.begin(), touching_.end(), pair);
  return at != touching_.end() && at->a == pair.a && at->b == pair.b;
}

void TouchLog::body_removed(int body) {
  std::erase_if(touching_, [body](const TouchPair& pair) { return pair.a == body || pair.b == body; });
  for (TouchPair& pair : touching_) {
    pair.a -= pair.a > body;
    pair.b -= pair.b > body;
  }
  changes_.clear();
  met_.clear();
}

}  // namespace rotule
