#pragma once

namespace rotule::testing {

inline constexpr double g = 9.81;  // m/s^2, as scenes have it unless they say otherwise

}  // namespace rotule::testing
