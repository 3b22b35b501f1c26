#pragma once
// Bodies as kernels see them, refreshed from the state once per evaluation.
#include <vector>

#include "base/gang.h"
#include "base/lanes.h"
#include "model/model.h"

/// Lanes are numbers to Eigen: small matrices of them are what kernels work on.
template <>
struct Eigen::NumTraits<rotule::FloatLanes> : Eigen::NumTraits<float> {
  using Real = rotule::FloatLanes;
  using NonInteger = rotule::FloatLanes;
  using Nested = rotule::FloatLanes;
  using Literal = rotule::FloatLanes;
};

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

/// The mass of bodies that fluid couples, six rows each in the order of the model's group, in world axes.
struct MassGroup {
  MatX mass, inverse;
};

struct Kinematics {
  std::vector<BodyLanes<double>> bodies;  // and, behind them, the particles that joints hold, which do not turn
  std::vector<Mat3> inverse_inertia;      // of bodies, in world axes
  std::vector<Mat6> inverse_mass;         // of bodies in a fluid, with what it adds; none where no body has added mass
  std::vector<MassGroup> groups;          // of the model's groups that fluid couples; M^-1 has blocks between their bodies
  BodyLanes<double> world;                // the partner that never moves
  std::vector<Vec6> given;                // accelerations of bodies that a motion is prescribed to; none where there are none

  [[nodiscard]] const BodyLanes<double>& operator[](int body) const { return body == world_body ? world : bodies[body]; }
  void update(const Model& model, const State& state, Gang* gang = nullptr);
  /// Likewise; bodies whose motion is prescribed stand where they are at that time, whatever the state says.
  void update(const Model& model, const State& state, double t, Gang* gang = nullptr);
  /// The velocity of a body that moves without being moved, and its acceleration.
  [[nodiscard]] Vec6 velocity(int body) const {
    Vec6 u;
    u << bodies[body].v, bodies[body].omega;
    return u;
  }
  [[nodiscard]] Vec6 given_acceleration(int body) const { return given.empty() ? Vec6(Vec6::Zero()) : given[body]; }
  /// out = M^-1 f for bodies, of the size of f; they may be the same. Particles are left to others.
  void divide_by_mass(const Model& model, const VecX& f, VecX& out, Gang* gang = nullptr) const;
  /// The partner's own block of M^-1, full where bodies have added mass (the problem is then `coupled`). No row of a particle has
  /// an angular part: what stands there is never felt, but keeps the block regular.
  void write_inverse_mass(const Model& model, int partner, Mat6& W) const {
    if (!inverse_mass.empty() && !model.is_particle(partner)) {
      W = inverse_mass[partner];
      return;
    }
    const double inverse =
        model.is_particle(partner) ? model.particles.inverse_mass[model.particle_of(partner)] : model.inverse_mass[partner];
    W.topLeftCorner<3, 3>() = inverse * Mat3::Identity();
    if (model.is_particle(partner))
      W.bottomRightCorner<3, 3>() = inverse * Mat3::Identity();
    else
      W.bottomRightCorner<3, 3>() = inverse_inertia[partner];
  }
};

}  // namespace rotule
