#pragma once
// Particles against bodies. Once per step, and again where somebody went further than was looked at, all pairs of particles and
// parts of bodies that may meet are found, each with a plane that parts it: convex things that a plane parts do not touch,
// however old the plane is. In a substep only who is through his plane is looked at: where he has gone far since the plane was
// found, it is made anew at the place of his way where he meets the part, if he does; then he is pushed back to the plane, held
// by friction under Coulomb's cone, and the body gets the opposite impulse. What is pushed out from an overlap gets no speed of
// it.
#include <span>
#include <vector>

#include "collide/collision_world.h"
#include "model/model.h"
#include "step/realtime/soft/met_bodies.h"
#include "step/realtime/soft/particle_lines.h"

namespace rotule::realtime {

/// What contacts of particles did in a step, J.
struct SoftWork {
  double normal = 0, friction = 0, led = 0;
};

class BodyTouches {
 public:
  explicit BodyTouches(const Model& model);

  /// Shapes of bodies anew, after they came or went.
  void gather_shapes();
  /// Whether any particle may ever meet a body.
  [[nodiscard]] bool any() const { return !points_.empty() && !parts_.empty(); }

  /// Who may meet in what is left of a step, `rest`, at the start of a substep.
  void find(const State& s, const ParticleLines& lines, const BodyLines& bodies, double rest);
  /// Whether somebody will have gone further in this substep than was looked at.
  [[nodiscard]] bool outrun(const ParticleLines& lines, float h) const;
  /// Bodies as they are, at the start of a substep.
  void read_bodies(const BodyLines& bodies);
  /// Before springs: gives those who rest on bodies these bodies' inertia (ParticleLines::held). An impulse on a particle stops
  /// the particle alone: without this a light cloth would yield under a heavy body as if it were as stiff as m/h^2.
  void hold(ParticleLines& lines);
  /// After them: gives bodies what they bore.
  void bear(ParticleLines& lines, float h);
  /// Takes particles out of bodies.
  void push(const State& s, ParticleLines& lines, float h, double push_speed);
  /// Velocities after that; gives bodies what they got.
  void settle(ParticleLines& lines, BodyLines& bodies, float h);
  /// Takes it back, at the next substep's start.
  void take_back(BodyLines& bodies);
  /// What contacts did in a substep that is over.
  void book(const ParticleLines& lines, const BodyLines& bodies, float h, SoftWork& work);
  /// Those who were pushed in the last substep.
  [[nodiscard]] int touching() const { return touching_; }

 private:
  struct Part {
    int body = -1;
    const CollisionPart* part = nullptr;
    double fresh = 0;  // m: how far one may go along it before its plane is made anew
    Aabb box;          // on its way
    double reach = 0;  // m, that was looked at
  };
  struct Point {
    int particle = -1, surface = -1;
    float radius = 0, reach = 0;                        // of its rounding; that was looked at
    Eigen::Vector3f seen_at = Eigen::Vector3f::Zero();  // moved, when it was
  };
  struct Touch {
    int line = 0, body = 0, part = 0, triangle = 0;  // body: among those met
    Eigen::Vector3f apart, normal, lever;  // from the point of the plane, and to it from the centre of mass, at the step's start
    Eigen::Vector3f seen;                  // how far it had come along the body when the plane was made
    float radius = 0, fresh = 0, friction = 0, static_friction = 0;
    // Of the substep.
    float pressed = 0;                                  // kg m: h times its impulse
    float borne = 0;                                    // likewise, by way of springs
    Eigen::Vector3f dragged = Eigen::Vector3f::Zero();  // and of that what is along the plane, on the body
    ParticleLine was;                                   // of who sticks, before springs
    bool sticks = false;                                // whether friction held it
    bool holds = false;                                 // whether it rests there
    bool known = false;                                 // whether it meets
    float depth = 0;                                    // at its start
    Eigen::Vector3f rubbed = Eigen::Vector3f::Zero();   // kg m, along the plane
  };

  /// To the particle from the centre of mass.
  [[nodiscard]] static Eigen::Vector3f arm_of(const MetBody& met, const Touch& touch);
  [[nodiscard]] Frame frame_of(const State& s, const MetBody& met) const;
  bool look_anew(const State& s, const ParticleLines& lines, float h, Touch& touch, double push_speed) const;
  void put_plane(const State& s, const MetBody& met, const Vec3& normal, const Vec3& on, int line, Touch& out) const;
  /// h times an impulse to a particle, and its opposite to the body.
  static void give(const Eigen::Vector3f& impulse, const Eigen::Vector3f& arm, float h, float* moved, MetBody& met);
  /// Friction, against what it slid in this substep.
  void rub(ParticleLines& lines, float h, Touch& touch);
  void push_one(const State& s, ParticleLines& lines, float h, double push_speed, Touch& touch);

  const Model& model_;
  std::vector<CollisionShape> shapes_;
  std::vector<Part> parts_;
  std::vector<Point> points_;
  std::vector<Aabb> chunks_;  // around so many points each
  std::vector<MetBody> met_;
  std::vector<int> met_place_;  // per body, or -1
  std::vector<Touch> touches_;
  std::vector<Aabb> boxes_;
  std::vector<int> pressing_;  // touches, in the last substep
  std::vector<int> holding_;   // and those that hold
  int touching_ = 0;
};

}  // namespace rotule::realtime
