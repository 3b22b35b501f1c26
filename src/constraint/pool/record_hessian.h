#pragma once
// Second derivatives of constraints written as functions, of positions, the time and parameters: one evaluation writes down how
// its numbers were made (rotule/moving_record.h), and walks over that record tell the rest. Parameters that have been eliminated
// are numbers that move with the bodies.
#include "constraint/pool/evaluation.h"

namespace rotule {

/// H += sum lambda_k H_k over the equations, forward over reverse: along the six motions of each partner, how the gradient
/// changes.
void add_record_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                        std::span<const double> lambda, std::span<const ParameterMotion> parameters, Eigen::Ref<MatX> H);

}  // namespace rotule
