#pragma once
// A smooth surface F(x, y, z) = 0, given as text, and where bodies touch it. F comes with its gradient by the rules of
// differentiation backwards through its terms, on moving numbers (rotule/moving.h): derivatives of the gradient along the motion
// are those of F up to the third.
//
// Where a ball or a disc touches is found from their place alone, so that nothing has to be remembered:
//   ball   x + r n(x) = c, with n = s grad F / |grad F| and s the side on which the ball lies;
//   disc   the angle phi of its rim at which s F is least, grad F . de/dphi = 0.
// Newton's method gives the numbers; as many steps of it more on moving numbers, its matrix kept, as there are derivatives
// wanted, give those exactly.
#include <string>
#include <string_view>
#include <vector>

#include "model/expression.h"

namespace rotule {

class ImplicitSurface {
 public:
  /// Throws Error, with a mark at the place, where the text makes no sense, knows the time, or is too long.
  explicit ImplicitSurface(std::string_view text);

  struct Value {
    Moving F;
    MovingVec3 gradient;
  };
  [[nodiscard]] Value at(const MovingVec3& x) const;
  /// The unit normal towards a side: 1 where F is positive, else -1.
  [[nodiscard]] MovingVec3 normal(const MovingVec3& x, double side) const;

  /// Where a ball or a disc comes nearest to the surface, in coordinates of the surface, and how far from it that is: to first
  /// order, which on the surface is exact.
  struct Touch {
    MovingVec3 point, normal;
    Moving gap;
  };
  /// Throws Error where there is no such place: what touches is larger than the surface is curved.
  [[nodiscard]] Touch touch_of_ball(const MovingVec3& center, double radius, double side) const;
  /// The rim is center + radius (cos phi e + sin phi f).
  [[nodiscard]] Touch touch_of_disc(const MovingVec3& center, const MovingVec3& e, const MovingVec3& f, double radius,
                                    double side) const;

 private:
  static constexpr int most_terms = 128;
  struct Term {
    Expression::Step step;
    int a = -1, b = -1;  // the terms that it is made of
  };
  [[nodiscard]] Touch touch_at(const MovingVec3& x, double side) const;
  /// Numbers alone: F, its gradient, its second derivatives.
  void numbers(const Vec3& x, double& F, Vec3& g, Mat3& H) const;

  std::vector<Term> terms_;
};

}  // namespace rotule
