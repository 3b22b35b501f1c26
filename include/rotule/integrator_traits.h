#pragma once
// What an integration method promises.

namespace rotule {

/// What a method is known to do; the contract test measures it.
struct IntegratorTraits {
  int order = 1;
  int stages = 1;           // instants of a step at which the equations of motion are looked at
  int evaluations = 1;      // of the accelerations, per step; per iteration where the method is implicit
  bool symplectic = false;  // where forces have a potential, in flat spaces; or conjugate to a method that is
  bool implicit = false;
  bool adaptive = false;     // whether it chooses its own steps inside the one asked for
  bool constrained = false;  // whether it satisfies the joints itself, without any correction of drift
};

struct NoFields {
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

}  // namespace rotule
