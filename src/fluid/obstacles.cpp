#include "fluid/obstacles.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/tessellate.h"

namespace rotule {
namespace {

constexpr int faces_per_chunk = 4096;
constexpr double fewest_cells_across = 2;
/// Friction of faces inside, and the least distance, in cells, for those outside: as good as whole where the boundary layer is
/// seen at all.
constexpr double inner_friction = 20, least_distance = 0.02;

double largest_eigenvalue(const Mat3& A) {
  return Eigen::SelfAdjointEigenSolver<Mat3>(A, Eigen::EigenvaluesOnly).eigenvalues()[2];
}

int wrapped(int i, int n) { return ((i % n) + n) % n; }

}  // namespace

void Obstacles::add(const std::string& name, const Shape& shape, const Vec3& center_of_mass, double mass, double least_inertia) {
  ImmersedBody body{name, SignedDistance(shape), tessellate(shape).vertices, center_of_mass, mass, least_inertia};
  Vec3 low = Vec3::Constant(infinity), high = -low;
  for (Vec3& corner : body.corners) {
    low = low.cwiseMin(corner);
    high = high.cwiseMax(corner);
    corner -= center_of_mass;
  }
  // Extents along the body's own axes: how it is turned does not matter.
  double cell = 0;
  for (const int a : layout_.axes) cell = std::max(cell, layout_.h[a]);
  const double thinnest = (high - low).minCoeff();
  if (thinnest < fewest_cells_across * cell)
    throw Error("fluid/grid",
                fmt::format("body {} is {:.3g} m thin, less than {} cells of {:.3g} m: it takes cells of at most "
                            "{:.3g} m, or a force in a \"computed\" flow in place of a shape, or leave it out of \"obstacles\"",
                            in_quotes(name), thinnest, fewest_cells_across, cell, thinnest / fewest_cells_across));
  bodies_.push_back(std::move(body));
}

double Obstacles::friction_at(const ImmersedBody& body, const Vec3& x, double d, const Mat3& R) const {
  double sum = 0;
  for (const int a : layout_.axes) {
    const double h = layout_.h[a], per_area = 1 / (h * h);
    if (d <= 0) {
      sum += inner_friction * per_area;  // what sticks to the surface moves along with it
      continue;
    }
    for (const double side : {-h, h}) {
      const double depth = -body.distance(x + side * R.row(a).transpose());
      if (depth > 0) sum += depth / std::max(d, least_distance * h) * per_area;
    }
  }
  return sum;
}

double Obstacles::fraction_at(const ImmersedBody& body, const Vec3& x, double d, double width, const Mat3& R) const {
  const double whole = std::clamp(0.5 - d / width, 0.0, 1.0);
  double diagonal = 0;
  for (const int a : layout_.axes) diagonal = std::hypot(diagonal, layout_.h[a]);
  if (std::abs(d) > 0.25 * (diagonal + width)) return whole;  // all parts of the cell are on the same side
  const int parts = 1 << layout_.axes.size();
  double sum = 0;
  for (int part = 0; part < parts; ++part) {
    Vec3 y = x;
    for (std::size_t n = 0; n < layout_.axes.size(); ++n) {
      const int a = layout_.axes[n];
      y += ((part >> n) % 2 == 0 ? -0.25 : 0.25) * layout_.h[a] * R.row(a).transpose();
    }
    sum += std::clamp(0.5 - 2 * body.distance(y) / width, 0.0, 1.0);
  }
  return (4 * sum / parts - whole) / 3;
}

void Obstacles::find_faces(ImmersedBody& body, int c, const Mat3& R, const Vec3& low, const Vec3& high) const {
  double width = 1, reach = 0;
  for (const int a : layout_.axes) {
    width *= layout_.h[a];
    reach = std::max(reach, layout_.h[a]);
  }
  width = std::pow(width, 1.0 / static_cast<double>(layout_.axes.size()));
  const FaceRange range = layout_.faces(c, true);
  Cell from{}, to{};
  for (int a = 0; a < 3; ++a) {
    if (layout_.flat[a]) continue;
    const double shift = a == c ? 0.0 : 0.5;
    from[a] = static_cast<int>(std::floor((low[a] - layout_.lower[a]) / layout_.h[a] - shift)) - 1;
    to[a] = static_cast<int>(std::ceil((high[a] - layout_.lower[a]) / layout_.h[a] - shift)) + 1;
    if (!layout_.periodic(a)) {
      from[a] = std::max(from[a], range.begin[a]);
      to[a] = std::min(to[a], range.end[a] - 1);
    }
  }
  Cell at{};
  for (at[2] = from[2]; at[2] <= to[2]; ++at[2])
    for (at[1] = from[1]; at[1] <= to[1]; ++at[1])
      for (at[0] = from[0]; at[0] <= to[0]; ++at[0]) {
        Vec3 r = layout_.place(at, c) - body.p;
        for (int a = 0; a < 3; ++a)
          if (layout_.flat[a]) r[a] = 0;  // the flow is the same everywhere along it
        const Vec3 x = R.transpose() * r + body.center_of_mass;
        const double d = body.distance(x);
        if (!(d < reach)) continue;
        const double fraction = fraction_at(body, x, d, width, R);
        const double grip = std::clamp(-2 * d / width, 0.0, 1.0);
        const double friction = grip < 1 ? friction_at(body, x, d, R) : 0;
        if (fraction == 0 && friction == 0) continue;
        Cell cell = at;
        for (int a = 0; a < 3; ++a)
          if (layout_.periodic(a)) cell[a] = wrapped(at[a], layout_.n[a]);
        body.faces.push_back({layout_.at(cell), grip, fraction, friction, r});
      }
}

void Obstacles::place(int number, const Vec3& p, const Quat& theta) {
  ImmersedBody& body = bodies_[number];
  if (body.p == p && body.theta.coeffs() == theta.coeffs()) return;
  body.p = p;
  body.theta = theta;
  const Mat3 R = theta.toRotationMatrix();
  Vec3 low = Vec3::Constant(infinity), high = -low;
  for (const Vec3& corner : body.corners) {
    const Vec3 x = p + R * corner;
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  body.wholly_inside = true;
  for (const int a : layout_.axes)
    if (!layout_.periodic(a) && (low[a] < layout_.lower[a] || high[a] > layout_.lower[a] + layout_.n[a] * layout_.h[a]))
      body.wholly_inside = false;
  // Round shapes are inscribed in their triangles.
  const Vec3 margin = 0.01 * (high - low);
  body.faces.clear();
  for (int c = 0; c < 3; ++c) {
    body.first[c] = body.faces.size();
    if (!layout_.flat[c]) find_faces(body, c, R, low - margin, high + margin);
  }
  body.first[3] = body.faces.size();

  Mat6 pushed = Mat6::Zero(), whole = Mat6::Zero();
  body.buoyant_mass = 0;
  body.buoyant_moment.setZero();
  body.second_moment.setZero();
  const double components = static_cast<double>(layout_.axes.size()), cell_mass = density_ * layout_.cell_volume;
  for (const int c : layout_.axes)
    for (std::size_t k = body.first[c]; k < body.first[c + 1]; ++k) {
      const ImmersedFace& face = body.faces[k];
      Vec6 row = Vec6::Zero();  // velocity here by the body's velocities
      row[c] = 1;
      row.tail<3>() = face.r.cross(Vec3(Vec3::Unit(c)));
      pushed += cell_mass * face.grip * row * row.transpose();
      whole += cell_mass * face.fraction * row * row.transpose();
      const double mass = cell_mass * face.fraction / components;
      body.buoyant_mass += mass;
      body.buoyant_moment += mass * face.r;
      body.second_moment += mass * face.r * face.r.transpose();
    }
  // What is not pushed may count as displaced up to half of what the body itself weighs against it, in moving along and in
  // turning.
  const Mat6 difference = whole - pushed;
  const double linear = difference.topLeftCorner<3, 3>().trace() / components;
  const double angular = largest_eigenvalue(difference.bottomRightCorner<3, 3>());
  const double along = linear > 0 ? std::min(1.0, 0.5 * body.mass / linear) : 1;
  const double turning = angular > 0 ? std::min(1.0, 0.5 * body.least_inertia / angular) : 1;
  Vec6 share;
  share << Vec3::Constant(std::sqrt(along)), Vec3::Constant(std::sqrt(turning));
  body.displaced = pushed + share.asDiagonal() * difference * share.asDiagonal();
}

void Obstacles::push(Field3& u, std::span<const Vec6> velocities, double diffusion, int threads) {
  const double mass = density_ * layout_.cell_volume;
  for (std::size_t b = 0; b < bodies_.size(); ++b) {
    ImmersedBody& body = bodies_[b];
    const Vec3 v = velocities[b].head<3>(), omega = velocities[b].tail<3>();
    for (const int c : layout_.axes) {
      const std::size_t first = body.first[c], count = body.first[c + 1] - first;
      const int chunks = static_cast<int>((count + faces_per_chunk - 1) / faces_per_chunk);
      if (partial_.size() < static_cast<std::size_t>(chunks)) partial_.resize(2 * static_cast<std::size_t>(chunks));
      double* field = u[c].data();
      parallel_for(chunks, threads, [&](int chunk) {
        Partial sum;
        const std::size_t from = first + static_cast<std::size_t>(chunk) * faces_per_chunk;
        for (std::size_t k = from; k < std::min(first + count, from + faces_per_chunk); ++k) {
          const ImmersedFace& face = body.faces[k];
          const double target = v[c] + omega.cross(face.r)[c];
          const double loose = (1 - face.grip) / (1 + diffusion * face.friction);
          const double change = (1 - loose) * (target - field[face.index]);
          sum.lost += change * (target - field[face.index] - 0.5 * change);
          field[face.index] += change;
          sum.impulse[c] += change;
          sum.impulse.tail<3>() += change * face.r.cross(Vec3(Vec3::Unit(c)));
        }
        partial_[chunk] = sum;
      });
      for (int chunk = 0; chunk < chunks; ++chunk) {
        body.impulse -= mass * partial_[chunk].impulse;
        lost_ += mass * partial_[chunk].lost;
      }
    }
  }
}

Vec6 Obstacles::turning(int number, const Vec3& omega) const {
  const ImmersedBody& body = bodies_[number];
  Vec6 out;
  out.head<3>() = omega * omega.dot(body.buoyant_moment) - body.buoyant_moment * omega.squaredNorm();
  out.tail<3>() = (body.second_moment * omega).cross(omega);
  return out;
}

std::size_t Obstacles::bytes() const {
  std::size_t out = 0;
  for (const ImmersedBody& body : bodies_) out += body.faces.capacity() * sizeof(ImmersedFace);
  return out;
}

}  // namespace rotule
