#pragma once
// Synthetic contact problems (D1 to D3): bodies under gravity, contacts with normals from the first body to the second, joints,
// limits and motors, over one step h at velocity level. Shared by the tests and the benchmarks of solvers.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "problem/delassus.h"

namespace rotule::testing {

/// Friction of the contacts that a scene adds from here on.
struct ContactLaw {
  double mu = 0.5;
  bool cone = true;
  double torsional = 0;  // m; 0 leaves the row out
  double rolling = 0;    // m; 0 leaves the two rows out
};

class ContactScene {
 public:
  ContactLaw law;
  Vec3 gravity{0, 0, -9.81};
  double h = 1.0 / 60;
  double compliance = 0;  // C of contact rows

  struct Body {
    Vec3 position, velocity, angular_velocity;
    double mass;
    Mat3 inertia;
  };

  int add_box(double mass, const Vec3& half, const Vec3& position, const Vec3& velocity = Vec3::Zero()) {
    const Vec3 s = half.cwiseProduct(half);
    const Vec3 moments = mass / 3 * Vec3(s.y() + s.z(), s.z() + s.x(), s.x() + s.y());
    return add(Body{position, velocity, Vec3::Zero(), mass, moments.asDiagonal()});
  }
  int add_sphere(double mass, double radius, const Vec3& position, const Vec3& velocity = Vec3::Zero()) {
    return add(Body{position, velocity, Vec3::Zero(), mass, 0.4 * mass * radius * radius * Mat3::Identity()});
  }
  Body& body(int i) { return bodies_[i]; }

  /// `normal` points from a to b; -1 is what never moves. `gap` is the distance still open.
  void add_contact(int a, int b, const Vec3& point, const Vec3& normal, double gap = 0) {
    Rows rows{.a = a, .b = b};
    Vec3 axes[3] = {normal.normalized(), {}, {}};
    axes[1] = axes[0].unitOrthogonal();
    axes[2] = axes[0].cross(axes[1]);
    for (const Vec3& axis : axes) rows.add_linear(axis, arm(a, point), arm(b, point));
    rows.lower[0] = 0;
    rows.error[0] = gap;
    rows.groups.push_back({1, 2, 0, law.cone, law.mu});
    if (law.torsional > 0) {
      rows.groups.push_back({rows.count, 1, 0, law.cone, law.torsional});
      rows.add_angular(axes[0]);
    }
    if (law.rolling > 0) {
      rows.groups.push_back({rows.count, 2, 0, law.cone, law.rolling});
      rows.add_angular(axes[1]);
      rows.add_angular(axes[2]);
    }
    rows.compliance = compliance;
    rows_.push_back(rows);
  }

  /// Three rows: the points of both bodies stay together.
  void add_ball_joint(int a, int b, const Vec3& point) {
    Rows rows{.a = a, .b = b};
    for (int k = 0; k < 3; ++k) rows.add_linear(Vec3::Unit(k), arm(a, point), arm(b, point));
    rows_.push_back(rows);
  }

  /// Five rows: a turn about the axis is left.
  void add_hinge(int a, int b, const Vec3& point, const Vec3& axis) {
    Rows rows{.a = a, .b = b};
    for (int k = 0; k < 3; ++k) rows.add_linear(Vec3::Unit(k), arm(a, point), arm(b, point));
    const Vec3 t = axis.unitOrthogonal();
    rows.add_angular(t);
    rows.add_angular(axis.normalized().cross(t));
    rows_.push_back(rows);
  }

  /// One row on the relative turn about an axis: towards `speed`, with impulses in [lower, upper]. A limit is [0, inf) at speed
  /// 0, a motor or dry friction [-T h, T h].
  void add_angular_row(int a, int b, const Vec3& axis, double lower, double upper, double speed = 0) {
    Rows rows{.a = a, .b = b};
    rows.add_angular(axis.normalized());
    rows.lower[0] = lower;
    rows.upper[0] = upper;
    rows.error[0] = -speed * h;
    rows_.push_back(rows);
  }

