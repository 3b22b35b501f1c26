#pragma once
// Points of contact where a face of one box meets another box: the face of the other that looks back most is cut by the sides of
// the first, seen along the contact normal onto the first one's face, where every side is x = const or y = const and the gap is
// carried along as a third coordinate. The same points as clip.h finds for two faces, for a fraction of the work.
#include <array>

#include "collide/frame.h"

namespace rotule {

struct FacePolygon {
  struct Corner {
    double x, y, gap;       // in the plane of the face, and along the normal
    std::uint32_t label;    // of the edge that starts here
    std::uint32_t feature;  // of the corner, once all is cut
  };
  int count = 0;
  std::array<Corner, 12> at;
};

/// All in the frame of the box `reference`, in which X places the other box. `normal` points to the other box, along the face's
/// own normal or near it, and is `seen` in the other's frame; `axis` is its largest coordinate. Points with gaps of at most
/// `margin`; x and y are the coordinates after `axis`, in their cyclic order.
void box_face_points(const Vec3& reference, int axis, const Vec3& normal, const Vec3& other, const Vec3& seen, const Frame& X,
                     double margin, FacePolygon& out);

}  // namespace rotule
