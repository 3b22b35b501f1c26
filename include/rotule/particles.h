#pragma once
// Particles (B1): point masses of three degrees of freedom, in groups, with springs or elastic elements inside the group; and
// solids (E1), which are recipes for such groups: a rope, a cloth or a block in a few numbers.
#include <rotule/types.h>

#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rotule {

/// Springs of one kind between particles of one group.
struct SpringSet {
  std::vector<std::array<int, 2>> pairs = {};  // places in the group
  double stiffness = 0;                        // N/m
  double damping = 0;                          // N s/m, along the spring
  std::vector<double> rest_lengths = {};       // m, one per pair; default: as placed
};

/// An elastic material by the numbers that tables have. With mu = E / (2 (1 + nu)) and lambda = E nu / ((1 + nu) (1 - 2 nu)), s
/// the principal stretches and J their product, energy per volume at rest is
///   "neo_hookean":  mu/2 (sum s^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2   (B. Smith, F. de Goes, T. Kim 2018, in short)
///   "corotated":    mu sum (s - 1)^2 + lambda/2 (sum s - 3)^2
/// Both are Hooke's law where strains are small, and finite where an element is turned inside out.
struct ElasticMaterial {
  double youngs_modulus = 1e6;      // Pa
  double poisson_ratio = 0.3;       // from -1 to 1/2, both excluded
  double density = 1000;            // kg/m^3
  double viscosity = 0;             // s: stress besides is so many seconds times the moduli times the rate of strain
  std::string law = "neo_hookean";  // or "corotated"

  // What it bears, looked at where steps end; without a number, anything.
  std::optional<double> yield_stress = {};  // Pa, von Mises: beyond it an element flows until it bears no more
  double hardening = 0;                     // Pa by which that grows per strain that has flowed
  std::optional<double> tear_stretch = {};  // times the length at the start: an element that is longer tears
};

/// Solid elements of linear displacement. They are at rest as the group's rest positions have them.
struct TetrahedronSet {
  std::vector<std::array<int, 4>> tetrahedra = {};  // places in the group
  ElasticMaterial material = {};
};

/// A shell: a membrane in plane stress, and bending by the angles between neighbours (E. Grinspun et al. 2003) with the plate's
/// D = E t^3 / (12 (1 - nu^2)). No edge may belong to more than two triangles.
struct TriangleSet {
  std::vector<std::array<int, 3>> triangles = {};  // places in the group
  double thickness = 1e-3;                         // m
  ElasticMaterial material = {};
};

/// How the surface of a group touches bodies, other groups and itself; groups without it pass through everything. Points, ropes'
/// segments and triangles are rounded: half the thickness to each side.
struct ParticleContact {
  std::string material = {};  // one of the scene's materials: friction
  double thickness = 0;       // m, of the whole; 0: that of a shell, else a tenth of the shortest edge
  bool itself = true;         // whether the group touches itself
};

/// A group of particles. The k-th one is called `name/k`; a group of one also answers to `name`.
struct ParticleGroup {
  std::string name = {};
  std::vector<Vec3> positions = {};   // m
  std::vector<Vec3> velocities = {};  // m/s: none, one for all, or one each
  std::optional<double> mass = {};    // kg, of every particle; else
  std::vector<double> masses = {};    // kg, one each; with neither, by the density of elements
  std::vector<int> pinned = {};       // places of those that never move
  std::vector<SpringSet> springs = {};
  std::vector<TetrahedronSet> tetrahedra = {};
  std::vector<TriangleSet> triangles = {};
  std::vector<Vec3> rest_positions = {};  // m, of tetrahedra and triangles; default: as placed
  std::optional<ParticleContact> contact = {};
};

/// What is pinned in a solid of rows: texts such as "x0" (all particles with the first index at its start), "x1" (at its end),
/// "x0y1" (both: a corner of a cloth, an edge of a block). A rope knows x, a cloth x and y, a block x, y and z.
using Pins = std::vector<std::string>;

/// Particles on a line, with stretching springs between neighbours and bending springs between next neighbours.
struct Rope {
  std::string name = {};
  Vec3 from = Vec3::Zero();
  Vec3 to{1, 0, 0};
  int count = 11;                // particles
  double mass = 1;               // kg, of the whole
  double stiffness = 1000;       // N/m, of each spring
  double bending_stiffness = 0;  // N/m, of each spring to the next neighbour
  double damping = 0;            // N s/m, of every spring
  Vec3 velocity = Vec3::Zero();  // m/s
  Pins pinned = {};
  std::optional<ParticleContact> contact = {};
};

/// A sheet of columns x rows particles: structural springs along the rows and columns, shear springs along the diagonals of the
/// cells, bending springs to the next neighbour but one.
struct Cloth {
  std::string name = {};
  Vec3 at = Vec3::Zero();          // of the first particle
  Vec3 along_x{1, 0, 0};           // m, from the first particle to the last of its row
  Vec3 along_y{0, 1, 0};           // m, from the first row to the last
  int columns = 11, rows = 11;     // particles
  double mass = 1;                 // kg, of the whole
  double stiffness = 1000;         // N/m, structural
  double shear_stiffness = 1000;   // N/m
  double bending_stiffness = 100;  // N/m
  double damping = 0;              // N s/m, of every spring
  Vec3 velocity = Vec3::Zero();
  Pins pinned = {};
  std::optional<ParticleContact> contact = {};
};

