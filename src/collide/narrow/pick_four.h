#pragma once
// Which of many contact points to keep: the deepest, the one farthest from it, the one that makes the largest triangle with them,
// and the one that adds most outside one of its edges. Points that add no area are left out. A point whose gap opens at a slope s
// from the deepest one counts as much as 1 / (1 + (10 s)^2): what is about to touch goes before what is far out and high up.
#include <algorithm>
#include <array>
#include <cmath>

namespace rotule {

/// `x(i)`, `y(i)`: where point i is in the view along the normal; `gap(i)`: its gap. The numbers of those kept come in `kept`,
/// the deepest first; how many there are is returned.
template <class X, class Y, class Gap>
int pick_four(int count, const X& x, const Y& y, const Gap& gap, std::array<int, 4>& kept) {
  if (count == 0) return 0;
  int first = 0;
  for (int i = 1; i < count; ++i)
    if (gap(i) < gap(first)) first = i;
  kept[0] = first;
  const double lowest = gap(first);
  const auto distance = [&](int i) {
    const double dx = x(i) - x(first), dy = y(i) - y(first);
    return dx * dx + dy * dy;
  };
  const auto weight = [&](int i) {
    const double d = distance(i), rise = 10 * (gap(i) - lowest);
    return d > 0 ? d / (d + rise * rise) : 1;
  };

  int second = -1;
  double farthest = 0;
  for (int i = 0; i < count; ++i) {
    const double d = distance(i) * weight(i);
    if (d > farthest * (1 + 1e-9)) farthest = d, second = i;
  }
  if (second < 0) return 1;
  kept[1] = second;
  const double none = 1e-6 * distance(second);  // an area that is none

  const auto area = [&](int i, int j, int k) { return (x(j) - x(i)) * (y(k) - y(i)) - (y(j) - y(i)) * (x(k) - x(i)); };
  int third = -1;
  double largest = none;
  for (int i = 0; i < count; ++i) {
    const double size = weight(i) * std::abs(area(first, second, i));
    if (size > largest * (1 + 1e-9)) largest = size, third = i;
  }
  if (third < 0) return 2;
  kept[2] = third;

  const int i = first, j = area(first, second, third) > 0 ? second : third, k = j == second ? third : second;
  int fourth = -1;
  double added = none;
  for (int c = 0; c < count; ++c) {
    const double size = -weight(c) * std::min({area(i, j, c), area(j, k, c), area(k, i, c)});
    if (size > added * (1 + 1e-9)) added = size, fourth = c;
  }
  if (fourth < 0) return 3;
  kept[3] = fourth;
  return 4;
}

}  // namespace rotule
