#include "model/elements.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "math/dihedral.h"

namespace rotule {
namespace {

/// Corners of an element, and its size: volume or area.
const std::vector<Vec3>& rest_of(const ParticleGroup& group) {
  return group.rest_positions.empty() ? group.positions : group.rest_positions;
}

Mat3 edges_of(const std::vector<Vec3>& x, const std::array<int, 4>& c) {
  Mat3 D;
  for (int k = 0; k < 3; ++k) D.col(k) = x[static_cast<std::size_t>(c[static_cast<std::size_t>(k) + 1])] - x[c[0]];
  return D;
}

/// The triangle in its own plane: x along its first edge.
Mat2 flat_edges_of(const std::vector<Vec3>& x, const std::array<int, 3>& c) {
  const Vec3 a = x[c[1]] - x[c[0]], b = x[c[2]] - x[c[0]], along = a.normalized();
  Mat2 D;
  D << a.norm(), along.dot(b), 0, (b - along.dot(b) * along).norm();
  return D;
}

ElasticModuli moduli_of(const ElasticMaterial& m) {
  const double E = m.youngs_modulus, nu = m.poisson_ratio;
  return {E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu)), m.viscosity, m.law == "corotated"};
}

/// Stresses of a thin sheet have no part across it.
ElasticModuli plane_moduli_of(const TriangleSet& set) {
  const double E = set.material.youngs_modulus, nu = set.material.poisson_ratio;
  ElasticModuli out = moduli_of(set.material);
  out.mu *= set.thickness;
  out.lambda = E * nu / (1 - nu * nu) * set.thickness;
  return out;
}

/// What meets at each edge: the triangle's number in the set, the corner opposite, and whether it goes round from the edge's
/// smaller place to its larger one.
struct Side {
  int triangle, opposite;
  bool forwards;
};
using Sides = std::map<std::array<int, 2>, std::vector<Side>>;

Sides sides_of(const TriangleSet& set) {
  Sides out;
  for (std::size_t n = 0; n < set.triangles.size(); ++n)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = set.triangles[n][(k + 1) % 3], b = set.triangles[n][(k + 2) % 3];
      out[{std::min(a, b), std::max(a, b)}].push_back({static_cast<int>(n), set.triangles[n][k], a < b});
    }
  return out;
}

void add_bending(const std::vector<Vec3>& x, const TriangleSet& set, int first, Elements& out) {
  const Sides sides = sides_of(set);
  std::map<std::array<int, 2>, int> hinge;
  for (const auto& [edge, meeting] : sides) {
    if (meeting.size() != 2) continue;
    hinge[edge] = static_cast<int>(out.hinges.size());
    // As the first triangle sees it: its angle is positive where the sheet bends away from the side that it shows.
    const int i = edge[meeting[0].forwards ? 0 : 1], j = edge[meeting[0].forwards ? 1 : 0];
    const int k = meeting[0].opposite, l = meeting[1].opposite;
    out.hinges.push_back({{first + i, first + j, first + k, first + l}, Dihedral(x[i], x[j], x[k], x[l]).angle});
  }
  const double E = set.material.youngs_modulus, nu = set.material.poisson_ratio, t = set.thickness;
  const double D = E * t * t * t / (12 * (1 - nu * nu));
  for (std::size_t n = 0; n < set.triangles.size(); ++n) {
    const std::array<int, 3>& c = set.triangles[n];
    BendingTriangle bending;
    bending.viscosity = set.material.viscosity;
    const Mat2 flat = flat_edges_of(x, c);
    const double area = 0.5 * flat.determinant();
    const std::array<Eigen::Vector2d, 3> p{Eigen::Vector2d::Zero(), flat.col(0), flat.col(1)};
    std::array<Mat2, 3> part;  // of the shape operator, per angle
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = c[(k + 1) % 3], b = c[(k + 2) % 3];
      const std::array<int, 2> edge{std::min(a, b), std::max(a, b)};
      const auto found = hinge.find(edge);
      bending.hinges[k] = found == hinge.end() ? -1 : found->second;
      const Eigen::Vector2d e = p[(k + 2) % 3] - p[(k + 1) % 3], m = Eigen::Vector2d(-e.y(), e.x()) / e.norm();
      part[k] = e.norm() / (2 * area) * m * m.transpose();
      // A neighbour that goes round the other way shows its other side, and sees the angle with the other sign.
      const std::vector<Side>& meeting = sides.at(edge);
      if (meeting.size() == 2 && meeting[0].triangle != static_cast<int>(n) && meeting[0].forwards == meeting[1].forwards)
        part[k] *= -1;
    }
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t q = 0; q < 3; ++q)
        bending.stiffness(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(q)) =
            area * D * ((1 - nu) * part[k].cwiseProduct(part[q]).sum() + nu * part[k].trace() * part[q].trace());
    out.bendings.push_back(bending);
  }
}

