#pragma once
// The one list of fields of everything that a scene is made of: its name in files, unit, meaning and legal range. Reader,
// writer, schema, checks and tables all walk these lists; settings of a recipe bring their own (fields.h).
#include <rotule/scene.h>

#include <string_view>

#include "model/field_lists.h"
#include "model/flow_fields.h"
#include "model/force_fields.h"
#include "model/function_kinds.h"
#include "model/joint_kinds.h"
#include "model/particle_fields.h"
#include "model/structure_fields.h"

namespace rotule {

template <>
struct SceneFields<Material> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what bodies call it"}, s.name, Need::required);
    visit(Field{"density", "kg/m^3", "mass per volume", 0, 1e30, true}, s.density);
    visit(Field{"friction", "", "Coulomb's coefficient, of sliding", 0, 1e6}, s.friction);
    visit(Field{"restitution", "", "0 absorbs, 1 is elastic; more only with gains_energy", 0, 100}, s.restitution);
    visit(Field{"gains_energy", "", "whether a restitution above 1 is meant"}, s.gains_energy);
    visit(Field{"static_friction", "", "of sticking; else that of sliding", 0, 1e6}, s.static_friction);
    visit(Field{"rolling_friction", "m", "lever at which the normal force resists rolling", 0, 1e6}, s.rolling_friction);
    visit(Field{"torsional_friction", "m", "lever at which the normal force resists turning about the normal", 0, 1e6},
          s.torsional_friction);
    visit(Field{"contact_stiffness", "N/m", "of each contact point; 0 is rigid", 0, 1e300}, s.contact_stiffness);
    visit(Field{"contact_damping", "N s/m", "of each contact point that has a stiffness", 0, 1e300}, s.contact_damping);
  }
};

template <>
struct SceneFields<MaterialPair> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"between", "", "two materials by name, or one twice"}, s.between, Need::required);
    visit(Field{"friction", "", "Coulomb's coefficient, of sliding; else by what both materials say", 0, 1e6}, s.friction);
    visit(Field{"static_friction", "", "of sticking; else that of sliding", 0, 1e6}, s.static_friction);
    visit(Field{"restitution", "", "0 absorbs, 1 is elastic; else by what both materials say", 0, 1}, s.restitution);
  }
};

template <>
struct SceneFields<PrescribedMotion> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"displacement", "m", "from position, in world axes: numbers or expressions of the time t"}, s.displacement);
    visit(Field{"axis", "", "of the rotation, in world axes"}, s.axis, Need::direction);
    visit(Field{"angle", "rad", "from orientation, about the axis: a number or an expression of t"}, s.angle);
  }
};

template <>
struct SceneFields<BodyDef> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what joints call it"}, s.name);
    visit(Field{"fixed", "", "whether it never moves"}, s.fixed);
    visit(Field{"mass", "kg", "mass; else density times volume", 0, 1e100, true}, s.mass);
    visit(Field{"density", "kg/m^3", "mass per volume; else the material's", 0, 1e30, true}, s.density);
    visit(Field{"inertia", "kg m^2", "about the centre of mass, in body axes; else the shape's"}, s.inertia);
    visit(Field{"center_of_mass", "m", "in the body's frame; else the shape's centroid"}, s.center_of_mass);
    visit(Field{"position", "m", "of the body's frame"}, s.position);
    visit(Field{"orientation", "", "body to world: quaternion w, x, y, z, or axis and angle"}, s.orientation);
    visit(Field{"velocity", "m/s", "of the centre of mass"}, s.velocity);
    visit(Field{"angular_velocity", "rad/s", "in world axes"}, s.angular_velocity);
    visit(Field{"shape", "", "its extent; without one it is a point"}, s.shape);
    visit(Field{"material", "", "name of a material"}, s.material);
    visit(Field{"contacts", "", "whether other bodies can touch it"}, s.contacts);
    visit(Field{"group", "", "bodies of the same group, unless 0, do not touch each other", 0, 1e9}, s.group);
    visit(Field{"kinematic", "", "whether it moves as its velocities say, and nothing pushes it back"}, s.kinematic);
    visit(Field{"motion", "", "where it is at any time; makes it kinematic"}, s.motion);
    visit(Field{"sensor", "", "whether it tells who overlaps it, and exerts no force by contact"}, s.sensor);
    visit(Field{"layer", "", "what other bodies' meets and queries call it by"}, s.layer);
    visit(Field{"meets", "", "layers whose bodies can touch it, if they meet its own; else all"}, s.meets);
    visit(Field{"surface_velocity", "m/s", "of a belt over its surface, in body axes", -1e9, 1e9}, s.surface_velocity);
  }
};

