#pragma once
// Bodies as constraint functions see them: points, directions and velocities that they carry, in numbers that know how they
// change as the bodies move (moving_number.h).
#include <rotule/moving_vector.h>

#include <array>
#include <cmath>
#include <span>
#include <string>

namespace rotule {

/// A vector that bodies carry, such as a point of one or the way between two: its gradients are known by a lever per body, and
/// cost next to nothing until somebody asks for a component. It is a MovingVec3 wherever one is wanted.
class CarriedVec3 {
 public:
  using Part = CarriedPart;  // how one body moves it

  Vec3 now, first, second;  // it, and its first two derivatives along the motion
  bool of_velocities = false;
  int parts = 0;
  MovingRecord* record = nullptr;              // as in Moving
  mutable int number = -1;                     // there, once something was made of it
  std::array<Part, Moving::most_bodies> part;  // NOLINT: the first `parts`, by rising bodies

  CarriedVec3(const Vec3& value, const Vec3& d, const Vec3& dd) : now(value), first(d), second(dd) {}  // NOLINT
  CarriedVec3(const CarriedVec3& o)                                                                    // NOLINT
      : now(o.now),
        first(o.first),
        second(o.second),
        of_velocities(o.of_velocities),
        parts(o.parts),
        record(o.record),
        number(o.number) {
    for (int k = 0; k < parts; ++k) part[k] = o.part[k];
  }
  ~CarriedVec3() = default;
  CarriedVec3& operator=(const CarriedVec3& o) {  // NOLINT: to itself it changes nothing
    now = o.now;
    first = o.first;
    second = o.second;
    of_velocities = o.of_velocities;
    parts = o.parts;
    record = o.record;
    number = o.number;
    for (int k = 0; k < parts; ++k) part[k] = o.part[k];
    return *this;
  }

  [[nodiscard]] Moving component(int k) const {
    Moving out(now[k]);
    out.first = first[k];
    out.second = second[k];
    out.of_velocities = of_velocities;
    if (record) {
      out.record = record;
      out.slot = record->component(number_in(*record), k);
      return out;
    }
    for (int n = 0; n < parts; ++n) {
      const Part& own = part[n];
      Moving::Gradient& by = own_gradient(own.body, out);
      by.fill(0);
      by[k] = own.move;
      by[3 + k] = own.turn;
      by[3 + (k + 1) % 3] = own.lever[(k + 2) % 3];
      by[3 + (k + 2) % 3] = -own.lever[(k + 1) % 3];
    }
    return out;
  }
  [[nodiscard]] Moving x() const { return component(0); }
  [[nodiscard]] Moving y() const { return component(1); }
  [[nodiscard]] Moving z() const { return component(2); }
  [[nodiscard]] Vec3 value() const { return now; }
  operator MovingVec3() const { return MovingVec3(x(), y(), z()); }  // NOLINT: meant to be implicit

  [[nodiscard]] Moving dot(const CarriedVec3& o) const {
    Moving out(now[0] * o.now[0]);
    out.first = now[0] * o.first[0] + first[0] * o.now[0];
    out.second = now[0] * o.second[0] + 2 * first[0] * o.first[0] + second[0] * o.now[0];
    for (int k = 1; k < 3; ++k) {
      out.value += now[k] * o.now[k];
      out.first += now[k] * o.first[k] + first[k] * o.now[k];
      out.second += now[k] * o.second[k] + 2 * first[k] * o.first[k] + second[k] * o.now[k];
    }
    out.of_velocities = of_velocities || o.of_velocities;
    if (record || o.record) {
      note_product(o, out);
      return out;
    }
    int a = 0, b = 0;
    while (a < parts || b < o.parts) {
      const int body = b == o.parts || (a < parts && part[a].body <= o.part[b].body) ? part[a].body : o.part[b].body;
      Moving::Gradient& by = own_gradient(body, out);
      const bool mine = a < parts && part[a].body == body;
      if (mine) write_along(part[a++], o.now, by);
      if (b < o.parts && o.part[b].body == body) {
        if (mine) {
          Moving::Gradient more;  // NOLINT: written next
          write_along(o.part[b++], now, more);
          for (std::size_t k = 0; k < 6; ++k) by[k] += more[k];
        } else {
          write_along(o.part[b++], now, by);
        }
      }
    }
    return out;
  }
  [[nodiscard]] Moving dot(const MovingVec3& o) const { return MovingVec3(*this).dot(o); }
  [[nodiscard]] Moving dot(const Vec3& o) const { return dot(CarriedVec3(o, Vec3::Zero(), Vec3::Zero())); }
  [[nodiscard]] MovingVec3 cross(const MovingVec3& o) const { return MovingVec3(*this).cross(o); }
  [[nodiscard]] Moving squared_norm() const {
    Moving out(0.0);
    for (int k = 0; k < 3; ++k) {
      out.value += now[k] * now[k];
      out.first += 2 * now[k] * first[k];
      out.second += 2 * (first[k] * first[k] + now[k] * second[k]);
    }
    out.of_velocities = of_velocities;
    if (record)
      note_product(*this, out);
    else
      along(2 * now, out);
    return out;
  }
  [[nodiscard]] Moving norm() const {
    double squares = 0, rate = 0, bend = 0;
    for (int k = 0; k < 3; ++k) {
      squares += now[k] * now[k];
      rate += now[k] * first[k];
      bend += first[k] * first[k] + now[k] * second[k];
    }
    Moving out(std::sqrt(squares));
    const double inverse = 1 / out.value;
    out.first = rate * inverse;
    out.second = (bend - out.first * out.first) * inverse;
    out.of_velocities = of_velocities;
    if (record) {
      Moving square(squares);
      note_product(*this, square);
      out.note_root(square);
    } else {
      along(now * inverse, out);
    }
    return out;
  }

