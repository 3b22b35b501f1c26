#pragma once
// Bodies immersed in the grid. A face at the signed distance d from a body's surface is inside of it by the fraction
// 1/2 - d/h of its cell, h being a cell's width, and is gripped by it from the surface to half a cell inside:
//   fraction = 1/2 - d/h,   grip = -2 d/h,   both kept between 0 and 1.
// Summed over a ball of radius a such fractions are (h/a)^2/4 of its volume too much, which a body of nearly the fluid's density
// feels as much more of its weight: they are taken of the cell and of its halves in every direction, and extrapolated.
// A push moves the fluid towards the body's rigid velocity V = v + w x r:
//   u += grip (V - u),
// and what momentum the fluid gains by it the body loses: impulses are the sums of the same numbers. As in any plastic blow the
// two lose (V - u - change/2) change of energy by a change of u. Pushes act in every step, so that the least grip soon counts as
// a whole one: were it to begin outside of the surface, bodies would be half a cell too large. Friction is felt sooner. Where the
// line from a face outside, at the distance d, to its neighbour inside, at the depth d', is cut by the surface, the grid takes
// for the velocity's slope (V - u)/h what is (V - u)/(theta h), theta = d/(d + d'). A push in which viscosity bears the
// difference, 1/theta - 1 = d'/d for each such line in units of nu/h^2, puts the wall where it is.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "fluid/layout.h"
#include "fluid/signed_distance.h"

namespace rotule {

class Obstacles {
 public:
  Obstacles(const GridLayout& layout, double density) : layout_(layout), density_(density) {}

  /// A body of this shape; mass and smallest principal inertia are infinite where nothing moves it. Throws Error where the grid
  /// cannot see it.
  void add(const std::string& name, const Shape& shape, const Vec3& center_of_mass, double mass, double least_inertia);
  [[nodiscard]] int count() const { return static_cast<int>(bodies_.size()); }

  /// Cuts the body out of the grid where its centre of mass is at p.
  void place(int body, const Vec3& p, const Quat& theta);
  /// Whether any of it is inside of the box; and all of it.
  [[nodiscard]] bool is_inside(int body) const { return bodies_[body].buoyant_mass > 0; }
  [[nodiscard]] bool is_wholly_inside(int body) const { return bodies_[body].wholly_inside; }

  /// Linear and angular velocity of each body. One after the other, so that where two overlap the later one has the last word.
  /// `diffusion` is nu times the time that the push stands for, m^2.
  void push(Field3& u, std::span<const Vec6> velocities, double diffusion, int threads);

  // Since they were forgotten: impulse and torque impulse on each body, about its centre of mass; and what energy was lost.
  [[nodiscard]] const Vec6& impulse(int body) const { return bodies_[body].impulse; }
  [[nodiscard]] double lost() const { return lost_; }
  void forget_pushes() {
    lost_ = 0;
    for (ImmersedBody& body : bodies_) body.impulse.setZero();
  }

  /// Where its centre of mass was placed.
  [[nodiscard]] const Vec3& position(int body) const { return bodies_[body].p; }

  /// Mass matrix of the displaced fluid, linear then angular, about the body's centre of mass. Pushes see a little less of it,
  /// and a body much lighter than that little would be driven by the difference: there it is made as small as it has to be.
  [[nodiscard]] const Mat6& displaced(int body) const { return bodies_[body].displaced; }
  /// What the displaced fluid weighs, and its moment about the body's centre of mass: rho int r.
  [[nodiscard]] double buoyant_mass(int body) const { return bodies_[body].buoyant_mass; }
  [[nodiscard]] const Vec3& buoyant_moment(int body) const { return bodies_[body].buoyant_moment; }
  /// Force and torque that keep the displaced fluid turning with the body at this angular velocity: rho int w x (w x r), and r x
  /// that.
  [[nodiscard]] Vec6 turning(int body, const Vec3& omega) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct ImmersedFace {
    std::ptrdiff_t index;
    double grip;      // how far a push takes the fluid here along
    double fraction;  // of the face's cell that is inside of the body
    double friction;  // 1/m^2: what viscosity adds to the grip, per diffusion
    Vec3 r;           // from the centre of mass
  };
  struct ImmersedBody {
    std::string name;
    SignedDistance distance;
    std::vector<Vec3> corners;  // of its surface as triangles, from the centre of mass
    Vec3 center_of_mass;
    double mass, least_inertia;
    std::vector<ImmersedFace> faces = {};  // component after component
    std::array<std::size_t, 4> first{};    // of each component, and the end
    bool wholly_inside = true;
    Mat6 displaced = Mat6::Zero();
    double buoyant_mass = 0;
    Vec3 buoyant_moment = Vec3::Zero();  // rho int r
    Mat3 second_moment = Mat3::Zero();   // rho int r r^T
    Vec6 impulse = Vec6::Zero();
    Vec3 p = Vec3::Constant(infinity);  // where it was placed last
    Quat theta = Quat::Identity();
  };
  /// How much steeper the velocity is at a face at x, the distance d from the surface, than the grid sees it: 1/m^2.
  [[nodiscard]] double friction_at(const ImmersedBody& body, const Vec3& x, double d, const Mat3& R) const;
  [[nodiscard]] double fraction_at(const ImmersedBody& body, const Vec3& x, double d, double width, const Mat3& R) const;
  void find_faces(ImmersedBody& body, int component, const Mat3& R, const Vec3& low, const Vec3& high) const;

  const GridLayout& layout_;
  double density_;
  std::vector<ImmersedBody> bodies_;
  double lost_ = 0;  // J
  struct Partial {
    Vec6 impulse = Vec6::Zero();
    double lost = 0;
  };
  std::vector<Partial> partial_;  // sums of chunks of faces
};

}  // namespace rotule
