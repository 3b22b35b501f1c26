#pragma once
// How what is thinner than a cell meets the grid. Along each axis it sees the three nearest faces of a component by a quadratic
// B-spline, r cells away from the middle one,
//   w = (1/2 - r)^2/2, 3/4 - r^2, (1/2 + r)^2/2:   sum w = 1,   sum w x = X,   sum dw/dX x = 1.
// By the same weights it feels the velocity and gives the faces what they are to lose: momentum and, since the first moment is
// exact, angular momentum. A couple M is the force curl (M w)/2, whose moment is M by the last sum. Beyond a wall to which the
// fluid sticks a ghost is 2 V - u of its mirror image: twice its weight is the wall's and its own is taken from the image, so
// that what is given near a wall is given to the wall in part. At other sides the ghost is its image.
#include "fluid/layout.h"

namespace rotule {

/// A face as it was before it was pushed.
struct PushedFace {
  int component = 0;
  std::ptrdiff_t index = 0;
  double value = 0;
};

/// What faces inside of the box got of a push, and what the rest of it, borne by sides, did as work.
struct Deposit {
  Vec3 momentum = Vec3::Zero(), angular_momentum = Vec3::Zero();  // kg m/s, kg m^2/s about the origin
  double energy = 0;                                              // J
  double of_sides = 0;                                            // J
};

class GridKernel {
 public:
  GridKernel(const GridLayout& layout, double density) : layout_(layout), density_(density) {}

  /// Whether it is in the box.
  [[nodiscard]] bool covers(const Vec3& x) const;
  [[nodiscard]] Vec3 velocity(const Field3& u, const Vec3& x) const;
  /// Du/Dt by pressure and viscosity.
  [[nodiscard]] Vec3 acceleration(const Field3& u, const std::vector<double>& p, double nu, const Vec3& x) const;
  /// Gives the faces an impulse and a couple of impulses at x, and adds to what they got; `before`: those faces as they were.
  void push(Field3& u, const Vec3& x, const Vec3& impulse, const Vec3& couple, std::vector<PushedFace>& before,
            Deposit& sum) const;

 private:
  /// Of one component along one axis: which of three faces count, and what a side has.
  struct Reach {
    std::array<std::ptrdiff_t, 3> index{};
    std::array<double, 3> weight{}, slope{}, place{};
    std::array<bool, 3> inside{true, true, true};
    double held = 0, given = 0;  // weight and velocity of a wall
  };
  using Reaches = std::array<Reach, 3>;
  [[nodiscard]] Reach reach(int component, int axis, double x) const;
  [[nodiscard]] Reaches reaches(int component, const Vec3& x) const;
  /// Of the walls' velocities.
  static double of_walls(const Reaches& reach);
  /// f(index, numbers of the faces by axis) for all that count.
  template <class F>
  void visit(const Reaches& reach, const F& f) const;

  const GridLayout& layout_;
  double density_;
};

}  // namespace rotule