  friend CarriedVec3 operator+(const CarriedVec3& a, const CarriedVec3& b) { return sum<1>(a, b); }
  friend CarriedVec3 operator-(const CarriedVec3& a, const CarriedVec3& b) { return sum<-1>(a, b); }
  friend CarriedVec3 operator-(const CarriedVec3& a) { return -1.0 * a; }
  friend CarriedVec3 operator+(const CarriedVec3& a, const Vec3& b) {
    CarriedVec3 out(a);
    out.now += b;
    return out;
  }
  friend CarriedVec3 operator+(const Vec3& a, const CarriedVec3& b) { return b + a; }
  friend CarriedVec3 operator-(const CarriedVec3& a, const Vec3& b) {
    CarriedVec3 out(a);
    out.now -= b;
    return out;
  }
  friend CarriedVec3 operator-(const Vec3& a, const CarriedVec3& b) { return -b + a; }
  friend CarriedVec3 operator*(double s, const CarriedVec3& a) {
    CarriedVec3 out(s * a.now, s * a.first, s * a.second);
    out.of_velocities = a.of_velocities;
    out.record = a.record;
    out.parts = a.parts;
    for (int k = 0; k < a.parts; ++k) out.part[k] = {a.part[k].body, s * a.part[k].move, s * a.part[k].turn, s * a.part[k].lever};
    return out;
  }
  // Everything else is done by components.
  friend MovingVec3 operator+(const CarriedVec3& a, const MovingVec3& b) { return MovingVec3(a) + b; }
  friend MovingVec3 operator+(const MovingVec3& a, const CarriedVec3& b) { return a + MovingVec3(b); }
  friend MovingVec3 operator-(const CarriedVec3& a, const MovingVec3& b) { return MovingVec3(a) - b; }
  friend MovingVec3 operator-(const MovingVec3& a, const CarriedVec3& b) { return a - MovingVec3(b); }
  friend MovingVec3 operator*(const Moving& s, const CarriedVec3& a) { return s * MovingVec3(a); }

