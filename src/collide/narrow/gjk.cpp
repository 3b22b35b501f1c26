#include "collide/narrow/gjk.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/stationary.h"

namespace rotule {

CoreDistance core_distance(const Convex& a, const Convex& b, const Frame& X_AB, const Vec3& axis, double limit) {
  constexpr int most_rounds = 100;
  constexpr double agreement = 1e-10, touching = 1e-9;
  CoreDistance out;
  Simplex& simplex = out.simplex;
  Vec3 v = -axis;
  double square = infinity, scale = 0;
  const bool curved = has_curvature(a, b);
  double attempt = 0.1;  // agreement at which the end of a search on curved shapes is looked for at once
  for (int round = 0; round < most_rounds; ++round) {
    const Vec3 on_a = core_support(a, -v), on_b = X_AB * core_support(b, X_AB.R.transpose() * v), w = on_a - on_b;
    const double length = v.norm(), below = v.dot(w) / length;
    if (below > limit) return {CoreDistance::Status::beyond, below, -v / length, on_a, on_b, {}};
    const double slack = square - v.dot(w);
    if (curved && simplex.count > 0 && slack <= attempt * square) {
      StationaryDirection end;
      if (stationary_direction(a, b, X_AB, simplex, -v / length, -touching * scale, end)) {
        const auto status = -end.height > limit ? CoreDistance::Status::beyond : CoreDistance::Status::apart;
        return {status, -end.height, end.normal, end.on_a, end.on_b, {}};
      }
      attempt = 0.1 * slack / square;
    }
    if (simplex.count > 0 && (slack <= agreement * square || simplex.has(w))) break;
    scale = std::max(scale, w.cwiseAbs().maxCoeff());

    simplex.add(on_a, on_b);
    const NearestFace nearest = nearest_face(simplex);
    if (nearest.count == 4 || nearest.square <= touching * touching * scale * scale) {
      keep(nearest, simplex);
      out.status = CoreDistance::Status::overlapping;
      out.normal = -v / length;
      return out;
    }
    // No nearer: rounding has the last word.
    if (nearest.square >= square) {
      --simplex.count;
      break;
    }
    keep(nearest, simplex);
    v = nearest.point;
    square = nearest.square;
  }
  out.status = CoreDistance::Status::apart;
  out.distance = std::sqrt(square);
  out.normal = -v / out.distance;
  out.on_a = simplex.on_a();
  out.on_b = simplex.on_b();
  return out;
}

}  // namespace rotule
