#pragma once
// Finiteness and ranges of all fields of a struct, and of what it holds: what every check of a scene begins with.
#include <rotule/error.h>

#include <cmath>
#include <string>

#include "base/place.h"
#include "model/choices.h"
#include "model/expression.h"
#include "model/scene_fields.h"
#include "model/validate.h"
#include "model/validate_shape.h"

namespace rotule {

inline constexpr double smallest_quaternion = 1e-6;  // below it, an orientation is more likely a mistake than a scaled quaternion

struct RangeCheck {
  const Place& place;

  void operator()(const Field& field, double value, Need = {}) const { check_range(place / field.name, field, value); }
  void operator()(const Field& field, int value, Need = {}) const { check_range(place / field.name, field, value); }
  void operator()(const Field&, bool, Need = {}) const {}
  void operator()(const Field&, const std::string&, Need = {}) const {}
  void operator()(const Field&, const Between&, Need = {}) const {}
  void operator()(const Field&, const std::array<bool, 6>&, Need = {}) const {}
  void operator()(const Field&, const std::vector<std::array<int, 3>>&, Need = {}) const {}
  void operator()(const Field&, const std::vector<std::array<int, 2>>&, Need = {}) const {}
  void operator()(const Field&, const std::vector<std::array<int, 4>>&, Need = {}) const {}
  void operator()(const Field&, const std::vector<int>&, Need = {}) const {}
  void operator()(const Field&, const std::vector<std::string>&, Need = {}) const {}
  void operator()(const Field&, const std::array<std::string, 3>&, Need = {}) const {}
  void operator()(const Field&, const EquationText&, Need = {}) const {}
  void operator()(const Field& field, const Formula& formula, Need = {}) const {
    try {
      static_cast<void>(Expression(formula.text));
    } catch (const Error& error) {
      fail(place / field.name, error.what());
    }
  }
  void operator()(const Field& field, const Formula3& formulas, Need = {}) const {
    const Place here = place / field.name;
    try {
      static_cast<void>(Expression3(formulas));
    } catch (const Error& error) {
      throw Error(here.str() + "/" + error.what());
    }
  }
  void operator()(const Field& field, const PrescribedMotion& motion, Need = {}) const {
    const Place here = place / field.name;
    visit_fields(motion, RangeCheck{here});
  }
  void operator()(const Field& field, const std::array<int, 3>& values, Need = {}) const {
    const Place here = place / field.name;
    for (std::size_t i = 0; i < 3; ++i) check_range(here / i, field, values[i]);
  }
  void operator()(const Field& field, const std::vector<double>& values, Need = {}) const {
    const Place here = place / field.name;
    for (std::size_t i = 0; i < values.size(); ++i) check_range(here / i, field, values[i]);
  }
  template <class T>
  void operator()(const Field& field, const std::vector<T>& items, Need = {}) const
      requires(std::is_same_v<T, SpringSet> || std::is_same_v<T, TetrahedronSet> || std::is_same_v<T, TriangleSet> ||
               std::is_same_v<T, AxisDrive> || std::is_same_v<T, NamedPoint> || std::is_same_v<T, NamedConstant> ||
               std::is_same_v<T, ConstraintParameter> || std::is_same_v<T, FluidWall>) {
    const Place here = place / field.name;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Place item = here / i;
      visit_fields(items[i], RangeCheck{item});
    }
  }
  template <class T>
  void operator()(const Field& field, const T& coefficients, Need = {}) const
      requires(std::is_same_v<T, SectionCoefficients> || std::is_same_v<T, LineCoefficients>) {
    const Place here = place / field.name;
    visit_fields(coefficients, RangeCheck{here});
  }
  void operator()(const Field& field, const ElasticMaterial& material, Need = {}) const {
    const Place here = place / field.name;
    visit_fields(material, RangeCheck{here});
  }
  void operator()(const Field& field, const ParticleContact& contact, Need = {}) const {
    const Place here = place / field.name;
    visit_fields(contact, RangeCheck{here});
  }
  void operator()(const Field& field, const GivenMotion& motion, Need = {}) const {
    const Place here = place / field.name;
    visit_fields(motion, RangeCheck{here});
  }
  void operator()(const Field& field, const Vec3& value, Need need = {}) const {
    check_vector(place / field.name, field, value, need);
  }
  void operator()(const Field& field, const std::vector<Vec3>& points, Need = {}) const {
    const Place here = place / field.name;
    for (std::size_t i = 0; i < points.size(); ++i) check_vector(here / i, field, points[i], Need::optional);
  }
  void operator()(const Field& field, const Mat3& value, Need = {}) const {
    if (!value.allFinite()) fail(place / field.name, "must be finite numbers");
  }
  void operator()(const Field& field, const MatX& value, Need = {}) const {
    if (!value.allFinite()) fail(place / field.name, "must be finite numbers");
  }
  void operator()(const Field& field, const Quat& value, Need = {}) const {
    if (!value.coeffs().allFinite()) fail(place / field.name, "must be finite numbers");
    if (!(value.norm() >= smallest_quaternion) || !std::isfinite(value.squaredNorm()))
      fail(place / field.name, "must be a quaternion w, x, y, z of length 1, such as [1, 0, 0, 0] for no rotation");
  }
  template <class T>
  void operator()(const Field& field, const std::optional<T>& value, Need need = {}) const {
    if (value) (*this)(field, *value, need);
  }
  void operator()(const Field& field, const Shape& shape, Need = {}) const { validate_shape(shape, place / field.name); }
  template <class... Settings>
  void operator()(const Field& field, const std::variant<Settings...>& choice, Need = {}) const
      requires(is_choice<std::variant<Settings...>>) {
    const Place here = place / field.name;
    std::visit([&](const auto& settings) { visit_fields(settings, RangeCheck{here}); }, choice);
  }

  void operator()(const Field& field, const SolverChoice& choice, Need = {}) const {
    const Place here = place / field.name;
    choice.visit_fields(RangeCheck{here});
  }

 private:
  static void check_vector(const Place& at, const Field& field, const Vec3& value, Need need) {
    for (int k = 0; k < 3; ++k) check_range(at / static_cast<std::size_t>(k), field, value[k]);
    if (need == Need::direction && !(value.norm() > 1e-100))
      fail(at, "must not be the zero vector; give a direction such as [0, 0, 1]");
    if (need == Need::direction && !std::isfinite(value.squaredNorm()))
      fail(at, "is too long; give a direction such as [0, 0, 1]");
  }
};

}  // namespace rotule