 private:
  int number_in(MovingRecord& in) const {
    if (number < 0) number = in.add_vector(now, part.data(), parts);
    return number;
  }
  /// Of a record alone: that `out` is the product of both.
  void note_product(const CarriedVec3& o, Moving& out) const {
    out.record = record ? record : o.record;
    const int own = number_in(*out.record);
    out.slot = out.record->add_product(own, o.number_in(*out.record));
  }
  /// The gradient by that body; by those before it that have none yet it is zero.
  static Moving::Gradient& own_gradient(int body, Moving& out) {
    for (int b = out.bodies; b < body; ++b) out.by_body[b].fill(0);
    out.bodies = body + 1;
    return out.by_body[body];
  }
  /// The gradient of the component along d.
  static void write_along(const Part& part, const Vec3& d, Moving::Gradient& by) {
    const Vec3& r = part.lever;
    for (int k = 0; k < 3; ++k) by[k] = part.move * d[k];
    by[3] = r[1] * d[2] - r[2] * d[1];
    by[4] = r[2] * d[0] - r[0] * d[2];
    by[5] = r[0] * d[1] - r[1] * d[0];
    if (part.turn != 0)
      for (int k = 0; k < 3; ++k) by[3 + k] += part.turn * d[k];
  }
  void along(const Vec3& d, Moving& out) const {
    for (int n = 0; n < parts; ++n) write_along(part[n], d, own_gradient(part[n].body, out));
  }
  template <int sign>
  static CarriedVec3 sum(const CarriedVec3& a, const CarriedVec3& b) {
    constexpr double s = sign;
    CarriedVec3 out(a.now + s * b.now, a.first + s * b.first, a.second + s * b.second);
    out.of_velocities = a.of_velocities || b.of_velocities;
    out.record = a.record ? a.record : b.record;
    int i = 0, j = 0;
    while (i < a.parts || j < b.parts) {
      Part& to = out.part[out.parts++];
      if (j == b.parts || (i < a.parts && a.part[i].body < b.part[j].body)) {
        to = a.part[i++];
      } else {
        const Part& from = b.part[j++];
        to = {from.body, s * from.move, s * from.turn, s * from.lever};
        if (i == a.parts || a.part[i].body != from.body) continue;
        to.move += a.part[i].move;
        to.turn += a.part[i].turn;
        to.lever += a.part[i++].lever;
      }
    }
    return out;
  }
};

/// A body as a constraint function sees it. Points and directions are given in the body's frame, as `position` of the scene has
/// it; what comes back is in the world. A particle is the point at its origin; the world has the world's axes.
class MovingBody {
 public:
  // The engine fills these in.
  Vec3 p = Vec3::Zero();                        // of the centre of mass
  Vec3 offset = Vec3::Zero();                   // from there to the frame's origin, in body axes
  Mat3 R = Mat3::Identity();                    // body to world
  Vec3 v = Vec3::Zero(), omega = Vec3::Zero();  // its velocities
  Vec3 dp = Vec3::Zero(), turn = Vec3::Zero();  // the motion along which numbers are differentiated: as a rule the same
  int index = 0;                                // among the function's bodies
  bool by_motion = false;                       // whether gradients are by small motions
  bool by_velocity = false;                     // whether gradients are by velocities
  bool turns = true;
  MovingRecord* record = nullptr;  // where numbers are to write down how they were made, in place of gradients

  /// Where a point of the body stands.
  [[nodiscard]] CarriedVec3 point(const Vec3& r = Vec3::Zero()) const {
    const Vec3 rho = R * (r + offset), swing = turn.cross(rho);
    CarriedVec3 out(p + rho, dp + swing, turn.cross(swing));
    if (by_motion) carry(1, 0, rho, out);
    return out;
  }
  /// Where a direction that it carries points.
  [[nodiscard]] CarriedVec3 direction(const Vec3& d) const {
    const Vec3 rho = R * d, swing = turn.cross(rho);
    CarriedVec3 out(rho, swing, turn.cross(swing));
    if (by_motion) carry(0, 0, rho, out);
    return out;
  }
  /// The velocity of a point of the body. Functions that ask for velocities are constraints on velocities, linear in them.
  [[nodiscard]] CarriedVec3 velocity(const Vec3& r = Vec3::Zero()) const {
    const Vec3 rho = R * (r + offset);
    CarriedVec3 out(v + omega.cross(rho), omega.cross(turn.cross(rho)), Vec3::Zero());
    out.of_velocities = true;
    if (by_velocity) carry(1, 0, rho, out);
    return out;
  }
  /// Its angular velocity.
  [[nodiscard]] CarriedVec3 spin() const {
    CarriedVec3 out(omega, Vec3::Zero(), Vec3::Zero());
    out.of_velocities = true;
    if (by_velocity) carry(0, 1, Vec3::Zero(), out);
    return out;
  }
  /// The velocity that the body has where `where` stands, which need not be one of its points: of a wheel at the point of touch.
  [[nodiscard]] MovingVec3 velocity_at(const MovingVec3& where) const {
    return MovingVec3(velocity()) + MovingVec3(spin()).cross(where - MovingVec3(point()));
  }

  /// One coordinate of where a point of the body stands.
  [[nodiscard]] Moving coordinate(int k, const Vec3& r = Vec3::Zero()) const { return point(r).component(k); }
  [[nodiscard]] Moving x() const { return coordinate(0); }
  [[nodiscard]] Moving y() const { return coordinate(1); }
  [[nodiscard]] Moving z() const { return coordinate(2); }

 private:
  /// What does not turn, turns nothing.
  void carry(double move, double turned, const Vec3& lever, CarriedVec3& out) const {
    out.parts = 1;
    out.record = record;
    if (turns)
      out.part[0] = {index, move, turned, lever};
    else
      out.part[0] = {index, move, 0, Vec3::Zero()};
  }
};

/// The bodies of a constraint, in the order in which they were named: q[0], q[1], ...
using MovingBodies = std::span<const MovingBody>;

/// A parameter of a constraint function, such as the place along a curve: whatever value closes the constraint best. Each takes
/// one equation away.
struct ConstraintParameter {
  std::string name = {};
  double from = 0, to = 1;
  bool periodic = false;  // whether `to` is where `from` is

  friend bool operator==(const ConstraintParameter&, const ConstraintParameter&) = default;
};

}  // namespace rotule
