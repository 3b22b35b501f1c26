#pragma once
// The lists of fields of particles and mass-spring solids (scene_fields.h says what they are for).
#include <rotule/particles.h>

#include "model/field_lists.h"

namespace rotule {

inline constexpr double most_particles = 1e8;

template <>
struct SceneFields<SpringSet> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"pairs", "", "two places in the group each"}, s.pairs, Need::required);
    visit(Field{"stiffness", "N/m", "of each spring", 0, 1e300}, s.stiffness, Need::required);
    visit(Field{"damping", "N s/m", "of each spring", 0, 1e300}, s.damping);
    visit(Field{"rest_lengths", "m", "one per pair; else as placed", 0, 1e30}, s.rest_lengths);
  }
};

template <>
struct SceneFields<ElasticMaterial> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"youngs_modulus", "Pa", "stress per strain, of a bar", 0, 1e300, true}, s.youngs_modulus);
    visit(Field{"poisson_ratio", "", "how much a bar narrows, per strain", -0.9999, 0.4999}, s.poisson_ratio);
    visit(Field{"density", "kg/m^3", "mass per volume", 0, 1e30, true}, s.density);
    visit(Field{"viscosity", "s", "stress by the rate of strain, in seconds times the moduli", 0, 1e30}, s.viscosity);
    visit(Field{"law", "", "neo_hookean or corotated"}, s.law);
    visit(Field{"yield_stress", "Pa", "von Mises, beyond which it flows; else it never does", 0, 1e300, true}, s.yield_stress);
    visit(Field{"hardening", "Pa", "by which that grows per strain that has flowed", 0, 1e300}, s.hardening);
    visit(Field{"tear_stretch", "", "times the length at the start, beyond which it tears; else it never does", 1, 1e30, true},
          s.tear_stretch);
  }
};

template <>
struct SceneFields<TetrahedronSet> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"tetrahedra", "", "four places in the group each"}, s.tetrahedra, Need::required);
    visit(Field{"material", "", "what they are made of"}, s.material);
  }
};

template <>
struct SceneFields<TriangleSet> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"triangles", "", "three places in the group each"}, s.triangles, Need::required);
    visit(Field{"thickness", "m", "of the shell", 0, 1e30, true}, s.thickness);
    visit(Field{"material", "", "what they are made of"}, s.material);
  }
};

template <>
struct SceneFields<ParticleContact> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"material", "", "one of the scene's materials: friction"}, s.material);
    visit(Field{"thickness", "m", "of what touches; 0: that of a shell, else a tenth of the shortest edge", 0, 1e30},
          s.thickness);
    visit(Field{"itself", "", "whether the group touches itself"}, s.itself);
  }
};

/// What all groups and solids may have.
template <class Self, class Visitor>
void contact_field(Self& s, Visitor&& visit) {
  visit(Field{"contact", "", "how its surface touches; without it, it passes through everything"}, s.contact);
}

template <>
struct SceneFields<ParticleGroup> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"positions", "m", "of the particles", -1e30, 1e30}, s.positions, Need::required);
    visit(Field{"velocities", "m/s", "one for all, or one each", -1e30, 1e30}, s.velocities);
    visit(Field{"mass", "kg", "of every particle", 0, 1e100, true}, s.mass);
    visit(Field{"masses", "kg", "one each, in place of mass; with neither, by the elements' density", 0, 1e100, true}, s.masses);
    visit(Field{"pinned", "", "places of those that never move"}, s.pinned);
    visit(Field{"springs", "", "springs inside the group"}, s.springs);
    visit(Field{"tetrahedra", "", "solid elements inside the group"}, s.tetrahedra);
    visit(Field{"triangles", "", "shells inside the group"}, s.triangles);
    visit(Field{"rest_positions", "m", "where tetrahedra and triangles are at rest; else as placed", -1e30, 1e30},
          s.rest_positions);
    contact_field(s, visit);
  }
};

