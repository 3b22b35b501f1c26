#pragma once
// How a constraint function came to its numbers, step by step, where second derivatives are asked for: each step with its
// derivatives by what it was made of. It is written anew wherever a function is evaluated for it, so that functions may branch.
#include <rotule/types.h>

#include <vector>

namespace rotule {

/// How one body moves a vector that it carries: by `move` times its translation, and, with a rotation, by rotation x lever +
/// `turn` times itself.
struct CarriedPart {
  int body;
  double move, turn;
  Vec3 lever;
};

class MovingRecord {
 public:
  /// A number made of one or two others, slots of this record; -1 where there is none.
  struct Step {
    int a, b;
    double by_a, by_b, by_aa, by_ab, by_bb;
  };
  /// A vector that bodies carry: its components are three slots, its parts those from `part` on.
  struct Vector {
    int slot, part, parts;
  };

  void clear() {
    steps.clear();
    vectors.clear();
    parts.clear();
    curved = false;
  }
  /// The slot of its first component.
  int add_vector(const CarriedPart* part, int count) {
    const int slot = static_cast<int>(steps.size());
    vectors.push_back({slot, static_cast<int>(parts.size()), count});
    parts.insert(parts.end(), part, part + count);
    steps.insert(steps.end(), 3, {-1, -1, 0, 0, 0, 0, 0});
    return slot;
  }
  int add(const Step& step) {
    curved = curved || step.by_aa != 0 || step.by_ab != 0 || step.by_bb != 0;
    steps.push_back(step);
    return static_cast<int>(steps.size()) - 1;
  }

  std::vector<Step> steps;
  std::vector<Vector> vectors;
  std::vector<CarriedPart> parts;
  bool curved = false;  // whether any step is more than a sum of multiples
};

}  // namespace rotule
