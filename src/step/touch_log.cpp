#include "step/touch_log.h"

#include <algorithm>

namespace rotule {

namespace {

void sort_once(std::vector<TouchPair>& pairs) {
  if (!std::is_sorted(pairs.begin(), pairs.end())) std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

/// f(pair) for each of the sorted `pairs` that is not in the sorted `others`: one walk along both, for thousands of pairs stay
/// from step to step while a few change.
template <class F>
void for_each_not_in(const std::vector<TouchPair>& pairs, const std::vector<TouchPair>& others, const F& f) {
  auto other = others.begin();
  for (const TouchPair& pair : pairs) {
    while (other != others.end() && *other < pair) ++other;
    if (other == others.end() || *other != pair) f(pair);
  }
}

}  // namespace

void TouchLog::end_step(std::vector<TouchPair>& touching) {
  sort_once(touching);
  sort_once(met_);
  changes_.clear();
  for_each_not_in(touching_, touching, [&](const TouchPair& pair) { changes_.push_back({pair, false}); });
  const std::size_t ended = changes_.size();
  for_each_not_in(touching, touching_, [&](const TouchPair& pair) { changes_.push_back({pair, true}); });
  // What came and went within the step.
  const auto passing = [&](const TouchPair& pair) {
    return !std::binary_search(touching_.begin(), touching_.end(), pair) &&
           !std::binary_search(touching.begin(), touching.end(), pair);
  };
  for (const TouchPair& pair : met_)
    if (passing(pair)) changes_.push_back({pair, true});
  std::sort(changes_.begin() + static_cast<std::ptrdiff_t>(ended), changes_.end(),
            [](const TouchChange& p, const TouchChange& q) { return p.pair < q.pair; });
  for (const TouchPair& pair : met_)
    if (passing(pair)) changes_.push_back({pair, false});
  touching_.swap(touching);
}

void TouchLog::take_up(std::vector<TouchPair>& pairs) {
  touching_.insert(touching_.end(), pairs.begin(), pairs.end());
  sort_once(touching_);
}

void TouchLog::lay_aside(std::vector<TouchPair>& pairs) {
  sort_once(pairs);
  std::erase_if(touching_, [&](const TouchPair& pair) { return std::binary_search(pairs.begin(), pairs.end(), pair); });
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
