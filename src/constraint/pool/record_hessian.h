#pragma once
// Second derivatives of constraints written as functions, of positions and the time alone: one evaluation writes down how its
// numbers were made (rotule/moving_record.h), and walks over that record tell the rest.
#include "constraint/pool/evaluation.h"

namespace rotule {

/// H += sum lambda_r H_r, forward over reverse: along the six motions of each partner, how the gradient changes.
void add_record_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                        std::span<const double> lambda, Eigen::Ref<MatX> H);

}  // namespace rotule
