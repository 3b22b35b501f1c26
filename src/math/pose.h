#pragma once
// Poses as a group: X Y is the frame Y, given in X.
#include <rotule/types.h>

namespace rotule {

inline Pose operator*(const Pose& X, const Pose& Y) {
  return {X.position + X.orientation * Y.position, X.orientation * Y.orientation};
}
inline Pose inverse(const Pose& X) {
  const Quat q = X.orientation.conjugate();
  return {-(q * X.position), q};
}

}  // namespace rotule
