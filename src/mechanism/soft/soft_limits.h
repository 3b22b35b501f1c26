#pragma once
// Shares of the rounding by which contacts of particles are judged.
namespace rotule {

inline constexpr double deep_share = 0.3;    // of the rounding is left to who is near at the start before he meets on the way
inline constexpr double sweep_share = 0.05;  // what a sweep takes for touching
inline constexpr double nearer_share = 1e-3;
inline constexpr double slip_share = 1e-2;  // a contact that has slid so far in a step slides
inline constexpr int most_advances = 100;

}  // namespace rotule