/// The fields that all solids have besides their geometry.
template <class Self, class Visitor>
void solid_matter(Self& s, Visitor&& visit) {
  visit(Field{"mass", "kg", "of the whole", 0, 1e100, true}, s.mass);
  visit(Field{"stiffness", "N/m", "of each spring", 0, 1e300}, s.stiffness);
  visit(Field{"damping", "N s/m", "of each spring", 0, 1e300}, s.damping);
  visit(Field{"velocity", "m/s", "at the start", -1e30, 1e30}, s.velocity);
}

template <>
struct Kind<Rope> {
  static constexpr std::string_view name = "rope", summary = "particles on a line";
};
template <>
struct SceneFields<Rope> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"from", "m", "the first particle"}, s.from);
    visit(Field{"to", "m", "the last particle"}, s.to);
    visit(Field{"count", "", "particles", 2, most_particles}, s.count);
    solid_matter(s, visit);
    visit(Field{"bending_stiffness", "N/m", "of the springs to the next neighbour but one", 0, 1e300}, s.bending_stiffness);
    visit(Field{"pinned", "", "x0: the first particle, x1: the last"}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<Cloth> {
  static constexpr std::string_view name = "cloth", summary = "a sheet with structural, shear and bending springs";
};
template <>
struct SceneFields<Cloth> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "particle k + columns l is called name/..."}, s.name);
    visit(Field{"at", "m", "the first particle"}, s.at);
    visit(Field{"along_x", "m", "from the first to the last particle of a row"}, s.along_x, Need::direction);
    visit(Field{"along_y", "m", "from the first to the last row"}, s.along_y, Need::direction);
    visit(Field{"columns", "", "particles in a row", 2, most_particles}, s.columns);
    visit(Field{"rows", "", "rows of particles", 2, most_particles}, s.rows);
    solid_matter(s, visit);
    visit(Field{"shear_stiffness", "N/m", "of the diagonals of the cells", 0, 1e300}, s.shear_stiffness);
    visit(Field{"bending_stiffness", "N/m", "of the springs to the next neighbour but one", 0, 1e300}, s.bending_stiffness);
    visit(Field{"pinned", "", "edges x0, x1, y0, y1, or corners x0y0 ..."}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<Block> {
  static constexpr std::string_view name = "block", summary = "a cuboid lattice";
};
template <>
struct SceneFields<Block> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"at", "m", "corner with the smallest coordinates"}, s.at);
    visit(Field{"size", "m", "full edge lengths", 0, 1e30, true}, s.size);
    visit(Field{"counts", "", "particles along x, y and z", 2, most_particles}, s.counts);
    solid_matter(s, visit);
    visit(Field{"shear_stiffness", "N/m", "of the diagonals", 0, 1e300}, s.shear_stiffness);
    visit(Field{"pinned", "", "faces x0, x1, y0 ..., or edges and corners x0z0 ..."}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<Disk> {
  static constexpr std::string_view name = "disk", summary = "rings of particles about a centre";
};
template <>
struct SceneFields<Disk> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k; 0 is the centre"}, s.name);
    visit(Field{"center", "m", "the centre"}, s.center);
    visit(Field{"normal", "", "across the disk"}, s.normal, Need::direction);
    visit(Field{"radius", "m", "of the outermost ring", 0, 1e30, true}, s.radius);
    visit(Field{"rings", "", "rings", 1, most_particles}, s.rings);
    visit(Field{"sectors", "", "particles in a ring", 3, most_particles}, s.sectors);
    solid_matter(s, visit);
    contact_field(s, visit);
  }
};

template <>
struct Kind<SoftBall> {
  static constexpr std::string_view name = "ball", summary = "a ball filled by a cubic lattice";
};
template <>
struct SceneFields<SoftBall> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"center", "m", "the centre"}, s.center);
    visit(Field{"radius", "m", "no particle is further from the centre", 0, 1e30, true}, s.radius);
    visit(Field{"across", "", "particles along a diameter", 3, 1000}, s.across);
    solid_matter(s, visit);
    contact_field(s, visit);
  }
};

