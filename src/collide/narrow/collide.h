#pragma once
// The narrow phase of one pair of bodies: every part of one against every part of the other.
//
// Half-spaces: the support function of the other. Boxes: box_box.h. Other convex pairs: separation.h. Then points by clip.h. A
// surface of triangles meets each convex part triangle by triangle, with normals that the surface allows (surface.h); points of
// triangles in one plane are joined into one manifold. A surface meets a half-space by its vertices. Surfaces do not meet
// surfaces, nor half-spaces each other: moving bodies of triangles are made of convex parts when a world takes them in.
#include <vector>

#include "collide/narrow/clip.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/collision_shape.h"

namespace rotule {

/// Memory of the narrow phase: one per thread, so that nothing is allocated once it has grown.
struct CollideScratch {
  struct Cluster {
    Vec3 normal, t, b;
    int triangle;
    double gap;
    std::vector<Candidate> candidates;
  };
  CandidateList list;
  std::vector<Cluster> clusters;
  int used_clusters = 0;
  std::vector<int> triangles;
};

/// Appends manifolds with gaps of at most `margin` (>= 0), in the order of the parts, for surfaces in that of the triangles.
/// `memory` belongs to the pair (A, B) in this order; it serves bodies of one part.
void collide(const CollisionShape& a, const Frame& X_WA, const CollisionShape& b, const Frame& X_WB, double margin,
             PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out);

/// Two parts, where their own frames stand.
void collide_parts(const CollisionPart& a, const Frame& X_WPa, const CollisionPart& b, const Frame& X_WPb, double margin,
                   PairMemory& memory, CollideScratch& scratch, std::vector<Manifold>& out);

/// Two convex shapes; the frames are those of the shapes themselves. Nothing where they are farther apart than `margin`.
void collide_convex(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                    CandidateList& list, std::vector<Manifold>& out);

}  // namespace rotule