/// Of the element that comes next, where its material has any.
void add_limit(const ElasticMaterial& m, double thickness, bool solid, std::size_t element, Elements& out) {
  if (!m.yield_stress && !m.tear_stretch) return;
  ElementLimit limit{.solid = solid, .element = element};
  if (m.yield_stress) limit.yield = *m.yield_stress * thickness;
  limit.hardening = m.hardening * thickness;
  if (m.tear_stretch) limit.tear = *m.tear_stretch;
  out.limits.push_back(limit);
}

void check_material(const ElasticMaterial& m, const Place& place) {
  if (m.law != "neo_hookean" && m.law != "corotated")
    fail(place / "law", fmt::format("must be \"neo_hookean\" or \"corotated\", is {}", in_quotes(m.law)));
  if (m.poisson_ratio > 0.4999)
    fail(place / "poisson_ratio",
         fmt::format("must be at most 0.4999: elements of linear displacement lock where volume cannot change; is {}",
                     shortest(m.poisson_ratio)));
  if (m.hardening > 0 && !m.yield_stress) fail(place / "hardening", "is that of a material that yields; give yield_stress, too");
}

template <std::size_t N>
void check_corners(const std::array<int, N>& corners, std::size_t count, const Place& place) {
  for (std::size_t k = 0; k < N; ++k) {
    if (corners[k] < 0 || static_cast<std::size_t>(corners[k]) >= count)
      fail(place / k, fmt::format("must be a place in the group, 0 to {}, is {}", count - 1, corners[k]));
    for (std::size_t q = 0; q < k; ++q)
      if (corners[k] == corners[q]) fail(place, "must be different particles");
  }
}

/// An element's size against that of a regular one with the same edges, root mean square: 1 is best.
constexpr double worst_quality = 1e-4;

double quality_of(const std::vector<Vec3>& x, const std::array<int, 4>& c) {
  double squares = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < i; ++j) squares += (x[c[i]] - x[c[j]]).squaredNorm() / 6;
  return squares > 0 ? std::sqrt(2.0) * edges_of(x, c).determinant() / std::pow(squares, 1.5) : 0;
}
double quality_of(const std::vector<Vec3>& x, const std::array<int, 3>& c) {
  const Vec3 a = x[c[1]] - x[c[0]], b = x[c[2]] - x[c[0]];
  const double squares = (a.squaredNorm() + b.squaredNorm() + (a - b).squaredNorm()) / 3;
  return squares > 0 ? 2 / std::sqrt(3.0) * a.cross(b).norm() / squares : 0;
}

void check_tetrahedra(const TetrahedronSet& set, const std::vector<Vec3>& x, const Place& place) {
  const Place list = place / "tetrahedra";
  std::size_t mirrored = 0;
  for (std::size_t n = 0; n < set.tetrahedra.size(); ++n) {
    const Place here = list / n;
    check_corners(set.tetrahedra[n], x.size(), here);
    const double quality = quality_of(x, set.tetrahedra[n]);
    if (!(std::abs(quality) > worst_quality))
      fail(here, fmt::format("is a sliver: its volume is {} of a regular one's with such edges; mesh again with better shapes",
                             shortest(std::abs(quality))));
    mirrored += quality < 0;
  }
  // Corners may be counted either way round, but all in the same: a mesh with both has elements turned inside out.
  if (mirrored == 0 || mirrored == set.tetrahedra.size()) return;
  const bool wrong = 2 * mirrored <= set.tetrahedra.size();
  for (std::size_t n = 0; n < set.tetrahedra.size(); ++n)
    if ((quality_of(x, set.tetrahedra[n]) < 0) == wrong)
      fail(list / n, "is turned inside out against the others; swap two of its corners, or mend the mesh");
}

void check_triangles(const TriangleSet& set, const std::vector<Vec3>& x, const Place& place) {
  const Place list = place / "triangles";
  for (std::size_t n = 0; n < set.triangles.size(); ++n) {
    const Place here = list / n;
    check_corners(set.triangles[n], x.size(), here);
    if (const double quality = quality_of(x, set.triangles[n]); !(quality > worst_quality))
      fail(here, fmt::format("is a sliver: its area is {} of a regular one's with such edges; mesh again with better shapes",
                             shortest(quality)));
  }
  for (const auto& [edge, meeting] : sides_of(set))
    if (meeting.size() > 2)
      fail(list / static_cast<std::size_t>(meeting[2].triangle),
           fmt::format(
               "is the third triangle at the edge from {} to {}, where a shell has two at most; split the shell there into "
               "two sets",
               edge[0], edge[1]));
}

}  // namespace

