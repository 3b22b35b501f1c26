#pragma once
// Velocities on a regular grid (rotule/flow.h), between its points and moments: cubic along every axis and in time, with slopes
// at the points by parabolas through three of them (E. Catmull and R. Rom, 1974). Continuously differentiable; the error of the
// velocity falls with the third power of the spacing, that of its derivatives with the second.
#include "flow/field.h"

namespace rotule {

/// Adds what the field is there. Throws Error, with its name and what it covers, where it does not reach and must not be asked.
void add_field(const GridFlow& flow, const Vec3& x, double t, FlowAt& out);

/// The corners of what it covers, in the scene's places; infinite along axes with one point.
std::array<Vec3, 2> covered_box(const GridFlow& flow);

}  // namespace rotule
