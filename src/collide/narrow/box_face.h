#pragma once
// Points of contact where a face of one box meets another box: the face of the other that looks back most is cut by the sides of
// the first, seen along the contact normal onto the first one's face, where every side is x = const or y = const and the gap is
// carried along as a third coordinate. The same points as clip.h finds for two faces, for a fraction of the work.
#include "collide/frame.h"
#include "collide/narrow/clip.h"

namespace rotule {

/// All in the frame of the box `reference`, in which X places the other box. `normal` points to the other box, along the face's
/// own normal or near it; `axis` is its largest coordinate. Points with gaps of at most `margin`: on_a on the face, on_b on the
/// other box; x and y in the plane of the face.
void box_face_points(const Vec3& reference, int axis, const Vec3& normal, const Vec3& other, const Frame& X, double margin,
                     CandidateList& out);

}  // namespace rotule
