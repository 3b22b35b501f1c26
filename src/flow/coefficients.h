#pragma once
// Coefficients against the angle of attack: drag, lift and moment as cubic splines, twice continuously differentiable. A table
// that spans a full turn is periodic; of others the ends are straight, and what lies beyond them is not known.
#include <rotule/types.h>

#include <array>
#include <optional>
#include <vector>

namespace rotule {

struct SectionAt {
  double drag = 0, lift = 0, moment = 0;
  double drag_slope = 0, lift_slope = 0, moment_slope = 0;  // by the angle
};

class Coefficients {
 public:
  Coefficients() = default;
  /// Angles ascending, in rad; columns as long as they are, or empty for zero. One angle: constants.
  Coefficients(const std::vector<double>& angles, const std::vector<double>& drag, const std::vector<double>& lift,
               const std::vector<double>& moment);

  /// Nothing where the table does not reach.
  [[nodiscard]] std::optional<SectionAt> at(double angle) const;
  [[nodiscard]] double first() const { return angle_.front(); }
  [[nodiscard]] double last() const { return angle_.back(); }

 private:
  std::vector<double> angle_;
  bool periodic_ = false;
  std::vector<std::array<Vec3, 4>> piece_;  // drag, lift, moment: coefficients of powers of the angle less the piece's first
};

/// Whether the angles span a full turn, up to rounding.
bool spans_full_turn(const std::vector<double>& angles);

}  // namespace rotule
