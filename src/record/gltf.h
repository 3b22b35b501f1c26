#pragma once
// glTF 2.0 (Khronos Group, ISO/IEC 12113:2022): the bodies of a motion as meshes on nodes, and their positions and orientations
// over time as an animation that viewers and Blender play. glTF is y up: one node above all others turns z up to y up. Numbers
// are floats there: a motion a kilometre from the origin loses tenths of a millimetre. Cloth and springs are not in it, particles
// are as small balls.
#include <string>

#include "record/recorded_motion.h"

namespace rotule {

struct GltfOptions {
  double rate = 60;    // pictures per second, at most; 0: every moment
  bool binary = true;  // .glb; else .gltf with the numbers inside as base64
};

/// The bytes of the file.
std::string to_gltf(const RecordedMotion& motion, const GltfOptions& options);

}  // namespace rotule