  /// b = -J (v + h g) - error / h.
  [[nodiscard]] ConstraintProblem problem() const {
    ConstraintProblem p;
    int total = 0;
    for (const Rows& rows : rows_) total += rows.count;
    p.resize(static_cast<int>(bodies_.size()), total);
    p.h = h;
    VecX v(6 * bodies_.size());
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      p.inverse_mass[i].setZero();
      p.inverse_mass[i].topLeftCorner<3, 3>() = Mat3::Identity() / bodies_[i].mass;
      p.inverse_mass[i].bottomRightCorner<3, 3>() = bodies_[i].inertia.diagonal().cwiseInverse().asDiagonal();
      v.segment<3>(6 * Eigen::Index(i)) = bodies_[i].velocity + h * gravity;
      v.segment<3>(6 * Eigen::Index(i) + 3) = bodies_[i].angular_velocity;
    }
    int row = 0;
    for (const Rows& rows : rows_) {
      p.blocks.push_back({row, rows.count, rows.a, rows.b, static_cast<int>(p.blocks.size())});
      for (const FrictionRows& g : rows.groups) p.friction.push_back({row + g.first_row, g.count, row, g.cone, g.mu});
      for (int k = 0; k < rows.count; ++k, ++row) {
        // The side of an immovable partner must not be read: poison it.
        p.J_a.row(row).setConstant(std::nan(""));
        p.J_b.row(row).setConstant(std::nan(""));
        p.b[row] = -rows.error[k] / h;
        if (rows.a >= 0) p.J_a.row(row) = -rows.J_a[k].transpose(), p.b[row] -= p.J_a.row(row).dot(v.segment<6>(6 * rows.a));
        if (rows.b >= 0) p.J_b.row(row) = rows.J_b[k].transpose(), p.b[row] -= p.J_b.row(row).dot(v.segment<6>(6 * rows.b));
        p.lower[row] = rows.lower[k];
        p.upper[row] = rows.upper[k];
        p.C[row] = rows.compliance;
      }
    }
    return p;
  }

 private:
  struct Rows {
    int a = -1, b = -1, count = 0;
    Vec6 J_a[6] = {}, J_b[6] = {};
    double lower[6] = {}, upper[6] = {}, error[6] = {};
    double compliance = 0;
    std::vector<FrictionRows> groups = {};

    void add_linear(const Vec3& d, const Vec3& r_a, const Vec3& r_b) {
      J_a[count] << d, r_a.cross(d);
      J_b[count] << d, r_b.cross(d);
      next();
    }
    void add_angular(const Vec3& d) {
      J_a[count] << Vec3::Zero(), d;
      J_b[count] << Vec3::Zero(), d;
      next();
    }
    void next() {
      lower[count] = -infinity;
      upper[count] = infinity;
      ++count;
    }
  };

  int add(const Body& body) {
    bodies_.push_back(body);
    return static_cast<int>(bodies_.size()) - 1;
  }
  [[nodiscard]] Vec3 arm(int i, const Vec3& point) const { return i < 0 ? Vec3::Zero() : Vec3(point - bodies_[i].position); }

  std::vector<Body> bodies_;
  std::vector<Rows> rows_;
};

/// The four corners of the face between a box and what is below it; -1 is the floor.
inline void add_face_contacts(ContactScene& scene, int below, int above, const Vec3& centre, double half_x, double half_y) {
  for (const double sx : {-1.0, 1.0})
    for (const double sy : {-1.0, 1.0})
      scene.add_contact(below, above, centre + Vec3(sx * half_x, sy * half_y, 0), Vec3::UnitZ());
}

