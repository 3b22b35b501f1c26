#pragma once
// Bodies immersed in the grid. A face is inside of a body by a fraction chi, from its signed distance d to the surface over a
// cell's width: chi = 1/2 - d/h, kept between 0 and 1. A push moves the fluid towards the body's rigid velocity V = v + w x r:
//   u += chi (V - u),
// and what momentum the fluid gains by it the body loses: impulses are the sums of the same numbers.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "flow/grid/layout.h"
#include "flow/grid/signed_distance.h"

namespace rotule {

class Obstacles {
 public:
  Obstacles(const GridLayout& layout, double density) : layout_(layout), density_(density) {}

  /// A body of this shape, whose frame's origin is `center` away from its centre of mass. Throws Error where the grid cannot see
  /// it.
  void add(const std::string& name, const Shape& shape, const Vec3& center_of_mass);
  [[nodiscard]] int count() const { return static_cast<int>(bodies_.size()); }
  void remove(int body);

  /// Cuts the body out of the grid where its centre of mass is at p.
  void place(int body, const Vec3& p, const Quat& theta);
  /// Whether any of it is inside of the box; and all of it.
  [[nodiscard]] bool is_inside(int body) const { return !bodies_[body].faces.empty(); }
  [[nodiscard]] bool is_wholly_inside(int body) const { return bodies_[body].wholly_inside; }

  /// Linear and angular velocity of each body. One after the other, so that where two overlap the later one has the last word.
  void push(Field3& u, std::span<const Vec6> velocities, double weight, int threads);

  // Impulse and torque impulse on each body, about its centre of mass, so far.
  [[nodiscard]] const Vec6& impulse(int body) const { return bodies_[body].impulse; }
  void forget_impulses() {
    for (ImmersedBody& body : bodies_) body.impulse.setZero();
  }
  void remember_impulses() {
    for (ImmersedBody& body : bodies_) body.remembered = body.impulse;
  }
  void restore_impulses() {
    for (ImmersedBody& body : bodies_) body.impulse = body.remembered;
  }

  /// Mass matrix of the fluid that the body displaces, linear then angular, about its centre of mass.
  [[nodiscard]] const Mat6& displaced(int body) const { return bodies_[body].displaced; }
  /// rho int r over the body: its mass's moment about the centre of mass.
  [[nodiscard]] const Vec3& moment(int body) const { return bodies_[body].moment; }
  /// Force and torque that keep the displaced fluid turning with the body at this angular velocity: rho int w x (w x r), and r x
  /// that.
  [[nodiscard]] Vec6 turning(int body, const Vec3& omega) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct ImmersedFace {
    std::ptrdiff_t index;
    double chi;
    Vec3 r;  // from the centre of mass
  };
  struct ImmersedBody {
    std::string name;
    SignedDistance distance;
    std::vector<Vec3> corners;  // of its surface as triangles, from the centre of mass
    Vec3 center_of_mass;
    std::vector<ImmersedFace> faces = {};  // component after component
    std::array<std::size_t, 4> first{};    // of each component, and the end
    bool wholly_inside = true;
    Mat6 displaced = Mat6::Zero();
    Vec3 moment = Vec3::Zero();         // rho int r
    Mat3 second_moment = Mat3::Zero();  // rho int r r^T
    Vec6 impulse = Vec6::Zero(), remembered = Vec6::Zero();
    Vec3 p = Vec3::Constant(infinity);  // where it was placed last
    Quat theta = Quat::Identity();
  };
  void find_faces(ImmersedBody& body, int component, const Mat3& R, const Vec3& low, const Vec3& high) const;

  const GridLayout& layout_;
  double density_;
  std::vector<ImmersedBody> bodies_;
  std::vector<Vec6> partial_;  // sums of chunks of faces
};

}  // namespace rotule
