#pragma once
// Points of contact where a face of one box meets another box: the face of the other that looks back most is cut by the sides of
// the first, in the first one's own axes, where every side is x = const or y = const and the gap is carried along as a third
// coordinate. The same points as clip.h finds for two faces, for a fraction of the work.
#include "collide/frame.h"
#include "collide/narrow/clip.h"

namespace rotule {

/// `axis` and `side` (+1 or -1) name the face of the box `reference`, whose normal is the contact normal; X places the other box
/// in its frame. Points with gaps of at most `margin` in the reference box's frame: on_a on the face, on_b on the other box; x
/// and y in the plane of the face.
void box_face_points(const Vec3& reference, int axis, double side, const Vec3& other, const Frame& X, double margin,
                     CandidateList& out);

}  // namespace rotule