template <>
struct SceneFields<ImpulseDef> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"body", "", "the body that is struck"}, s.body, Need::required);
    visit(Field{"impulse", "N s", "in world axes"}, s.impulse, Need::required);
    visit(Field{"at", "m", "point of the world; else the centre of mass"}, s.at);
  }
};

template <>
struct SceneFields<Wall> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"at", "m", "a point of its surface"}, s.at);
    visit(Field{"normal", "", "direction of the free side"}, s.normal, Need::direction);
    visit(Field{"restitution", "", "0 absorbs, 1 is elastic", 0, 1}, s.restitution);
    visit(Field{"sticking", "", "whether a shock stops the point in all directions"}, s.sticking);
  }
};

template <>
struct SceneFields<FluidWall> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"at", "", "the side: x_low, x_high, y_low, y_high, z_low or z_high"}, s.at, Need::required);
    visit(Field{"kind", "", "no_slip, free_slip, inflow, outflow or periodic"}, s.kind, Need::required);
    visit(Field{"velocity", "m/s", "of a wall along itself, or of the fluid that comes in", -1e9, 1e9}, s.velocity);
  }
};

template <>
struct SceneFields<FluidDef> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"grid", "", "cells along x, y and z; an axis with one cell is flat", 1, 4096}, s.grid, Need::required);
    visit(Field{"box", "m", "its lowest and its highest corner"}, s.box, Need::required);
    visit(Field{"density", "kg/m^3", "mass per volume", 0, 1e30, true}, s.density);
    visit(Field{"viscosity", "Pa s", "dynamic viscosity", 0, 1e30}, s.viscosity);
    visit(Field{"velocity", "m/s", "everywhere at the start", -1e9, 1e9}, s.velocity);
    visit(Field{"walls", "", "sides of the box; those not named are walls at rest"}, s.walls);
    visit(Field{"obstacles", "", "bodies that stand in it; none: all with a closed shape"}, s.obstacles);
    visit(Field{"cfl", "", "cells that the fluid may cross in a substep", 0, 1.5, true}, s.cfl);
    visit(Field{"forcing_rounds", "", "how often a substep moves the fluid inside of bodies along with them", 1, 100},
          s.forcing_rounds);
  }
};

template <>
struct SceneFields<Scene> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "short name of the scene"}, s.name);
    visit(Field{"description", "", "what it shows"}, s.description);
    visit(Field{"gravity", "m/s^2", "weight per mass"}, s.gravity);
    visit(Field{"plane", "", "normal of the plane that every body stays in, turning about it alone; none: bodies move in space"},
          s.plane);
    visit(Field{"materials", "", "what bodies are made of"}, s.materials);
    visit(Field{"material_pairs", "", "what holds between two materials in place of what each says"}, s.material_pairs);
    visit(Field{"bodies", "", "rigid bodies"}, s.bodies);
    visit(Field{"joints", "", "what ties them"}, s.joints);
    visit(Field{"particles", "", "groups of particles"}, s.particles);
    visit(Field{"solids", "", "mass-spring solids: particles and springs in a few numbers"}, s.solids);
    visit(Field{"flows", "", "moving air and water: wind, gusts, waves ..."}, s.flows);
    visit(Field{"forces", "", "springs, drag, gravitation ..."}, s.forces);
    visit(Field{"impulses", "", "blows at the start"}, s.impulses);
    visit(Field{"walls", "", "invisible walls"}, s.walls);
    visit(Field{"fluid", "", "an incompressible fluid in a box, on a grid"}, s.fluid);
    visit(Field{"recipe", "", "how it would like to be run"}, s.recipe);
  }
};

// Shapes.

