#pragma once
// Handles that outlive what they name without lying about it: an index to find the slot, a generation to tell whether the
// slot still holds what the handle was made for.
#include <compare>
#include <cstdint>

namespace rotule {

template <class Tag>
struct Id {
  std::uint32_t index = 0xffffffffu;
  std::uint32_t generation = 0;

  [[nodiscard]] constexpr bool valid() const { return index != 0xffffffffu; }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using BodyId = Id<struct BodyTag>;
using JointId = Id<struct JointTag>;
using ForceId = Id<struct ForceTag>;

}  // namespace rotule
