#include "dynamics/forces/loads.h"

#include <fmt/format.h>
#include <rotule/error.h>

namespace rotule {

void add_loads(const Model& model, const State& s, double t, VecX& f) {
  for (const LoadForce& load : model.forces.loads) {
    Vec3 F, torque;
    load.force.at(t, F);
    load.torque.at(t, torque);
    if (!F.allFinite() || !torque.allFinite())
      throw Error(fmt::format("load \"{}\"", load.name),
                  fmt::format("is not a finite number at t = {:.6g} s; look where it divides or takes a root or logarithm", t));
    const EndPoint point = end_point(load.a, s);
    add_force_at(point, F, f);
    if (point.turns) f.segment<3>(3 * point.triple + 3) += torque;
  }
}

}  // namespace rotule