/// Boxes of half a metre on each other, four contacts per face; the last one weighs `top_mass`, all are pushed sideways.
inline ConstraintProblem box_stack(int boxes, ContactLaw law = {}, double top_mass = 1, double push = 0.05) {
  ContactScene scene;
  scene.law = law;
  for (int i = 0; i < boxes; ++i) {
    const double mass = i + 1 == boxes ? top_mass : 1.0;
    scene.add_box(mass, Vec3::Constant(0.25), Vec3(0, 0, 0.25 + 0.5 * i), Vec3(push * (i + 1), 0.3 * push * i, 0));
    add_face_contacts(scene, i - 1, i, Vec3(0, 0, 0.5 * i), 0.25, 0.25);
  }
  return scene.problem();
}

/// A wall of bricks, each on two of the row below, as in masonry.
inline ConstraintProblem brick_wall(int columns, int layers, ContactLaw law = {.mu = 1}) {
  ContactScene scene;
  scene.law = law;
  const Vec3 half(0.2, 0.1, 0.1);
  for (int k = 0; k < layers; ++k)
    for (int i = 0; i < columns; ++i) {
      const double x = 2 * half.x() * i + (k % 2 ? half.x() : 0.0), z = half.z() * (2 * k + 1);
      const int body = scene.add_box(1, half, Vec3(x, 0, z), Vec3(0, 0.02 * k, 0));
      const double floor = z - half.z();
      if (k == 0) {
        add_face_contacts(scene, -1, body, Vec3(x, 0, floor), half.x(), half.y());
        continue;
      }
      const int left = k % 2 ? i : i - 1;  // of the layer below
      for (const int j : {left, left + 1})
        if (j >= 0 && j < columns)
          add_face_contacts(scene, (k - 1) * columns + j, body, Vec3(x + (j == left ? -1 : 1) * half.x() / 2, 0, floor),
                            half.x() / 2, half.y());
    }
  return scene.problem();
}

/// Spheres of random sizes and masses (10^(+- spread/2)) thrown together: contacts wherever two are nearer than a tenth of a
/// radius, open gaps included, on a floor.
inline ConstraintProblem sphere_pile(int count, ContactLaw law = {}, unsigned seed = 1, double log10_mass_spread = 0) {
  ContactScene scene;
  scene.law = law;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const int side = std::max(1, int(std::cbrt(count)));
  std::vector<double> radii;
  for (int i = 0; i < count; ++i) {
    const double radius = 0.25 + 0.02 * unit(random);
    const int layer = i / (side * side), in_layer = i % (side * side);
    const double shift = layer % 2 ? 0.25 : 0.0;
    const Vec3 jitter(0.02 * unit(random), 0.02 * unit(random), 0.02 * unit(random));
    const Vec3 place(0.5 * (in_layer % side) + shift, 0.5 * (in_layer / side) + shift, 0.26 + 0.36 * layer);
    const Vec3 velocity(0.3 * unit(random), 0.3 * unit(random), 0.3 * unit(random));
    const int body = scene.add_sphere(std::pow(10.0, 0.5 * log10_mass_spread * unit(random)), radius, place + jitter, velocity);
    radii.push_back(radius);
    const Vec3 p = scene.body(body).position;
    if (p.z() < radius + 0.025) scene.add_contact(-1, body, Vec3(p.x(), p.y(), 0), Vec3::UnitZ(), std::max(0.0, p.z() - radius));
    for (int j = 0; j < body; ++j) {
      const Vec3 q = scene.body(j).position;
      const double distance = (p - q).norm(), gap = distance - radius - radii[j];
      if (gap < 0.025) scene.add_contact(j, body, q + (p - q) * (radii[j] / distance), p - q, std::max(0.0, gap));
    }
  }
  return scene.problem();
}

