#include "collide/narrow/surface_contact.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/separation.h"

namespace rotule {
namespace {

constexpr double same_normal = 1 - 1e-9;
constexpr double much_deeper = 2;
constexpr std::size_t most_candidates = 128;  // of a cluster, before the four that count are picked

bool above(const std::array<Vec3, 3>& c, const Vec3& normal, const Vec3& p) {
  for (int k = 0; k < 3; ++k) {
    const Vec3 edge = c[(k + 1) % 3] - c[k];
    if (normal.dot(edge.cross(p - c[k])) < -1e-9 * edge.squaredNorm()) return false;
  }
  return true;
}

CollideScratch::Cluster& cluster_for(CollideScratch& scratch, const Vec3& normal) {
  for (int i = 0; i < scratch.used_clusters; ++i)
    if (scratch.clusters[i].normal.dot(normal) > same_normal) return scratch.clusters[i];
  if (scratch.used_clusters == int(scratch.clusters.size())) scratch.clusters.emplace_back();
  CollideScratch::Cluster& c = scratch.clusters[scratch.used_clusters++];
  c.normal = normal;
  c.t = any_normal_to(normal);
  c.b = normal.cross(c.t);
  c.triangle = -1;
  c.gap = infinity;
  c.candidates.clear();
  return c;
}

void add_to_cluster(CollideScratch& scratch, const Separation& s, int triangle, int source) {
  CollideScratch::Cluster& cluster = cluster_for(scratch, s.normal);
  for (int i = 0; i < scratch.list.count; ++i) {
    Candidate c = scratch.list.items[i];
    c.x = cluster.t.dot(c.point.on_b);
    c.y = cluster.b.dot(c.point.on_b);
    // Which corner of which triangle.
    c.point.feature = (c.point.feature ^ c.point.feature >> 16) * 0x9e3779b1u ^ std::uint32_t(source) * 0x85ebca6bu;
    if (c.point.gap < cluster.gap) {
      cluster.gap = c.point.gap;
      cluster.triangle = triangle;
    }
    if (cluster.candidates.size() < most_candidates) cluster.candidates.push_back(c);
  }
}

}  // namespace

void surface_convex(const Surface& a, const Convex& b, const Frame& X, double margin, CollideScratch& scratch) {
  scratch.used_clusters = 0;
  scratch.triangles.clear();
  a.tree().overlapping(bounds(b, X).grown(margin), [&](int t) {
    scratch.triangles.push_back(t);
    return true;
  });
  const Vec3 middle = X * center(b);
  const auto add = [&](int t, bool whatever) {
    const std::array<Vec3, 3>& corners = a.corners(t);
    const Vec3& face = a.normal(t);
    const Convex triangle = Convex::triangle(corners.data());
    PairMemory memory{face};
    Separation s = separation(triangle, b, X, margin, memory);
    if (!s.near) return infinity;
    bool with_deepest = true;
    // Up to rounding it is the face's own normal: then exactly, so that a flat floor has one normal.
    const bool from_face = (s.normal - face).squaredNorm() < 1e-12;
    if (from_face || !a.legal(t, s.on_a, s.normal)) {
      const double depth = std::max(-s.gap, 0.0);
      s.normal = face;
      const Vec3 lowest = X * support(b, -(X.R.transpose() * face));
      s.gap = face.dot(lowest - corners[0]);
      if (!from_face) s.on_b = lowest;
      s.on_a = s.on_b - s.gap * face;
      if (s.gap > margin) return infinity;
      // Beyond an edge, what hangs down on the other side is deep below this face and touches it no more than elsewhere.
      if (!from_face && !whatever && -s.gap > much_deeper * depth + margin) return -s.gap;
      with_deepest = from_face || above(corners, face, s.on_a);
    }
    clip_patches(triangle, b, X, s, margin, with_deepest, scratch.list);
    add_to_cluster(scratch, s, t, a.source(t));
    return infinity;
  };
  int put_off = -1;
  double least = infinity;
  for (const int t : scratch.triangles) {
    if (a.normal(t).isZero() || a.normal(t).dot(middle - a.corners(t)[0]) < 0) continue;
    if (const double depth = add(t, false); depth < least) least = depth, put_off = t;
  }
  // Where no triangle has a say of its own, the least deep of those.
  if (put_off >= 0 && scratch.used_clusters == 0) add(put_off, true);
}

}  // namespace rotule
