#pragma once
// Bodies as kernels see them, refreshed from the state once per evaluation.
#include <vector>

#include "model/model.h"

namespace rotule {

template <class L>
using Vec3L = Eigen::Matrix<L, 3, 1>;
template <class L>
using Mat3L = Eigen::Matrix<L, 3, 3>;

/// One body in lanes of L: a double in the reference path, several floats at once where speed is all.
template <class L>
struct BodyLanes {
  Vec3L<L> p = Vec3L<L>::Zero();
  Mat3L<L> R = Mat3L<L>::Identity();
  Vec3L<L> v = Vec3L<L>::Zero();
  Vec3L<L> omega = Vec3L<L>::Zero();
};

struct Kinematics {
  std::vector<BodyLanes<double>> bodies;
  std::vector<Mat3> inverse_inertia;  // in world axes
  BodyLanes<double> world;            // the partner that never moves

  [[nodiscard]] const BodyLanes<double>& operator[](int body) const { return body == world_body ? world : bodies[body]; }
  void update(const Model& model, const State& state);
};

}  // namespace rotule
