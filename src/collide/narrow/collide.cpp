#include "collide/narrow/collide.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/box_box.h"
#include "collide/narrow/capsule_capsule.h"
#include "collide/narrow/plane.h"
#include "collide/narrow/separation.h"
#include "collide/narrow/surface_contact.h"

namespace rotule {
namespace {

void finish(const CandidateList& list, const Vec3& normal, const Frame& X_W, Manifold& out) {
  out.normal = X_W.R * normal;
  keep_four(list.items.data(), list.count, list.lever, X_W, out);
}

/// A round face that is on the surface as a whole, all eight corners on its rim (convex.cpp), has the lever of a disc. `facing`:
/// the cosine of its axis to the normal.
void complete_rim(const Convex& b, double facing, Manifold& m) {
  const bool round = b.kind == Convex::Kind::cylinder || (b.kind == Convex::Kind::cone && facing > 0);
  constexpr double octagon = 0.6331;  // its lever, over the radius around it
  if (round && std::abs(facing) > 0.99 && m.lever > 0.9999 * octagon * b.size.x()) m.lever = 2 * b.size.x() / 3;
}

/// Appends the manifolds of two parts, the first of which is no less special than the second: convex < surface < plane.
void collide_in_order(const CollisionPart& a, const Frame& X_WA, const CollisionPart& b, const Frame& X_WB, double margin,
                      PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out) {
  if (a.kind == CollisionPart::Kind::convex)
    return collide_convex(a.convex, X_WA, b.convex, X_WB, margin, memory, scratch.list, out);
  Manifold m;
  if (a.kind == CollisionPart::Kind::plane && b.kind == CollisionPart::Kind::convex) {
    if (!plane_convex(b.convex, relative(X_WA, X_WB), margin, scratch.list)) return;
    finish(scratch.list, Vec3::UnitZ(), X_WA, m);
    out.push_back(m);
  } else if (a.kind == CollisionPart::Kind::plane && b.kind == CollisionPart::Kind::surface) {
    CollideScratch::Cluster& cluster = plane_surface(*b.surface, relative(X_WA, X_WB), margin, scratch);
    if (cluster.candidates.empty()) return;
    m.normal = X_WA.R.col(2);
    m.triangle_b = -1;
    keep_four(cluster.candidates.data(), int(cluster.candidates.size()), 0, X_WA, m);
    out.push_back(m);
  } else if (a.kind == CollisionPart::Kind::surface && b.kind == CollisionPart::Kind::convex) {
    surface_convex(*a.surface, b.convex, relative(X_WA, X_WB), margin, scratch);
    for (int i = 0; i < scratch.used_clusters; ++i) {
      const CollideScratch::Cluster& cluster = scratch.clusters[i];
      if (cluster.candidates.empty()) continue;
      m.normal = X_WA.R * cluster.normal;
      m.triangle_a = a.surface->source(cluster.triangle);
      keep_four(cluster.candidates.data(), int(cluster.candidates.size()), 0, X_WA, m);
      if (m.lever > 0) complete_rim(b.convex, X_WB.R.col(2).dot(m.normal), m);
      out.push_back(m);
    }
  }
}

/// By the general search for the separation.
void collide_by_search(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                       CandidateList& list, std::vector<Manifold>& out) {
  const Frame X = relative(X_WA, X_WB);
  const Separation s = separation(a, b, X, margin, memory);
  if (!s.near || s.gap > margin) return;
  clip_patches(a, b, X, s, margin, true, list);
  finish(list, s.normal, X_WA, out.emplace_back());
}

/// Every part of A against every part of B.
void collide_all_parts(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB, double margin,
                       PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out) {
  const bool single = a.parts().size() == 1 && b.parts().size() == 1;
  for (int i = 0; i < int(a.parts().size()); ++i) {
    const CollisionPart& part_a = a.parts()[i];
    const Frame X_WPa = placed(part_a, X_WA);
    const Aabb box = single ? Aabb{} : bounds(part_a, X_WA).grown(margin);
    for (int j = 0; j < int(b.parts().size()); ++j) {
      const CollisionPart& part_b = b.parts()[j];
      if (!single && !box.overlaps(bounds(part_b, X_WB))) continue;
      const Frame X_WPb = placed(part_b, X_WB);
      PairMemory fresh;
      PairMemory& pair = single ? memory : fresh;
      const std::size_t first = out.size();
      collide_parts(part_a, X_WPa, part_b, X_WPb, margin, pair, scratch, out);
      for (std::size_t k = first; k < out.size(); ++k) {
        out[k].part_a = i;
        out[k].part_b = j;
      }
    }
  }
}

}  // namespace

void collide_parts(const CollisionPart& a, const Frame& X_WPa, const CollisionPart& b, const Frame& X_WPb, double margin,
                   PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out) {
  if (b.kind <= a.kind) return collide_in_order(a, X_WPa, b, X_WPb, margin, memory, scratch, out);
  const std::size_t first = out.size();
  collide_in_order(b, X_WPb, a, X_WPa, margin, memory, scratch, out);
  for (std::size_t k = first; k < out.size(); ++k) swap_sides(out[k]);
}

void collide_convex(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                    CandidateList& list, std::vector<Manifold>& out) {
  if (a.kind <= Convex::Kind::capsule && b.kind <= Convex::Kind::capsule) return capsule_capsule(a, X_WA, b, X_WB, margin, out);
  if (a.kind == Convex::Kind::box && b.kind == Convex::Kind::box && a.radius == 0 && b.radius == 0) {
    if (!still_parted(a, X_WA, b, X_WB, margin, memory)) collide_boxes(a, X_WA, b, X_WB, margin, memory, list, out);
    return;
  }
  collide_by_search(a, X_WA, b, X_WB, margin, memory, list, out);
}

void collide(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB, double margin,
             PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out) {
  if (a.is_convex() && b.is_convex()) {
    collide_convex(a.parts()[0].convex, X_WA, b.parts()[0].convex, X_WB, margin, memory, scratch.list, out);
  } else {
    collide_all_parts(a, X_WA, b, X_WB, margin, memory, scratch, out);
  }
}

}  // namespace rotule
