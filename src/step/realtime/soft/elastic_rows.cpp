#include "step/realtime/soft/elastic_rows.h"

#include <algorithm>
#include <array>

namespace rotule::realtime {

namespace {

constexpr std::size_t open_blocks = 24;  // that elements may still join

/// Blocks of elements that have no particle in common: their numbers, + 1, in the order of elements.
template <std::size_t Corners>
std::vector<WholeRow> pack(const std::vector<std::array<int, Corners>>& elements) {
  std::vector<WholeRow> out;
  std::vector<std::vector<int>> taken;
  std::size_t oldest = 0;
  for (std::size_t n = 0; n < elements.size(); ++n) {
    const std::array<int, Corners>& corners = elements[n];
    if (corners[0] == 0) continue;
    std::size_t k = oldest;
    const auto fits = [&](const std::vector<int>& of) {
      return std::none_of(corners.begin(), corners.end(),
                          [&](int i) { return i != 0 && std::find(of.begin(), of.end(), i) != of.end(); });
    };
    while (k < out.size() && (out[k].lane[row_lanes - 1] != 0 || !fits(taken[k]))) ++k;
    if (k == out.size()) {
      out.emplace_back();
      taken.emplace_back();
    }
    *std::find(std::begin(out[k].lane), std::end(out[k].lane), 0) = static_cast<int>(n) + 1;
    taken[k].insert(taken[k].end(), corners.begin(), corners.end());
    while (oldest < out.size() && (out[oldest].lane[row_lanes - 1] != 0 || out.size() - oldest > open_blocks))
      std::vector<int>().swap(taken[oldest++]);
  }
  return out;
}

/// visit(row, lane, number) for all that are in blocks.
template <class Rows, class Visit>
void for_each_lane(const std::vector<WholeRow>& numbers, Rows& rows, Visit&& visit) {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    for (int lane = 0; lane < row_lanes; ++lane)
      if (const int number = numbers[k].lane[lane]; number > 0) visit(rows[k], lane, static_cast<std::size_t>(number) - 1);
}

/// Nobody's elements are at rest, and weigh nothing.
template <int Dim>
std::vector<ElementRow<Dim>> rows_at_rest(std::size_t count) {
  ElementRow<Dim> row{};
  for (int lane = 0; lane < row_lanes; ++lane)
    for (int k = 0; k < Dim; ++k) {
      (k == 0 ? row.edges[k].x : k == 1 ? row.edges[k].y : row.edges[k].z).lane[lane] = 1;
      row.inverse_rest[k * Dim + k].lane[lane] = 1;
    }
  return std::vector<ElementRow<Dim>>(count, row);
}

/// The six particles of a triangle that bends, 0: none; and, per edge, whether its angle is seen with the other sign.
struct Bent {
  std::array<int, 6> corners{};
  std::array<double, 3> sign{1, 1, 1};