bool elements_fit(const ParticleGroup& group) {
  const std::size_t count = group.positions.size();
  const auto there = [count](const auto& corners) {
    return std::all_of(corners.begin(), corners.end(), [count](int k) { return k >= 0 && static_cast<std::size_t>(k) < count; });
  };
  return (group.rest_positions.empty() || group.rest_positions.size() == count) &&
         std::all_of(
             group.tetrahedra.begin(), group.tetrahedra.end(),
             [&](const TetrahedronSet& set) { return std::all_of(set.tetrahedra.begin(), set.tetrahedra.end(), there); }) &&
         std::all_of(group.triangles.begin(), group.triangles.end(),
                     [&](const TriangleSet& set) { return std::all_of(set.triangles.begin(), set.triangles.end(), there); });
}

std::vector<double> particle_masses(const ParticleGroup& group) {
  if (!group.masses.empty()) return group.masses;
  std::vector<double> out(group.positions.size(), group.mass.value_or(0));
  if (group.mass || !elements_fit(group)) return out;
  const std::vector<Vec3>& x = rest_of(group);
  for (const TetrahedronSet& set : group.tetrahedra)
    for (const std::array<int, 4>& corners : set.tetrahedra)
      for (const int k : corners) out[k] += set.material.density * std::abs(edges_of(x, corners).determinant()) / 24;
  for (const TriangleSet& set : group.triangles)
    for (const std::array<int, 3>& corners : set.triangles)
      for (const int k : corners) out[k] += set.material.density * set.thickness * flat_edges_of(x, corners).determinant() / 6;
  return out;
}

void add_elements(const ParticleGroup& group, int first, Elements& out) {
  const std::vector<Vec3>& x = rest_of(group);
  for (const TetrahedronSet& set : group.tetrahedra)
    for (const std::array<int, 4>& corners : set.tetrahedra) {
      const Mat3 D = edges_of(x, corners);
      add_limit(set.material, 1, true, out.tetrahedra.count(), out);
      out.tetrahedra.corners.push_back({first + corners[0], first + corners[1], first + corners[2], first + corners[3]});
      out.tetrahedra.inverse_rest.emplace_back(D.inverse());
      out.tetrahedra.volume.push_back(std::abs(D.determinant()) / 6);
      out.tetrahedra.moduli.push_back(moduli_of(set.material));
    }
  for (const TriangleSet& set : group.triangles) {
    for (const std::array<int, 3>& corners : set.triangles) {
      const Mat2 D = flat_edges_of(x, corners);
      add_limit(set.material, set.thickness, false, out.membranes.count(), out);
      out.membranes.corners.push_back({first + corners[0], first + corners[1], first + corners[2]});
      out.membranes.inverse_rest.emplace_back(D.inverse());
      out.membranes.area.push_back(D.determinant() / 2);
      out.membranes.moduli.push_back(plane_moduli_of(set));
    }
    add_bending(x, set, first, out);
  }
}

void check_elements(const ParticleGroup& group, const Place& place) {
  const bool any = !group.tetrahedra.empty() || !group.triangles.empty();
  if (!group.rest_positions.empty() && !any)
    fail(place / "rest_positions", "are those of tetrahedra and triangles, of which there are none");
  if (!group.rest_positions.empty() && group.rest_positions.size() != group.positions.size())
    fail(place / "rest_positions",
         fmt::format("must be one for each of the {} particles, has {}", group.positions.size(), group.rest_positions.size()));
  const Place solids = place / "tetrahedra", shells = place / "triangles";
  for (std::size_t k = 0; k < group.tetrahedra.size(); ++k) {
    const Place here = solids / k;
    check_material(group.tetrahedra[k].material, here / "material");
    check_tetrahedra(group.tetrahedra[k], rest_of(group), here);
  }
  for (std::size_t k = 0; k < group.triangles.size(); ++k) {
    const Place here = shells / k;
    check_material(group.triangles[k].material, here / "material");
    check_triangles(group.triangles[k], rest_of(group), here);
  }
  if (!any || group.mass || !group.masses.empty()) return;
  const std::vector<double> masses = particle_masses(group);
  const auto light = std::find_if(masses.begin(), masses.end(), [](double mass) { return !(mass > 0); });
  if (light != masses.end())
    fail(place / "positions" / static_cast<std::size_t>(light - masses.begin()),
         "belongs to no element, so that it has no mass; give masses, or leave it out");
}

}  // namespace rotule
