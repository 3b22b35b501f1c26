#pragma once
// Where particles touch, and where they come to touch on their way: points, segments and triangles between particles, rounded,
// against the shapes of bodies and against each other.
//
// A step goes straight: particles by h U, bodies by h u, turning steadily. Who is near at its start is a contact with the normal
// of then (`find`). All are followed along the way by conservative advancement (`sweep`): at a distance d along n two convex
// things cannot touch before d over the speed with which their corners close in along n. Where it finds them meeting, the
// contact is that of the pose in which they do. Who is near at the start is held by his contacts, and meets only once he has
// come deep into the rounding: so a way on which `sweep` finds nothing leads through nothing, whatever contacts there are.
#include <optional>
#include <vector>

#include "collide/collision_world.h"
#include "mechanism/soft/soft_contact.h"
#include "model/model.h"

namespace rotule {

class SoftCollider {
 public:
  explicit SoftCollider(const Model& model);

  /// A step: where everything is, and with which velocities it goes.
  struct Way {
    const State& start;
    const VecX& u;
    double h;
  };

  /// Contacts of who is near at the start, in place of those in `out`.
  void find(const Way& way, std::vector<SoftContact>& out);
  /// Appends contacts of who meets on the way; the number of them. `stops`, where given, gets per particle the share of the way
  /// on which nobody stands.
  int sweep(const Way& way, std::vector<SoftContact>& out, VecX* stops = nullptr);

 private:
  /// A point, a segment or a triangle.
  struct Element {
    std::array<int, 3> corners{};
    int count = 0;
    int surface = 0;
  };
  struct Part {
    int body = -1;
    const CollisionPart* part = nullptr;
    double reach = 0;  // from the body's centre of mass
  };
  /// The corners of an element: where they are at the start, and how they go.
  struct Corners {
    std::array<Vec3, 3> x, v;
    int count = 0;
    [[nodiscard]] Vec3 at(int k, double time) const { return x[k] + time * v[k]; }
  };
  /// Where two things are nearest.
  struct Nearest {
    bool near = true;
    double distance = infinity;   // of what is within the rounding
    Vec3 normal = Vec3::UnitZ();  // from the other to the element
    std::array<double, 3> weights{}, other_weights{};
    Vec3 on_body = Vec3::Zero();
  };

  [[nodiscard]] double radius(const Element& e) const { return model_.particle_surfaces[e.surface].radius; }
  [[nodiscard]] Corners corners_of(const Element& e, const Way& way) const;
  [[nodiscard]] Aabb box_of(const Element& e, const Way& way) const;
  void stop(const Element& e, double share, VecX* stops) const;
  /// The friction that holds, by how fast the two slide at the start.
  [[nodiscard]] double friction_of(const SoftContact& c, const SurfaceLaw& law, const Way& way) const;

  // Bodies.
  [[nodiscard]] Frame frame_of(int body, const Way& way, double share) const;
  [[nodiscard]] Aabb box_of(const Part& part, const Way& way) const;
  [[nodiscard]] Vec3 velocity_of(int body, const Way& way) const;
  static Nearest nearest_to(const Corners& c, double time, const Convex& other, const Frame& X, double reach);
  template <class Visit>
  void each_convex(const Part& part, const Aabb& box, const Way& way, const Visit& visit) const;
  [[nodiscard]] bool is_legal(const Part& part, int triangle, const Nearest& at, const Frame& X) const;
  void put(const Element& e, const Part& part, const Nearest& at, double share, const Way& way,
           std::vector<SoftContact>& out) const;
  void find_on(const Part& part, int number, const Way& way, std::vector<SoftContact>& out);
  void find_on_plane(const Part& part, const Way& way, std::vector<SoftContact>& out) const;
  int sweep_on(const Part& part, int number, const Way& way, std::vector<SoftContact>& out, VecX* stops);
  int sweep_plane(const Part& part, const Way& way, std::vector<SoftContact>& out, VecX* stops) const;

  // Among particles (soft_pairs.cpp).
  [[nodiscard]] bool may_meet(const Element& a, const Element& b) const;
  static Nearest nearest_of(const Corners& a, const Corners& b, double time);
  template <class Visit>
  void visit_pairs(const Way& way, const Visit& visit);
  void find_pairs(const Way& way, std::vector<SoftContact>& out);
  int sweep_pairs(const Way& way, std::vector<SoftContact>& out, VecX* stops);
  void put(const Element& a, const Element& b, const Nearest& at, const Way& way, std::vector<SoftContact>& out) const;

  [[nodiscard]] bool is_held(const SoftPair& pair) const;

  const Model& model_;
  std::vector<CollisionShape> shapes_;
  std::vector<Part> parts_;
  std::vector<Element> points_, lines_, faces_;  // those that meet bodies
  std::vector<Element> edges_;                   // those that meet each other: edges of triangles, segments, lone points
  bool pairs_ = false;                           // whether any particles may touch each other
  std::vector<double> near_;                     // per particle, its distance from the part at hand, where that is small
  std::vector<SoftPair> held_;                   // who has a contact, or is near at the start, in order
  std::vector<SoftPair> met_;                    // who was found on the way
  std::vector<Aabb> boxes_;
  std::vector<int> order_;
};

}  // namespace rotule