/// Links joined by balls, lying on the floor by both ends, one end dragged along.
inline ConstraintProblem chain_on_floor(int links, ContactLaw law = {}) {
  ContactScene scene;
  scene.law = law;
  for (int i = 0; i < links; ++i) {
    const Vec3 centre(0.4 * i, 0.02 * std::sin(i), 0.05);
    const int link =
        scene.add_box(1 + 0.5 * (i % 3), Vec3(0.2, 0.05, 0.05), centre, i + 1 == links ? Vec3(1, 0.4, 0) : Vec3::Zero());
    if (i) scene.add_ball_joint(i - 1, i, centre - Vec3(0.2, 0, 0));
    for (const double end : {-0.19, 0.19}) scene.add_contact(-1, link, centre + Vec3(end, 0, -0.05), Vec3::UnitZ());
  }
  return scene.problem();
}

/// A hinged arm hung from the ceiling, with a limit that is hit, one that is not, a motor too weak for its speed and dry
/// friction; its last link leans on the floor.
inline ConstraintProblem jointed_arm(int links, ContactLaw law = {}) {
  ContactScene scene;
  scene.law = law;
  for (int i = 0; i < links; ++i) {
    const Vec3 centre(0.3 * (i + 0.5), 0, 1 - 0.02 * i);
    const int link = scene.add_box(1.0 / (i + 1), Vec3(0.15, 0.03, 0.03), centre);
    const Vec3 axis = i % 2 ? Vec3(0, 1, 0.3) : Vec3(0, 1, 0);
    scene.body(link).angular_velocity = Vec3(0, 0.5 * std::cos(i), 0.1);
    scene.add_hinge(i - 1, link, centre - Vec3(0.15, 0, 0), axis);
    const double h = scene.h;
    switch (i % 4) {
      case 0:
        scene.add_angular_row(i - 1, link, axis, 0, infinity);
        break;
      case 1:
        scene.add_angular_row(i - 1, link, axis, -infinity, 0);
        break;
      case 2:
        scene.add_angular_row(i - 1, link, axis, -0.5 * h, 0.5 * h, 3.0);
        break;
      default:
        scene.add_angular_row(i - 1, link, axis, -0.2 * h, 0.2 * h);
        break;
    }
  }
  const Vec3 tip = scene.body(links - 1).position + Vec3(0.15, 0, -0.03);
  scene.add_contact(-1, links - 1, tip, Vec3(0.1, 0, 1));
  scene.add_contact(-1, links - 1, tip + Vec3(0, 0.02, 0), Vec3(0.1, 0, 1));
  return scene.problem();
}

/// A heavy box on a column of light ones.
inline ConstraintProblem heavy_on_light(int light, double heavy_mass, ContactLaw law = {}) {
  return box_stack(light + 1, law, heavy_mass, 0.0);
}

/// A block at rest on a slope (four contacts), pulled along the slope by gravity at `direction` to the first tangent, and its
/// answer: after one step it moves at `speed` down the slope. Below the friction angle that is 0; above it, with a cone,
/// h g (sin a - mu cos a). The contacts sum to the block's weight whatever their share.
struct SlopeProblem {
  ConstraintProblem problem;
  Vec3 downhill;     // unit vector in the plane of contact
  double speed = 0;  // along it, after the step
};
inline SlopeProblem block_on_slope(double angle, ContactLaw law = {}, double direction = 0) {
  ContactScene scene;
  scene.law = law;
  const Vec3 t = Vec3::UnitZ().unitOrthogonal(), s = Vec3::UnitZ().cross(t);
  SlopeProblem out;
  out.downhill = std::cos(direction) * t + std::sin(direction) * s;
  scene.gravity = 9.81 * (-std::cos(angle) * Vec3::UnitZ() + std::sin(angle) * out.downhill);
  const int block = scene.add_box(2, Vec3(0.5, 0.5, 0.01), Vec3(0, 0, 0.01));  // flat, so that it does not tip
  add_face_contacts(scene, -1, block, Vec3::Zero(), 0.5, 0.5);
  out.problem = scene.problem();
  out.speed = std::max(0.0, scene.h * 9.81 * (std::sin(angle) - law.mu * std::cos(angle)));
  return out;
}

