#pragma once
// Flow fields (rotule/flow.h), compiled: the velocity of the fluid at a place and a time, with its derivatives by both. All but
// those from files are closed forms; nothing is remembered between calls and nothing allocated.
#include <rotule/flow.h>

#include <functional>
#include <span>
#include <variant>
#include <vector>

namespace rotule {

struct FlowAt {
  Vec3 u = Vec3::Zero();         // m/s
  Mat3 gradient = Mat3::Zero();  // du_i/dx_j
  Vec3 rate = Vec3::Zero();      // du/dt at a fixed place

  /// Of the fluid's own parts, Du/Dt.
  [[nodiscard]] Vec3 acceleration() const { return rate + gradient * u; }
};

/// What waves make of a still surface above or below a place.
struct SurfaceAt {
  double elevation = 0;       // m
  Vec3 slope = Vec3::Zero();  // its gradient over the still level
};

/// A velocity and its derivative as functions of time alone.
using TimeVelocity = std::function<void(double t, Vec3& u, Vec3& rate)>;

/// Adds what a computed flow is at a place; throws Error where it does not reach.
using FlowSource = std::function<void(const Vec3& x, FlowAt& out)>;

/// One plane wave of a turbulent field.
struct TurbulentWave {
  Vec3 k, amplitude;
  double frequency, phase;
};

class FlowField {
 public:
  /// `velocity` is that of a uniform flow, whose expressions others have read; the rest is in the definition.
  explicit FlowField(const FlowDef& definition, TimeVelocity velocity = {});

  void add(const Vec3& x, double t, FlowAt& out) const;
  /// Whether it is that of the scene's fluid, which somebody else moves: at rest but where there is a source to ask, which has
  /// to last while the flow is asked.
  [[nodiscard]] bool computed() const { return std::holds_alternative<ComputedFlow>(definition_); }
  void ask(const FlowSource* source) { source_ = source; }
  /// Of waves alone.
  void add_surface(const Vec3& x, double t, SurfaceAt& out) const;

 private:
  FlowDef definition_;  // directions of length one
  TimeVelocity velocity_;
  std::vector<TurbulentWave> waves_;
  double wave_number_ = 0, wave_frequency_ = 0;  // of water waves
  const FlowSource* source_ = nullptr;           // of a computed flow
};

/// The sum of those fields.
FlowAt flow_at(std::span<const FlowField> fields, std::span<const int> which, const Vec3& x, double t);

}  // namespace rotule