template <>
struct Kind<TetrahedralMesh> {
  static constexpr std::string_view name = "tetrahedral_mesh", summary = "nodes and edges of a .msh or .node/.ele file";
};
template <>
struct SceneFields<TetrahedralMesh> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th node is called name/k"}, s.name);
    visit(Field{"file", "", "Gmsh .msh (format 2, ASCII) or TetGen .node; relative to the scene file"}, s.file, Need::required);
    visit(Field{"at", "m", "where the file's origin comes"}, s.at);
    visit(Field{"scale", "m", "per unit of the file", 0, 1e30, true}, s.scale);
    solid_matter(s, visit);
    visit(Field{"pinned", "", "nodes that never move, counted from 0"}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<ElasticBlock> {
  static constexpr std::string_view name = "elastic_block", summary = "a cuboid of elastic material";
};
template <>
struct SceneFields<ElasticBlock> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"at", "m", "corner with the smallest coordinates"}, s.at);
    visit(Field{"size", "m", "full edge lengths", 0, 1e30, true}, s.size);
    visit(Field{"counts", "", "particles along x, y and z", 2, most_particles}, s.counts);
    visit(Field{"material", "", "what it is made of"}, s.material);
    visit(Field{"velocity", "m/s", "at the start", -1e30, 1e30}, s.velocity);
    visit(Field{"pinned", "", "faces x0, x1, y0 ..., or edges and corners x0z0 ..."}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<ElasticSheet> {
  static constexpr std::string_view name = "elastic_sheet", summary = "a shell of elastic material, flat at rest";
};
template <>
struct SceneFields<ElasticSheet> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "particle k + columns l is called name/..."}, s.name);
    visit(Field{"at", "m", "the first particle"}, s.at);
    visit(Field{"along_x", "m", "from the first to the last particle of a row"}, s.along_x, Need::direction);
    visit(Field{"along_y", "m", "from the first to the last row"}, s.along_y, Need::direction);
    visit(Field{"columns", "", "particles in a row", 2, most_particles}, s.columns);
    visit(Field{"rows", "", "rows of particles", 2, most_particles}, s.rows);
    visit(Field{"thickness", "m", "of the sheet", 0, 1e30, true}, s.thickness);
    visit(Field{"material", "", "what it is made of"}, s.material);
    visit(Field{"velocity", "m/s", "at the start", -1e30, 1e30}, s.velocity);
    visit(Field{"pinned", "", "edges x0, x1, y0, y1, or corners x0y0 ..."}, s.pinned);
    contact_field(s, visit);
  }
};

template <>
struct Kind<Balloon> {
  static constexpr std::string_view name = "balloon", summary = "a hollow sphere of elastic sheet";
};
template <>
struct SceneFields<Balloon> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th particle is called name/k"}, s.name);
    visit(Field{"center", "m", "of the sphere"}, s.center);
    visit(Field{"radius", "m", "at rest", 0, 1e30, true}, s.radius);
    visit(Field{"subdivisions", "", "of an icosahedron's triangles, in four each time: 10 4^n + 2 particles", 0, 10},
          s.subdivisions);
    visit(Field{"thickness", "m", "of the sheet", 0, 1e30, true}, s.thickness);
    visit(Field{"material", "", "what it is made of"}, s.material);
    visit(Field{"velocity", "m/s", "at the start", -1e30, 1e30}, s.velocity);
    contact_field(s, visit);
  }
};

template <>
struct Kind<ElasticMesh> {
  static constexpr std::string_view name = "elastic_mesh", summary = "a .msh or .node/.ele file filled with elastic material";
};
template <>
struct SceneFields<ElasticMesh> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "the k-th node is called name/k"}, s.name);
    visit(Field{"file", "", "Gmsh .msh (format 2, ASCII) or TetGen .node; relative to the scene file"}, s.file, Need::required);
    visit(Field{"at", "m", "where the file's origin comes"}, s.at);
    visit(Field{"scale", "m", "per unit of the file", 0, 1e30, true}, s.scale);
    visit(Field{"material", "", "what it is made of"}, s.material);
    visit(Field{"velocity", "m/s", "at the start", -1e30, 1e30}, s.velocity);
    visit(Field{"pinned", "", "nodes that never move, counted from 0"}, s.pinned);
    contact_field(s, visit);
  }
};

}  // namespace rotule