/// A cuboid lattice: springs along its edges, along the diagonals of its faces and through its cells.
struct Block {
  std::string name = {};
  Vec3 at = Vec3::Zero();  // of the corner with the smallest coordinates
  Vec3 size{1, 1, 1};      // m
  std::array<int, 3> counts{5, 5, 5};
  double mass = 1;                // kg, of the whole
  double stiffness = 1000;        // N/m, along the edges
  double shear_stiffness = 1000;  // N/m, along the diagonals
  double damping = 0;             // N s/m, of every spring
  Vec3 velocity = Vec3::Zero();
  Pins pinned = {};
  std::optional<ParticleContact> contact = {};
};

/// A flat disk: a centre, and rings of particles tied along, across and between the rings.
struct Disk {
  std::string name = {};
  Vec3 center = Vec3::Zero();
  Vec3 normal{0, 1, 0};
  double radius = 0.5;  // m
  int rings = 4, sectors = 16;
  double mass = 1;
  double stiffness = 1000;
  double damping = 0;
  Vec3 velocity = Vec3::Zero();
  std::optional<ParticleContact> contact = {};
};

/// A ball filled by a cubic lattice, `across` particles along its diameter, tied as a block is.
struct SoftBall {
  std::string name = {};
  Vec3 center = Vec3::Zero();
  double radius = 0.5;  // m
  int across = 7;
  double mass = 1;
  double stiffness = 1000;
  double damping = 0;
  Vec3 velocity = Vec3::Zero();
  std::optional<ParticleContact> contact = {};
};

/// A tetrahedral mesh from a file: particles at its nodes, each with its share of the mass of the tetrahedra around it, springs
/// along all edges. Gmsh's .msh (format 2, ASCII), or TetGen's .node with the .ele of the same name beside it. Paths are relative
/// to the scene file.
struct TetrahedralMesh {
  std::string name = {};
  std::string file = {};
  Vec3 at = Vec3::Zero();  // where the file's origin comes
  double scale = 1;        // metres per unit of the file
  double mass = 1;         // kg, of the whole
  double stiffness = 1000;
  double damping = 0;
  Vec3 velocity = Vec3::Zero();
  std::vector<int> pinned = {};  // nodes, counted from 0 in the order of the file
  std::optional<ParticleContact> contact = {};
};

/// A cuboid of elastic material: cells of six tetrahedra each.
struct ElasticBlock {
  std::string name = {};
  Vec3 at = Vec3::Zero();  // of the corner with the smallest coordinates
  Vec3 size{1, 1, 1};      // m
  std::array<int, 3> counts{5, 5, 5};
  ElasticMaterial material = {};
  Vec3 velocity = Vec3::Zero();
  Pins pinned = {};
  std::optional<ParticleContact> contact = {};
};

/// A sheet of elastic material, columns x rows particles, cells of two triangles each.
struct ElasticSheet {
  std::string name = {};
  Vec3 at = Vec3::Zero();       // of the first particle
  Vec3 along_x{1, 0, 0};        // m, from the first particle to the last of its row
  Vec3 along_y{0, 1, 0};        // m, from the first row to the last
  int columns = 11, rows = 11;  // particles
  double thickness = 1e-3;      // m
  ElasticMaterial material = {};
  Vec3 velocity = Vec3::Zero();
  Pins pinned = {};
  std::optional<ParticleContact> contact = {};
};

/// A hollow sphere of elastic sheet: an icosahedron whose triangles are cut in four so many times (10 4^n + 2 particles).
struct Balloon {
  std::string name = {};
  Vec3 center = Vec3::Zero();
  double radius = 0.5;      // m
  int subdivisions = 3;     // 642 particles
  double thickness = 1e-3;  // m
  ElasticMaterial material = {};
  Vec3 velocity = Vec3::Zero();
  std::optional<ParticleContact> contact = {};
};

/// A tetrahedral mesh from a file, filled with elastic material. Files are those of TetrahedralMesh.
struct ElasticMesh {
  std::string name = {};
  std::string file = {};
  Vec3 at = Vec3::Zero();  // where the file's origin comes
  double scale = 1;        // metres per unit of the file
  ElasticMaterial material = {};
  Vec3 velocity = Vec3::Zero();
  std::vector<int> pinned = {};  // nodes, counted from 0 in the order of the file
  std::optional<ParticleContact> contact = {};
};

using SolidDef =
    std::variant<Rope, Cloth, Block, Disk, SoftBall, TetrahedralMesh, ElasticBlock, ElasticSheet, ElasticMesh, Balloon>;

/// The particles, springs and elements that the solid stands for. Throws Error, with the field's name, where it makes no sense.
ParticleGroup build(const SolidDef& solid);

}  // namespace rotule
