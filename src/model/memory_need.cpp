#include "model/memory_need.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "base/free_memory.h"

namespace rotule {

namespace {

// Bytes per piece, measured as the growth of the largest resident size of `rotule run --steps 1` with the number of pieces
// (docs/trust.md).
constexpr double of_body = 8000, of_joint = 4000, of_particle = 1000, of_spring = 1200, of_element = 400, of_cell = 240;

struct Pieces {
  double particles = 0, springs = 0, elements = 0;
};

// Springs and elements per particle inside of large ones.
Pieces pieces_of(const Rope& s) { return {double(s.count), 2.0 * s.count}; }
Pieces pieces_of(const Cloth& s) { return {double(s.columns) * s.rows, 6.0 * s.columns * s.rows}; }
Pieces pieces_of(const Disk& s) { return {double(s.rings) * s.sectors, 4.0 * s.rings * s.sectors}; }
Pieces pieces_of(const Block& s) {
  const double count = double(s.counts[0]) * s.counts[1] * s.counts[2];
  return {count, 13 * count};
}
Pieces pieces_of(const SoftBall& s) {
  const double count = 0.52 * s.across * s.across * s.across;
  return {count, 13 * count};
}
Pieces pieces_of(const ElasticBlock& s) {
  const double count = double(s.counts[0]) * s.counts[1] * s.counts[2];
  return {count, 0, 5 * count};
}
Pieces pieces_of(const ElasticSheet& s) { return {double(s.columns) * s.rows, 0, 2.0 * s.columns * s.rows}; }
Pieces pieces_of(const Balloon& s) {
  const double count = 10 * std::pow(4.0, s.subdivisions) + 2;
  return {count, 0, 2 * count};
}
/// Those of files are as large as the files, which are read already.
Pieces pieces_of(const TetrahedralMesh&) { return {}; }
Pieces pieces_of(const ElasticMesh&) { return {}; }

std::string amount(double bytes) {
  return bytes < 1e9    ? fmt::format("{:.0f} MB", bytes / 1e6)
         : bytes < 1e13 ? fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 1e10 ? 1 : 0)
                        : fmt::format("{:.2g} TB", bytes / 1e12);
}

}  // namespace

MemoryNeed memory_need(const Scene& scene) {
  MemoryNeed need;
  double most = 0;
  const auto add = [&](double bytes, double count, const std::string& what) {
    need.bytes += bytes;
    if (!(bytes > most)) return;
    most = bytes;
    need.largest = fmt::format("{:.3g} {}", count, what);
  };
  add(of_body * static_cast<double>(scene.bodies.size()), static_cast<double>(scene.bodies.size()), "bodies");
  add(of_joint * static_cast<double>(scene.joints.size()), static_cast<double>(scene.joints.size()), "joints");
  for (std::size_t k = 0; k < scene.solids.size(); ++k) {
    const Pieces pieces = std::visit([](const auto& solid) { return pieces_of(solid); }, scene.solids[k]);
    add(of_particle * pieces.particles + of_spring * pieces.springs + of_element * pieces.elements, pieces.particles,
        fmt::format("particles of /solids/{}", k));
  }
  if (scene.fluid) {
    const double cells = double(scene.fluid->grid[0]) * scene.fluid->grid[1] * scene.fluid->grid[2];
    add(of_cell * cells, cells, "cells of /fluid/grid");
  }
  return need;
}

void require_memory(const Scene& scene) {
  constexpr double worth_a_look = 2.5e8;
  const MemoryNeed need = memory_need(scene);
  if (need.bytes < worth_a_look) return;
  if (const double free = free_memory(); need.bytes > free)
    throw Error("scene",
                fmt::format("needs about {} of memory, most of it for {}, and {} are free; make it smaller, or run it on a "
                            "larger machine",
                            amount(need.bytes), need.largest, amount(free)));
}

}  // namespace rotule
