#pragma once
// All forces of a model together, beside weight and the gyroscopic torque: their sum, their potential energy, their derivatives.
#include "dynamics/forces/gravitation.h"

namespace rotule {

struct ForceScratch {
  Attractors attractors;
};

void add_forces(const Model& model, const State& s, double t, int threads, ForceScratch& scratch, VecX& f);

/// Of all forces that have one; weight not included.
double force_potential(const Model& model, const State& s, double t, int threads, ForceScratch& scratch);

/// Above so many bodies and particles gravitation is left out of derivatives: its matrix is full, and it is soft.
inline constexpr int most_gravitating_derivatives = 64;

/// Where the blocks of a derivative go: sink(row, column, block), places counted in triples of u. It refers to a function that
/// must outlive it: forces' derivatives are many templates, compiled once for all who gather them.
class BlockSink {
 public:
  template <class Function>
  BlockSink(Function& function)
      : function_(&function),
        call_([](void* f, int row, int column, const Mat3& block) { (*static_cast<Function*>(f))(row, column, block); }) {}
  void operator()(int row, int column, const Mat3& block) const { call_(function_, row, column, block); }

 private:
  void* function_;
  void (*call_)(void*, int, int, const Mat3&);
};

/// a df/du + b df/dq, block by block; springs between particles are left to who knows their places in his matrix, and what a gas
/// couples all over its surface to who can take it as what it is (gas.h).
void add_force_derivatives(const Model& model, const State& s, double t, double a, double b, bool positive, BlockSink sink);

}  // namespace rotule