/// What is left of it without friction: joints, and the first row of each contact.
inline ConstraintProblem normals_alone(const ConstraintProblem& p) {
  const auto kept = [&](const ConstraintBlock& block) { return p.lower[block.first_row] == 0 ? 1 : block.rows; };
  ConstraintProblem out;
  int rows = 0;
  for (const ConstraintBlock& block : p.blocks) rows += kept(block);
  out.resize(p.bodies(), rows);
  out.inverse_mass = p.inverse_mass;
  out.h = p.h;
  int row = 0;
  for (const ConstraintBlock& block : p.blocks) {
    const int n = kept(block), from = block.first_row;
    out.blocks.push_back({row, n, block.body_a, block.body_b, block.source});
    out.J_a.middleRows(row, n) = p.J_a.middleRows(from, n);
    out.J_b.middleRows(row, n) = p.J_b.middleRows(from, n);
    for (auto [to, read] : {std::pair(&out.b, &p.b), {&out.lower, &p.lower}, {&out.upper, &p.upper}, {&out.C, &p.C}})
      to->segment(row, n) = read->segment(from, n);
    row += n;
  }
  return out;
}

/// Bricks in a wall that lie in each other by less than a millionth of the gaps that are open elsewhere: the moves that take
/// them apart (h = 1, so that b is a length).
inline ConstraintProblem overlapping_wall(int columns, int layers, unsigned seed) {
  ContactScene scene;
  scene.gravity.setZero();
  scene.h = 1;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  const auto gap = [&] { return unit(random) < 0.5 ? 2e-3 * unit(random) : -std::pow(10, -9 - unit(random)); };
  const Vec3 half(0.2, 0.1, 0.1);
  const auto face = [&](int below, int above, const Vec3& centre, double half_x) {
    for (const double sx : {-1.0, 1.0})
      for (const double sy : {-1.0, 1.0})
        scene.add_contact(below, above, centre + Vec3(sx * half_x, sy * half.y(), 0), Vec3::UnitZ(), gap());
  };
  for (int k = 0; k < layers; ++k)
    for (int i = 0; i < columns; ++i) {
      const double x = 2 * half.x() * i + (k % 2 ? half.x() : 0.0), z = half.z() * (2 * k + 1), floor = z - half.z();
      const int body = scene.add_box(1, half, Vec3(x, 0, z));
      if (k == 0) {
        face(-1, body, Vec3(x, 0, floor), half.x());
        continue;
      }
      const int left = k % 2 ? i : i - 1;  // of the layer below
      for (const int j : {left, left + 1})
        if (j >= 0 && j < columns)
          face((k - 1) * columns + j, body, Vec3(x + (j == left ? -1 : 1) * half.x() / 2, 0, floor), half.x() / 2);
      if (i > 0)
        for (const double up : {-1.0, 1.0})
          scene.add_contact(body - 1, body, Vec3(x - half.x(), 0, z + up * half.z()), Vec3::UnitX(), gap());
    }
  return normals_alone(scene.problem());
}

/// Hinged links that lie on the floor by one end each, some in it by a hundredth of a millimetre (h = 1).
inline ConstraintProblem overlapping_chain(int links) {
  ContactScene scene;
  scene.gravity.setZero();
  scene.h = 1;
  for (int i = 0; i < links; ++i) {
    const Vec3 centre(0.4 * i, 0.02 * std::sin(i), 0.05);
    const int link = scene.add_box(1 + 0.5 * (i % 3), Vec3(0.2, 0.05, 0.05), centre);
    if (i > 0) scene.add_hinge(i - 1, i, centre - Vec3(0.2, 0, 0), Vec3::UnitY());
    scene.add_contact(-1, link, centre + Vec3(-0.19, 0, -0.05), Vec3::UnitZ(), 1e-5 * std::sin(3 * i));
  }
  return normals_alone(scene.problem());
}

