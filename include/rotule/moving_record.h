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
  /// A number made of one or two others, slots of this record; -1 where there is none. A step of none is a beginning: a component
  /// of a vector, or a product of two.
  struct Step {
    int a = -1, b = -1;
    double by_a = 0, by_b = 0, by_aa = 0, by_ab = 0, by_bb = 0;
  };
  /// A vector that bodies carry: its parts are those from `part` on; its components three slots from `slot` on, -1 as long as
  /// nobody asked for them.
  struct Vector {
    Vec3 now;
    int part, parts, slot;
  };
  struct Product {
    int slot, a, b;  // of vectors
  };

  void clear() {
    steps.clear();
    vectors.clear();
    products.clear();
    parts.clear();
    curved = false;
  }
  /// Its number among the vectors.
  int add_vector(const Vec3& now, const CarriedPart* part, int count) {
    vectors.push_back({now, static_cast<int>(parts.size()), count, -1});
    parts.insert(parts.end(), part, part + count);
    return static_cast<int>(vectors.size()) - 1;
  }
  int component(int vector, int k) {
    int& slot = vectors[static_cast<std::size_t>(vector)].slot;
    if (slot < 0) {
      slot = static_cast<int>(steps.size());
      steps.resize(steps.size() + 3);
    }
    return slot + k;
  }
  int add_product(int a, int b) {
    const int slot = add({});
    products.push_back({slot, a, b});
    return slot;
  }
  int add(const Step& step) {
    curved = curved || step.by_aa != 0 || step.by_ab != 0 || step.by_bb != 0;
    steps.push_back(step);
    return static_cast<int>(steps.size()) - 1;
  }

  std::vector<Step> steps;
  std::vector<Vector> vectors;
  std::vector<Product> products;
  std::vector<CarriedPart> parts;
  bool curved = false;  // whether any step is more than a sum of multiples
};

}  // namespace rotule