  Bent(const Elements& elements, std::size_t n) {
    const std::array<int, 3>& own = elements.membranes.corners[n];
    for (std::size_t k = 0; k < 3; ++k) {
      corners[k] = own[k];
      corners[k + 3] = -1;
      if (elements.bendings[n].hinges[k] < 0) continue;
      const std::array<int, 4>& hinge = elements.hinges[elements.bendings[n].hinges[k]].corners;
      const bool second = hinge[2] == own[k], along = hinge[0] == own[(k + 1) % 3];
      corners[k + 3] = hinge[second ? 3 : 2];
      sign[k] = second == along ? 1 : -1;
    }
  }
};

constexpr int stiffness_place[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};

template <int Dim, class Elements>
void read_elements(const std::vector<WholeRow>& numbers, const Elements& elements, const std::vector<double>& sizes,
                   std::vector<ElementRow<Dim>>& rows, bool& corotated) {
  for_each_lane(numbers, rows, [&](ElementRow<Dim>& row, int lane, std::size_t n) {
    const ElasticModuli& m = elements.moduli[n];
    row.size.lane[lane] = static_cast<float>(sizes[n]);
    row.mu.lane[lane] = static_cast<float>(m.mu);
    row.lambda.lane[lane] = static_cast<float>(m.lambda);
    row.viscosity.lane[lane] = static_cast<float>(m.viscosity);
    row.corotated.lane[lane] = m.corotated ? 1 : 0;
    corotated = corotated || m.corotated;
    for (int i = 0; i < Dim; ++i)
      for (int j = 0; j < Dim; ++j) row.inverse_rest[i * Dim + j].lane[lane] = static_cast<float>(elements.inverse_rest[n](i, j));
  });
}

/// Places of corners, and edges from the first to all others.
template <std::size_t Corners, class Row_>
void put_corners(const std::array<int, Corners>& corners, int first, Row_& row, int lane) {
  for (std::size_t k = 0; k < Corners; ++k) row.corners[k].lane[lane] = corners[k] < 0 ? 0 : corners[k] - first + 1;
}
template <int Others, class Row_>
void put_edges(const State& s, int first, Row_& row, int lane) {
  const auto place = [&](int k) { return s.particle_position(row.corners[k].lane[lane] - 1 + first); };
  for (int k = 1; k <= Others; ++k) {
    if (row.corners[k].lane[lane] == 0) continue;
    const Vec3 e = place(k) - place(0);
    put(row.edges[k - 1], lane, e.x(), e.y(), e.z());
  }
}

}  // namespace

ElasticRows::ElasticRows(const Model& model, int first_particle, int particles) : first(first_particle), count(particles) {
  const Elements& elements = model.forces.elements;
  const auto own = [&](int particle) { return particle >= first && particle < first + count; };
  // Of other groups' nothing but a corner that is nobody's: they are passed over.
  const auto ours = [&](auto corners) {
    const bool belongs = own(corners[0]);
    for (int& corner : corners) corner = belongs && corner >= 0 ? corner - first + 1 : 0;
    return corners;
  };
  std::vector<std::array<int, 4>> solid;
  for (const auto& corners : elements.tetrahedra.corners) solid.push_back(ours(corners));
  std::vector<std::array<int, 3>> sheet;
  for (const auto& corners : elements.membranes.corners) sheet.push_back(ours(corners));
  std::vector<std::array<int, 6>> bend;
  for (std::size_t n = 0; n < elements.bendings.size(); ++n)
    bend.push_back(elements.bendings[n].stiffness.isZero(0) ? std::array<int, 6>{} : ours(Bent(elements, n).corners));
  solid_numbers_ = pack(solid);
  sheet_numbers_ = pack(sheet);
  bend_numbers_ = pack(bend);
  solids = rows_at_rest<3>(solid_numbers_.size());
  sheets = rows_at_rest<2>(sheet_numbers_.size());
  bends.assign(bend_numbers_.size(), {});
  for_each_lane(solid_numbers_, solids, [&](ElementRow<3>& row, int lane, std::size_t n) {
    put_corners(elements.tetrahedra.corners[n], first, row, lane);
  });
  for_each_lane(sheet_numbers_, sheets, [&](ElementRow<2>& row, int lane, std::size_t n) {
    put_corners(elements.membranes.corners[n], first, row, lane);
  });
  for_each_lane(bend_numbers_, bends,
                [&](BendRow& row, int lane, std::size_t n) { put_corners(Bent(elements, n).corners, first, row, lane); });
  for (auto* lines : {&moved, &begun, &left, &way, &resisted}) lines->assign(static_cast<std::size_t>(count) + 1, {});
  read_materials(model);
}

void ElasticRows::read_materials(const Model& model) {
  const Elements& elements = model.forces.elements;
  read_elements<3>(solid_numbers_, elements.tetrahedra, elements.tetrahedra.volume, solids, corotated);
  read_elements<2>(sheet_numbers_, elements.membranes, elements.membranes.area, sheets, corotated);
  for_each_lane(bend_numbers_, bends, [&](BendRow& row, int lane, std::size_t n) {
    const BendingTriangle& bending = elements.bendings[n];
    const Bent bent(elements, n);
    row.viscosity.lane[lane] = static_cast<float>(bending.viscosity);
    for (std::size_t k = 0; k < 3; ++k)
      row.rest[k].lane[lane] =
          bending.hinges[k] < 0 ? 0 : static_cast<float>(bent.sign[k] * elements.hinges[bending.hinges[k]].rest_angle);
    for (std::size_t k = 0; k < 6; ++k) {
      const int i = stiffness_place[k][0], j = stiffness_place[k][1];
      const bool bends_both =
          bending.hinges[static_cast<std::size_t>(i)] >= 0 && bending.hinges[static_cast<std::size_t>(j)] >= 0;
      row.stiffness[k].lane[lane] = bends_both
                                        ? static_cast<float>(bent.sign[static_cast<std::size_t>(i)] *
                                                             bent.sign[static_cast<std::size_t>(j)] * bending.stiffness(i, j))
                                        : 0;
    }
  });
}

void ElasticRows::set_start(const State& s) {
  for_each_lane(solid_numbers_, solids, [&](ElementRow<3>& row, int lane, std::size_t) { put_edges<3>(s, first, row, lane); });
  for_each_lane(sheet_numbers_, sheets, [&](ElementRow<2>& row, int lane, std::size_t) { put_edges<2>(s, first, row, lane); });
  for_each_lane(bend_numbers_, bends, [&](BendRow& row, int lane, std::size_t) { put_edges<5>(s, first, row, lane); });
}

}  // namespace rotule::realtime
