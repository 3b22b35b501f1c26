#pragma once
// What contacts ask of the parts of a shape, whoever has them: a thousand crates of one kind share one form.
#include <map>
#include <memory>
#include <vector>

#include "collide/shape/collision_shape.h"

namespace rotule::realtime {

/// One convex part of a body's shape, or a surface or half-space.
struct PartForm {
  CollisionPart part;
  Vec3 place = Vec3::Zero();                                // of its frame, from the centre of mass in body axes
  Vec3 box_centre = Vec3::Zero(), box_half = Vec3::Zero();  // of its core's box, likewise
  double size = infinity;                                   // half the diagonal of its box; infinite for half-spaces and surfaces
  double core = infinity;                                   // half its thickness where it is thinnest; likewise
  double arm = 0;                                           // how far turning by one radian carries its core
  double rounding = 0;                                      // of its surface
  bool endless = false;                                     // a half-space
};

/// All parts of a body.
struct BodyForm {
  BodyForm(CollisionShape of, const Vec3& centre);
  CollisionShape shape;  // whom the parts' hulls and surfaces belong to
  Vec3 center_of_mass;
  std::vector<PartForm> parts;
  double arm = 0, core = infinity;  // the largest, the least
};

class FormStore {
 public:
  /// The form of a body with this shape and centre of mass: shared with others where it is made of spheres, boxes and the like.
  std::shared_ptr<const BodyForm> form_of(const Shape& shape, const Vec3& center_of_mass);
  /// A body has given its form up: one that nobody else has is forgotten.
  void give_up(std::shared_ptr<const BodyForm>& form);

 private:
  /// All numbers of the parts; empty where they do not tell everything, as of hulls.
  using Key = std::vector<double>;
  static Key key_of(const CollisionShape& shape, const Vec3& center_of_mass);
  std::map<Key, std::shared_ptr<const BodyForm>> shared_;
};

}  // namespace rotule::realtime
