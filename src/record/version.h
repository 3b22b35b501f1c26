#pragma once
// The version of the program, as the build knows it.
#include <string_view>

namespace rotule {

inline constexpr std::string_view program_version = ROTULE_VERSION;

}  // namespace rotule