/// The same problem with A written out in place of bodies and Jacobians.
inline ConstraintProblem by_matrix(const ConstraintProblem& p) {
  Delassus delassus;
  delassus.assemble(p);
  MatX A;
  delassus.to_dense(A);
  ConstraintProblem out = p;
  out.inverse_mass.clear();
  out.J_a.resize(0, 6);
  out.J_b.resize(0, 6);
  for (ConstraintBlock& block : out.blocks) block.body_a = block.body_b = -1;
  out.matrix.start.assign(1, 0);
  for (int r = 0; r < p.rows(); ++r) {
    for (int c = 0; c < p.rows(); ++c) {
      const double value = A(r, c) - (r == c ? p.C[r] : 0.0);
      if (value == 0 && r != c) continue;
      out.matrix.column.push_back(c);
      out.matrix.value.push_back(value);
    }
    out.matrix.start.push_back(static_cast<std::int32_t>(out.matrix.column.size()));
  }
  return out;
}

/// What a problem asks of a solver.
struct ContactCase {
  std::string name;
  ConstraintProblem problem;
  bool box = false;      // friction as boxes
  bool cone = false;     // friction as cones
  bool further = false;  // torsional and rolling friction
  bool hard = false;     // mass ratios, tall stacks: sweeps may end unconverged, and must say so
};

inline std::vector<ContactCase> contact_cases() {
  std::vector<ContactCase> list;
  for (const bool cone : {true, false}) {
    const std::string law = cone ? "_cone" : "_box";
    const auto add = [&](const std::string& name, ConstraintProblem p, bool further = false, bool hard = false) {
      list.push_back({name + law, std::move(p), !cone, cone, further, hard});
    };
    const ContactLaw plain{.mu = 0.5, .cone = cone}, slippery{.mu = 0.1, .cone = cone}, rough{.mu = 1.2, .cone = cone};
    const ContactLaw full{.mu = 0.5, .cone = cone, .torsional = 0.01, .rolling = 0.005};
    add("block", block_on_slope(0.3, plain, 0.4).problem);
    add("sliding_block", block_on_slope(0.6, plain, 1.1).problem);
    add("no_friction", box_stack(2, {.mu = 0, .cone = cone}));
    add("stack_3", box_stack(3, plain));
    add("slippery_stack_3", box_stack(3, slippery, 1, 0.5));
    add("wall_4x3", brick_wall(4, 3, {.mu = 1, .cone = cone}));
    add("pile_20", sphere_pile(20, plain));
    add("rough_pile_20", sphere_pile(20, rough, 2));
    add("pile_40_masses_100", sphere_pile(40, plain, 3, 2));
    add("rolling_pile_20", sphere_pile(20, full, 4), true);
    add("chain_8", chain_on_floor(8, plain));
    add("arm_6", jointed_arm(6, plain));
    add("pile_20_matrix", by_matrix(sphere_pile(20, plain)));
    add("chain_6_matrix", by_matrix(chain_on_floor(6, slippery)));
    ContactScene soft;
    soft.law = full;
    soft.compliance = 1e-3;
    soft.add_sphere(1, 0.2, Vec3(0, 0, 0.2), Vec3(1, 0, -1));
    soft.add_contact(-1, 0, Vec3::Zero(), Vec3::UnitZ());
    add("soft_ball", soft.problem(), true);
    add("stack_10", box_stack(10, plain), false, true);
    add("heavy_on_light", heavy_on_light(5, 1000, plain), false, true);
  }
  list.push_back({"no_contact_arm", [] {
                    ConstraintProblem p = jointed_arm(5);
                    // The arm without its last two blocks, which are the contacts.
                    const int rows = p.blocks[p.blocks.size() - 2].first_row;
                    p.blocks.resize(p.blocks.size() - 2);
                    p.friction.clear();
                    p.J_a.conservativeResize(rows, 6);
                    p.J_b.conservativeResize(rows, 6);
                    for (VecX* v : {&p.b, &p.C, &p.lower, &p.upper, &p.x0}) v->conservativeResize(rows);
                    return p;
                  }()});
  return list;
}

}  // namespace rotule::testing