template <>
struct Kind<Plane> {
  static constexpr std::string_view name = "plane", summary = "the half-space below z = 0; for fixed bodies";
};
template <>
struct SceneFields<Plane> {
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

template <>
struct Kind<Sphere> {
  static constexpr std::string_view name = "sphere", summary = "a ball about the origin";
};
template <>
struct SceneFields<Sphere> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"radius", "m", "radius", 0, 1e30, true}, s.radius);
  }
};

template <>
struct Kind<Box> {
  static constexpr std::string_view name = "box", summary = "a cuboid about the origin";
};
template <>
struct SceneFields<Box> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"size", "m", "full edge lengths", 0, 1e30, true}, s.size);
  }
};

template <>
struct Kind<Cylinder> {
  static constexpr std::string_view name = "cylinder", summary = "round about z, centred";
};
template <>
struct SceneFields<Cylinder> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"radius", "m", "radius", 0, 1e30, true}, s.radius);
    visit(Field{"height", "m", "full height", 0, 1e30, true}, s.height);
  }
};

template <>
struct Kind<Capsule> {
  static constexpr std::string_view name = "capsule", summary = "a cylinder along z with half balls on its ends";
};
template <>
struct SceneFields<Capsule> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"radius", "m", "radius", 0, 1e30, true}, s.radius);
    visit(Field{"length", "m", "of the cylindrical part", 0, 1e30, true}, s.length);
  }
};

template <>
struct Kind<Cone> {
  static constexpr std::string_view name = "cone", summary = "base in z = 0, apex at z = height";
};
template <>
struct SceneFields<Cone> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"radius", "m", "of the base", 0, 1e30, true}, s.radius);
    visit(Field{"height", "m", "full height", 0, 1e30, true}, s.height);
  }
};

template <>
struct Kind<Ellipsoid> {
  static constexpr std::string_view name = "ellipsoid", summary = "half axes along x, y and z";
};
template <>
struct SceneFields<Ellipsoid> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"radii", "m", "half axes", 0, 1e30, true}, s.radii);
  }
};

template <>
struct Kind<HeightField> {
  static constexpr std::string_view name = "height_field", summary = "ground below a grid of heights; for fixed bodies";
};
template <>
struct SceneFields<HeightField> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"columns", "", "points per row, along x", 2, 1e9}, s.columns);
    visit(Field{"spacing", "m", "between neighbours, along x and y", 0, 1e30, true}, s.spacing);
    visit(Field{"heights", "m", "row after row, along y; at least two rows"}, s.heights, Need::required);
  }
};

template <>
struct Kind<ConvexHull> {
  static constexpr std::string_view name = "convex_hull", summary = "the convex hull of points";
};
template <>
struct SceneFields<ConvexHull> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"points", "m", "at least four, not all in one plane"}, s.points, Need::required);
  }
};

template <>
struct Kind<TriangleMesh> {
  static constexpr std::string_view name = "triangle_mesh", summary = "a closed surface of triangles, listed or from a file";
};
template <>
struct SceneFields<TriangleMesh> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"vertices", "m", "corners; or else a file"}, s.vertices);
    visit(Field{"triangles", "", "three vertex numbers each, counter-clockwise seen from outside"}, s.triangles);
    visit(Field{"file", "", "an OBJ or STL file with vertices and triangles, found from the scene's folder"}, s.file);
    visit(Field{"scale", "m", "length of one unit of the file", 0, 1e30, true}, s.scale);
    visit(Field{"convex_parts", "", "collides as convex hulls, which a moving body needs to meet planes and meshes"},
          s.convex_parts);
  }
};

template <>
struct Kind<Compound> {
  static constexpr std::string_view name = "compound", summary = "several shapes moving as one";
};
template <>
struct SceneFields<Compound> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"parts", "", "the shapes"}, s.parts, Need::required);
  }
};

template <>
struct SceneFields<CompoundPart> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"shape", "", "the shape of the part"}, s.shape, Need::required);
    visit(Field{"position", "m", "in the body's frame"}, s.position);
    visit(Field{"orientation", "", "part to body: quaternion w, x, y, z, or axis and angle"}, s.orientation);
    visit(Field{"density", "", "relative to the other parts", 0, 1e30, true}, s.density);
  }
};

}  // namespace rotule
