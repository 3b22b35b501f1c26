#pragma once
// What an integration method promises.

namespace rotule {

/// What a method is known to do; the contract test measures it.
struct IntegratorTraits {
  int order = 1;
  int evaluations = 1;  // of the accelerations, per step
  bool symplectic = false;
  bool implicit = false;
  bool adaptive = false;     // whether it chooses its own steps inside the one asked for
  bool constrained = false;  // whether it satisfies the joints itself, without any correction of drift
};

struct NoFields {
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

}  // namespace rotule
