#include "collide/narrow/simplex.h"

namespace rotule {
namespace {

NearestFace of_point(const Simplex& s, int i) { return {1, {i}, {1}, s.w[i], s.w[i].squaredNorm()}; }

NearestFace of_segment(const Simplex& s, int i, int j) {
  const Vec3 edge = s.w[j] - s.w[i];
  const double length = edge.squaredNorm();
  if (!(length > 0)) return of_point(s, i);
  // Measured from the end that is nearer, which keeps the digits of the smaller weight.
  if (s.w[i].squaredNorm() <= s.w[j].squaredNorm()) {
    const double t = -s.w[i].dot(edge) / length;
    if (t <= 0) return of_point(s, i);
    if (t >= 1) return of_point(s, j);
    const Vec3 p = s.w[i] + t * edge;
    return {2, {i, j}, {1 - t, t}, p, p.squaredNorm()};
  }
  const double t = s.w[j].dot(edge) / length;
  if (t <= 0) return of_point(s, j);
  if (t >= 1) return of_point(s, i);
  const Vec3 p = s.w[j] - t * edge;
  return {2, {i, j}, {t, 1 - t}, p, p.squaredNorm()};
}

void keep_nearer(NearestFace& best, const NearestFace& other) {
  if (other.square < best.square) best = other;
}

NearestFace of_triangle(const Simplex& s, int i, int j, int k) {
  const Vec3 normal = (s.w[j] - s.w[i]).cross(s.w[k] - s.w[i]);
  const double area = normal.squaredNorm();
  NearestFace best;
  if (area > 0) {
    const Vec3 p = normal * (normal.dot(s.w[i]) / area);  // the origin, projected onto the plane
    const double a = normal.dot((s.w[j] - p).cross(s.w[k] - p)), b = normal.dot((s.w[k] - p).cross(s.w[i] - p)),
                 c = normal.dot((s.w[i] - p).cross(s.w[j] - p));
    if (a > 0 && b > 0 && c > 0) {
      const double sum = a + b + c;
      return {3, {i, j, k}, {a / sum, b / sum, c / sum}, p, p.squaredNorm()};
    }
    if (a <= 0) keep_nearer(best, of_segment(s, j, k));
    if (b <= 0) keep_nearer(best, of_segment(s, i, k));
    if (c <= 0) keep_nearer(best, of_segment(s, i, j));
    return best;
  }
  keep_nearer(best, of_segment(s, j, k));
  keep_nearer(best, of_segment(s, i, k));
  keep_nearer(best, of_segment(s, i, j));
  return best;
}

NearestFace of_tetrahedron(const Simplex& s) {
  const auto& w = s.w;
  // Signed volumes of the origin with the face opposite of each point, and of the whole.
  const Vec3 e1 = w[1] - w[0], e2 = w[2] - w[0], e3 = w[3] - w[0];
  const double whole = e1.dot(e2.cross(e3));
  const std::array<double, 4> part{w[1].dot(w[2].cross(w[3])), -w[0].dot(w[2].cross(w[3])), w[0].dot(w[1].cross(w[3])),
                                   -w[0].dot(w[1].cross(w[2]))};
  const double square_size = e1.squaredNorm() * e2.squaredNorm() * e3.squaredNorm();
  const bool flat = !(whole * whole > 1e-26 * square_size);
  bool inside = !flat;
  for (const double v : part) inside = inside && v * whole > 0;
  if (inside) return {4, {0, 1, 2, 3}, {part[0] / whole, part[1] / whole, part[2] / whole, part[3] / whole}, Vec3::Zero(), 0};
  constexpr std::array<std::array<int, 3>, 4> faces{{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};
  NearestFace best;
  for (int f = 0; f < 4; ++f)
    if (flat || part[f] * whole <= 0) keep_nearer(best, of_triangle(s, faces[f][0], faces[f][1], faces[f][2]));
  return best;
}

}  // namespace

NearestFace nearest_face(const Simplex& s) {
  return s.count == 1   ? of_point(s, 0)
         : s.count == 2 ? of_segment(s, 0, 1)
         : s.count == 3 ? of_triangle(s, 0, 1, 2)
                        : of_tetrahedron(s);
}

void keep(const NearestFace& face, Simplex& s) {
  // Places only move down, so points can be moved in order.
  for (int i = 0; i < face.count; ++i) {
    const int from = face.index[i];
    s.weight[i] = face.weight[i];
    if (from == i) continue;
    s.w[i] = s.w[from];
    s.a[i] = s.a[from];
    s.b[i] = s.b[from];
  }
  s.count = face.count;
}

}  // namespace rotule
