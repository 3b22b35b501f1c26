#include "model/convex_hull.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Eigenvalues>
#include <cstdio>
#include <memory>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace rotule {
namespace {

/// Qhull's memory, given back however the function is left.
struct Quickhull {
  qhT state;

  Quickhull() { qh_zero(&state, nullptr); }
  Quickhull(const Quickhull&) = delete;
  Quickhull& operator=(const Quickhull&) = delete;
  ~Quickhull() {
    qh_freeqhull(&state, !qh_ALL);
    int chunks = 0, bytes = 0;
    qh_memfreeshort(&state, &chunks, &bytes);
  }
};

/// Width of the points across their thinnest direction, over that along their widest.
double flatness(const std::vector<Vec3>& points, const Vec3& center) {
  Mat3 scatter = Mat3::Zero();
  for (const Vec3& p : points) scatter += (p - center) * (p - center).transpose();
  const Mat3 axes = Eigen::SelfAdjointEigenSolver<Mat3>(scatter).eigenvectors();
  Vec3 low = Vec3::Constant(infinity), high = Vec3::Constant(-infinity);
  for (const Vec3& p : points) {
    const Vec3 along = axes.transpose() * (p - center);
    low = low.cwiseMin(along);
    high = high.cwiseMax(along);
  }
  const Vec3 width = high - low;
  return width.maxCoeff() > 0 ? width.minCoeff() / width.maxCoeff() : 0;
}

}  // namespace

TriangleMesh hull_mesh(const ConvexHull& hull) {
  if (hull.points.size() < 4) throw Error("convex hull", fmt::format("must have at least 4 points, has {}", hull.points.size()));
  Vec3 center = Vec3::Zero();
  for (std::size_t i = 0; i < hull.points.size(); ++i) {
    if (!hull.points[i].allFinite()) throw Error("convex hull", fmt::format("point {} is not finite", i));
    center += hull.points[i] / double(hull.points.size());
  }
  if (!(flatness(hull.points, center) > 1e-10))
    throw Error("convex hull", "its points lie in one plane; give points that enclose a volume");

  // Centred coordinates: a hull far from its origin keeps its digits.
  std::vector<double> coordinates;
  coordinates.reserve(3 * hull.points.size());
  for (const Vec3& p : hull.points)
    for (int k = 0; k < 3; ++k) coordinates.push_back(p[k] - center[k]);

  Quickhull qh;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> silence(std::fopen("/dev/null", "w"), &std::fclose);
  char command[] = "qhull Qt Pp";  // Qt: facets of many vertices come as triangles
  if (qh_new_qhull(&qh.state, 3, int(hull.points.size()), coordinates.data(), False, command, nullptr, silence.get()) != 0)
    throw Error("convex hull", "Quickhull finds no hull; its points are nearly in one plane or nearly the same");

  TriangleMesh mesh;
  mesh.vertices = hull.points;
  qhT* const state = &qh.state;
  facetT* facet;
  FORALLfacet_(state->facet_list) {
    std::array<int, 3> triangle{};
    int corner = 0;
    vertexT *vertex, **vertexp;
    FOREACHvertex_(facet->vertices) {
      if (corner < 3) triangle[corner] = qh_pointid(state, vertex->point);
      ++corner;
    }
    if (corner != 3) throw Error("convex hull", "Quickhull left a facet that is no triangle");
    // Quickhull's sorted vertex list is clockwise seen from outside where the facet is oriented upwards.
    if (facet->toporient ^ qh_ORIENTclock) std::swap(triangle[0], triangle[1]);
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

}  // namespace rotule
