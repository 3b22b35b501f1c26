#pragma once
// The difference A - B of two cores, by its support function; all in A's frame.
#include "collide/frame.h"
#include "collide/shape/convex.h"

namespace rotule {

struct Difference {
  const Convex& a;
  const Convex& b;
  const Frame& X_AB;
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();

  /// The farthest point along d; where it comes from is left in on_a, on_b.
  Vec3 support(const Vec3& d) {
    on_a = core_support(a, d);
    on_b = X_AB * core_support(b, -(X_AB.R.transpose() * d));
    return on_a - on_b;
  }
};

}  // namespace rotule
