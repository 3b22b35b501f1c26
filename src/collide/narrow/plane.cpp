#include "collide/narrow/plane.h"

#include <algorithm>
#include <cmath>

namespace rotule {

bool plane_convex(const Convex& b, const Frame& X, double margin, CandidateList& out) {
  out.count = 0;
  out.lever = 0;
  const Vec3 down = -X.R.row(2).transpose();
  const Vec3 lowest = X * support(b, down);
  if (lowest.z() > margin) return false;
  const auto add = [&](const Vec3& p, std::uint32_t feature) {
    out.items[out.count++] = {{{p.x(), p.y(), 0}, p, p.z(), feature}, p.x(), p.y()};
  };
  SurfacePatch patch;
  surface_patch(b, down, patch);
  double reached = infinity, extent = 0;
  for (int i = 0; i < patch.count; ++i) {
    const Vec3 p = X * patch.points[i];
    extent = std::max(extent, (patch.points[i] - patch.points[0]).cwiseAbs().maxCoeff());
    if (p.z() > margin) continue;
    reached = std::min(reached, p.z());
    add(p, patch.labels[i]);
  }
  // An edge that it may stand on need not be one of that face.
  if (const SurfaceEdge edge = surface_edge(b, down); edge.found) {
    extent = std::max(extent, (edge.to - edge.from).cwiseAbs().maxCoeff());
    for (const auto& [corner, label] : {std::pair{edge.from, edge.label_from}, std::pair{edge.to, edge.label_to}}) {
      const Vec3 p = X * corner;
      const auto feature = std::uint32_t(label);
      const auto same = [&](const Candidate& c) { return c.point.feature == feature; };
      if (p.z() > margin || std::any_of(out.items.begin(), out.items.begin() + out.count, same)) continue;
      reached = std::min(reached, p.z());
      add(p, feature);
    }
  }
  if (patch.count > 4 && b.kind != Convex::Kind::hull && out.count == patch.count) out.lever = 2 * b.size.x() / 3;
  if (reached <= lowest.z() + 1e-9 * extent) return true;
  int kept = 0;
  for (int i = 0; i < out.count; ++i)
    if (std::hypot(out.items[i].x - lowest.x(), out.items[i].y - lowest.y()) > 1e-3 * extent) out.items[kept++] = out.items[i];
  out.count = kept;
  add(lowest, 0xffffffff);
  return true;
}

CollideScratch::Cluster& plane_surface(const Surface& b, const Frame& X, double margin, CollideScratch& scratch) {
  if (scratch.clusters.empty()) scratch.clusters.emplace_back();
  CollideScratch::Cluster& out = scratch.clusters[0];
  out.candidates.clear();
  for (int v = 0; v < b.vertex_count(); ++v) {
    if (!b.has_vertex(v)) continue;
    const Vec3 p = X * b.vertex(v);
    if (p.z() <= margin) out.candidates.push_back({{{p.x(), p.y(), 0}, p, p.z(), std::uint32_t(v)}, p.x(), p.y()});
  }
  return out;
}

}  // namespace rotule
