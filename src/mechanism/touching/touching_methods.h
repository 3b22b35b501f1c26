#pragma once
// Which methods can take contacts by accelerations: explicit ones that begin every step afresh.
#include <rotule/integrators.h>

#include <type_traits>

namespace rotule {

template <class S>
inline constexpr bool integrates_touching =
    (S::traits.adaptive && !S::traits.implicit) || std::is_same_v<S, Rk4Settings> || std::is_same_v<S, ExplicitEulerSettings> ||
    std::is_same_v<S, Rk2Settings> || std::is_same_v<S, ModifiedEulerSettings> || std::is_same_v<S, TwoThirdsSettings> ||
    std::is_same_v<S, Taylor2Settings> || std::is_same_v<S, Taylor3Settings>;

inline bool integrates_contacts(const IntegratorSettings& settings) {
  return std::visit([]<class S>(const S&) { return integrates_touching<S>; }, settings);
}

}  // namespace rotule
