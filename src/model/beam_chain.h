#pragma once
// A beam as rigid parts with ball joints, and springs on all three rotations where two of them meet. Each part bends and twists
// in its two halves, by half of its length over the rigidity; what bends at a joint is the second half of one and the first half
// of the next, one after the other: their compliances add up, also where the axis has a corner and they are about different axes.
#include <rotule/scene.h>

#include <optional>
#include <string>
#include <vector>

#include "base/place.h"

namespace rotule {

/// Along a structure, to its side (to the left, looking along it) and up, at right angles; and its length.
struct StructureFrame {
  Vec3 along, side, up;
  double length;

  StructureFrame(const Vec3& from, const Vec3& to, const Vec3& upwards, const Place& place);
  [[nodiscard]] Mat3 axes() const;
  [[nodiscard]] Quat orientation() const { return Quat(axes()); }
};

/// "name/3".
std::string part(const std::string& name, int number);

/// Rotations about three axes at a joint, each with its stiffness.
void add_springs(const Between& between, const StructureFrame& frame, const Vec3& stiffness, double damping,
                 const std::string& name, Scene& scene);

struct ChainPart {
  StructureFrame frame;
  double length;
  double mass;         // kg
  Vec3 inertia;        // kg m^2, about the centre of mass: along, side, up
  double mass_offset;  // m, from the axis downstream to the centre of mass
  Vec3 size;           // m, of the box that it is drawn as
};

struct Chain {
  std::vector<ChainPart> parts;
  std::vector<Vec3> nodes;  // one more: where they meet, and both ends
  Vec3 rigidity;            // G J, E I, E I_side: N m^2
  double damping;           // s: every spring's damping over its stiffness
  std::optional<SectionCoefficients> section;

  void build(const std::string& name, Scene& scene) const;
  /// Holds an end as Beam says; `rolling` is along what it may move there.
  void hold(const std::string& name, bool at_end, const std::string& how, const std::string& on, const Vec3& rolling,
            const Place& place, Scene& scene) const;
  /// Makes it a ring: the last part is joined to the first.
  void close(const std::string& name, Scene& scene) const;

 private:
  /// The part after `before` at that node, by number.
  void join(const std::string& name, int before, int after, int node, Scene& scene) const;
};

}  // namespace rotule
