#include "collide/shape/solid_distance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace rotule {
namespace {

struct NearestOnTriangle {
  Vec3 point;
  int feature;  // 0-2 corner, 3-5 edge, 6 face
};

/// Inside the three edge planes the face is nearest; otherwise one of the edges or their ends.
NearestOnTriangle nearest_on_triangle(const std::array<Vec3, 3>& c, const Vec3& face_normal, const Vec3& x) {
  bool inside = face_normal.squaredNorm() > 0;
  for (int k = 0; k < 3 && inside; ++k) inside = face_normal.dot((c[(k + 1) % 3] - c[k]).cross(x - c[k])) >= 0;
  if (inside) return {x - face_normal.dot(x - c[0]) * face_normal, 6};
  NearestOnTriangle best{c[0], 0};
  double least = infinity;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const Vec3 along = c[next] - c[k];
    const double square = along.squaredNorm(), t = square > 0 ? along.dot(x - c[k]) / square : 0;
    const NearestOnTriangle here = t <= 0   ? NearestOnTriangle{c[k], k}
                                   : t >= 1 ? NearestOnTriangle{c[next], next}
                                            : NearestOnTriangle{c[k] + t * along, 3 + k};
    const double d = (x - here.point).squaredNorm();
    if (d < least) {
      least = d;
      best = here;
    }
  }
  return best;
}

/// From x, in the tree's coordinates, to the box of a node's child.
double squared_distance(const Bvh::Node& node, int child, const Vec3& x) {
  double out = 0;
  for (int k = 0; k < 3; ++k) {
    const double gap = std::max({double(node.low(child, k)) - x[k], x[k] - double(node.high(child, k)), 0.0});
    out += gap * gap;
  }
  return out;
}

}  // namespace

SolidDistance::SolidDistance(const TriangleMesh& mesh) {
  const int count = int(mesh.triangles.size());
  std::vector<Aabb> boxes(count);
  std::vector<Vec3> face(count), vertex(mesh.vertices.size(), Vec3::Zero());
  std::map<std::pair<int, int>, Vec3> edge;  // by its directed half
  for (int t = 0; t < count; ++t) {
    const auto& corners = mesh.triangles[t];
    for (const int v : corners) boxes[t].add(mesh.vertices[v]);
    const auto& at = [&](int k) -> const Vec3& { return mesh.vertices[corners[k % 3]]; };
    const Vec3 area = (at(1) - at(0)).cross(at(2) - at(0));
    face[t] = area.norm() > 0 ? Vec3(area.normalized()) : Vec3::Zero();
    for (int k = 0; k < 3; ++k) {
      const Vec3 u = at(k + 1) - at(k), v = at(k + 2) - at(k);
      vertex[corners[k]] += std::atan2(u.cross(v).norm(), u.dot(v)) * face[t];
      edge[{corners[k], corners[(k + 1) % 3]}] = face[t];
    }
  }
  std::vector<int> order;
  tree_ = Bvh(boxes, order);
  triangles_.reserve(order.size());
  for (const int t : order) {
    Triangle& out = triangles_.emplace_back();
    if (t < 0) continue;  // room left in a leaf
    const auto& corners = mesh.triangles[t];
    for (int k = 0; k < 3; ++k) {
      const int next = corners[(k + 1) % 3];
      out.corner[k] = mesh.vertices[corners[k]];
      out.normal[k] = vertex[corners[k]];
      const auto twin = edge.find({next, corners[k]});
      out.normal[3 + k] = twin == edge.end() ? face[t] : Vec3(face[t] + twin->second);
    }
    out.normal[6] = face[t];
  }
}

double SolidDistance::operator()(const Vec3& x) const {
  double least = infinity, side = 1;
  const auto visit = [&](int place) {
    const Triangle& triangle = triangles_[place];
    const NearestOnTriangle nearest = nearest_on_triangle(triangle.corner, triangle.normal[6], x);
    const Vec3 away = x - nearest.point;
    if (away.squaredNorm() >= least) return;
    least = away.squaredNorm();
    side = away.dot(triangle.normal[nearest.feature]);
  };

  // Depth first, the nearer children first.
  const Vec3 at = tree_.inside(x);
  const double square_unit = tree_.unit() * tree_.unit();
  struct Entry {
    double bound;
    int first, count;
  };
  std::array<Entry, Bvh::stack_size> stack;
  int depth = 0;
  stack[depth++] = {0, 0, 0};
  while (depth > 0) {
    const Entry entry = stack[--depth];
    if (entry.bound >= least) continue;
    if (entry.count > 0) {
      for (int i = 0; i < entry.count; ++i) visit(entry.first + i);
      continue;
    }
    const Bvh::Node& node = tree_.nodes()[entry.first];
    // The farthest first onto the stack, by insertion.
    const int bottom = depth;
    for (int k = 0; k < node.children; ++k) {
      const double bound = square_unit * squared_distance(node, k, at);
      if (bound >= least) continue;
      int place = depth++;
      for (; place > bottom && stack[place - 1].bound < bound; --place) stack[place] = stack[place - 1];
      stack[place] = {bound, node.first(k), node.count(k)};
    }
  }
  return std::copysign(std::sqrt(least), side);
}

}  // namespace rotule
