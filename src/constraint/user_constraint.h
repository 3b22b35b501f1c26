#pragma once
// Constraints that a user wrote as a function alone (A2): evaluated on second-order jets, from which J, J-dot u and the
// Hessian are read off. Jet variables: p_a, phi_a (0..5), p_b, phi_b (6..11), time (12).
#include <rotule/joints.h>

#include <functional>

#include "constraint/rows.h"

namespace rotule {

/// A partner as the function is given it; `frame`: where the origin of its own frame is, from its centre of mass.
struct UserPartner {
  const BodyLanes<double>& body;
  const Vec3& frame;
  bool turns;  // particles do not
};

Jet evaluate_user(const std::function<Jet(const JetBody&, const JetBody&, const Jet&)>& function, const UserPartner& a,
                  const UserPartner& b, double t);

/// J and gamma = u^T H u + 2 u . dJ/dt + d2C/dt2.
Row<double> user_row(const Jet& C, const BodyLanes<double>& a, const BodyLanes<double>& b);

}  // namespace rotule
