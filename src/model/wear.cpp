#include "model/wear.h"

#include <algorithm>
#include <map>

namespace rotule {

namespace {

void tear(const Wear::Untouched& was, const std::vector<std::size_t>& membranes, const std::vector<std::size_t>& tetrahedra,
          Elements& out) {
  out.tetrahedra.moduli = was.elements.tetrahedra.moduli;
  out.membranes.moduli = was.elements.membranes.moduli;
  out.bendings = was.elements.bendings;
  for (const std::size_t n : tetrahedra) out.tetrahedra.moduli[n] = {};
  std::vector<char> free(out.hinges.size(), 0);  // edges with nothing on one side
  for (const std::size_t n : membranes) {
    out.membranes.moduli[n] = {};
    for (const int hinge : out.bendings[n].hinges)
      if (hinge >= 0) free[static_cast<std::size_t>(hinge)] = 1;
  }
  for (BendingTriangle& bending : out.bendings)
    for (std::size_t k = 0; k < 3; ++k) {
      if (bending.hinges[k] < 0 || !free[static_cast<std::size_t>(bending.hinges[k])]) continue;
      bending.hinges[k] = -1;
      bending.stiffness.row(static_cast<Eigen::Index>(k)).setZero();
      bending.stiffness.col(static_cast<Eigen::Index>(k)).setZero();
    }
}

/// Triangles of shells that are whole, and faces that one whole tetrahedron has to itself.
std::vector<std::array<int, 3>> whole_surface(const Elements& elements, const Particles::Group& group) {
  const auto inside = [&](int k) { return k >= group.first && k < group.first + group.count; };
  std::vector<std::array<int, 3>> out;
  for (std::size_t n = 0; n < elements.membranes.count(); ++n)
    if (inside(elements.membranes.corners[n][0]) && !elements.membranes.moduli[n].torn())
      out.push_back(elements.membranes.corners[n]);
  std::map<std::array<int, 3>, std::pair<int, std::array<int, 3>>> faces;
  for (std::size_t n = 0; n < elements.tetrahedra.count(); ++n) {
    const std::array<int, 4>& c = elements.tetrahedra.corners[n];
    if (!inside(c[0]) || elements.tetrahedra.moduli[n].torn()) continue;
    for (const std::array<int, 3>& face : {std::array{c[1], c[2], c[3]}, std::array{c[0], c[3], c[2]},
                                           std::array{c[0], c[1], c[3]}, std::array{c[0], c[2], c[1]}}) {
      std::array<int, 3> key = face;
      std::sort(key.begin(), key.end());
      auto& [times, first] = faces[key];
      if (++times == 1) first = face;
    }
  }
  for (const auto& [key, face] : faces)
    if (face.first == 1) out.push_back(face.second);
  return out;
}

}  // namespace

void begin_wear(Model& model) {
  const Elements& elements = model.forces.elements;
  if (elements.limits.empty()) return;
  model.wear.elements.assign(elements.limits.size(), {});
  model.wear.untouched =
      std::make_shared<const Wear::Untouched>(Wear::Untouched{elements, model.particles, model.particle_surfaces});
}

bool apply_wear(Model& model) {
  if (!model.wear.untouched) return false;
  const Wear::Untouched& was = *model.wear.untouched;
  Elements& elements = model.forces.elements;
  bool changed = false;
  std::vector<std::size_t> membranes, tetrahedra;
  for (std::size_t n = 0; n < elements.limits.size(); ++n) {
    const ElementLimit& limit = elements.limits[n];
    const ElementWear& wear = model.wear.elements[n];
    const std::size_t k = limit.element;
    if (limit.solid)
      elements.tetrahedra.inverse_rest[k] = was.elements.tetrahedra.inverse_rest[k] * wear.rest;
    else
      elements.membranes.inverse_rest[k] = was.elements.membranes.inverse_rest[k] * wear.rest.topLeftCorner<2, 2>();
    const bool torn = wear.torn > 0;
    changed = changed || torn != (limit.solid ? elements.tetrahedra.moduli : elements.membranes.moduli)[k].torn();
    if (torn) (limit.solid ? tetrahedra : membranes).push_back(k);
  }
  if (!changed) return false;
  tear(was, membranes, tetrahedra, elements);

  // Surfaces of groups that are torn.
  std::vector<char> torn(model.particles.mass.size(), 0);
  for (const std::size_t n : membranes) torn[static_cast<std::size_t>(elements.membranes.corners[n][0])] = 1;
  for (GasForce& gas : model.forces.gases) {
    const std::array<int, 3>& any = gas.triangles.front();
    for (const Particles::Group& group : model.particles.groups)
      if (any[0] >= group.first && any[0] < group.first + group.count)
        gas.burst = std::any_of(torn.begin() + group.first, torn.begin() + group.first + group.count, [](char t) { return t; });
  }
  for (const std::size_t n : tetrahedra) torn[static_cast<std::size_t>(elements.tetrahedra.corners[n][0])] = 1;
  std::vector<std::array<int, 3>> now;
  model.particle_surfaces = was.particle_surfaces;
  for (const Particles::Group& group : model.particles.groups) {
    std::vector<std::array<int, 3>> own;
    if (std::any_of(torn.begin() + group.first, torn.begin() + group.first + group.count, [](char t) { return t; })) {
      own = whole_surface(elements, group);
      for (ParticleSurface& surface : model.particle_surfaces)
        if (surface.first == group.first) surface.faces = own;
    } else {
      own = was.particles.surface_of(group);
    }
    now.insert(now.end(), own.begin(), own.end());
  }
  model.particles.surface = std::move(now);
  for (Forces* pools : {&model.forces, &model.immersed})
    for (AirForce& air : pools->airs) air.gather(model.particles);
  return true;
}

int torn_elements(const Model& model) {
  return static_cast<int>(
      std::count_if(model.wear.elements.begin(), model.wear.elements.end(), [](const ElementWear& w) { return w.torn > 0; }));
}

}  // namespace rotule
