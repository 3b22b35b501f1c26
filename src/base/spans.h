#pragma once
// Eigen's vectors as the spans that operators and solvers take.
#include <rotule/types.h>

#include <span>

namespace rotule {

inline std::span<double> view(VecX& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }
inline std::span<const double> view(const VecX& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

}  // namespace rotule
