// What a constraint costs that is written as a function, against the same joint written by hand: one evaluation of rows, and of
// second derivatives, of many joints at once; whole steps of a chain, and iterations towards a pose.
#include <fmt/format.h>
#include <rotule/inverse.h>
#include <rotule/world.h>

#include <algorithm>
#include <ctime>

#include "constraint/constraint_set.h"
#include "constraint/hessians.h"
#include "world/world_implementation.h"

namespace {

using namespace rotule;

constexpr int joints = 200;

/// Nanoseconds per joint: the fastest of several rounds.
struct Cost {
  double rows = 0, hessian = 0;
};

/// Of the processor, others may be at work: nanoseconds per joint, the fastest of several rounds.
template <class Work>
double fastest(int repeats, Work&& work) {
  double best = infinity;
  for (int round = 0; round < 7; ++round) {
    const std::clock_t start = std::clock();
    for (int i = 0; i < repeats; ++i) work();
    const double took = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, took / repeats / joints);
  }
  return best;
}

Cost measure(const Scene& scene) {
  const World world(scene, recipes::exact());
  const Model& model = implementation_of(world).model;
  std::vector<int> all(model.joints.size()), local(model.partner_count());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < local.size(); ++i) local[i] = static_cast<int>(i);
  const ConstraintSet set(model, all, local);
  ConstraintProblem problem;
  problem.blocks = set.blocks();
  problem.more = set.more();
  problem.J_more.setZero(set.more_rows(), 6);
  problem.resize(model.body_count(), set.rows());
  RowValues values;
  values.resize(set.rows());
  Kinematics kinematics;
  kinematics.update(model, implementation_of(world).state);
  const std::vector<double> lambda(6, 1.0);

  double sum = 0;
  Cost out;
  out.rows = fastest(200, [&] {
    set.evaluate(kinematics, 0, problem, values);
    sum += values.gamma[0];
  });
  out.hessian = fastest(10, [&] {
    for (const ConstraintBlock& block : set.blocks())
      set.with_hessian(static_cast<int>(&block - set.blocks().data()), kinematics, 0,
                       {lambda.data(), static_cast<std::size_t>(block.rows)},
                       [&](const auto& H, const auto&) { sum += H(0, 0); });
  });
  if (sum == 0.125) fmt::print(" ");
  return out;
}

Scene chain() {
  Scene scene;
  for (int k = 0; k <= joints; ++k)
    scene.add({.name = fmt::format("b{}", k),
               .mass = 1,
               .position = Vec3(k, 0, 0.1 * (k % 3)),
               .velocity = Vec3(0.1 * (k % 5), 0.2, 0),
               .angular_velocity = Vec3(0.3, 0.1 * (k % 7), -0.2),
               .shape = Box{Vec3(0.4, 0.2, 0.1)}});
  return scene;
}

/// A point of a body on a helix, by hand, for a pose alone as functions have it: the nearest of 64 places, Newton's steps from
/// there, rows across the tangent.
class HelixByHand {
 public:
  HelixByHand(const Vec3& axis, const Vec3& arm) : axis_(axis), arm_(arm) {
    for (int k = 0; k < places; ++k) {
      const Vec3 c = curve(from + k * pace);
      for (int i = 0; i < 3; ++i) place_[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)] = c[i];
    }
  }
  std::array<Row<double>, 2> rows(const BodyLanes<double>& body) const {
    const Vec3 rho = body.R * arm_, spin = body.omega.cross(rho), velocity = body.v + spin, bend = body.omega.cross(spin);
    const auto [s, e, tangent] = nearest(body.p + rho);
    const double rate = tangent.dot(velocity) / tangent.squaredNorm();
    const Vec3 second = bend - curvature(s) * rate * rate;
    std::array<Row<double>, 2> out;
    for (std::size_t r = 0; r < 2; ++r) {
      const Vec3 n = across(tangent, r);
      out[r] = {n.dot(e), n.dot(second), n, rho.cross(n), Vec3::Zero(), Vec3::Zero()};
    }
    return out;
  }
  Mat6 hessian(const BodyLanes<double>& body, double lambda_0, double lambda_1) const {
    const Vec3 rho = body.R * arm_;
    const auto [s, e, tangent] = nearest(body.p + rho);
    const Vec3 pull = lambda_0 * across(tangent, 0) + lambda_1 * across(tangent, 1);
    Vec6 by;
    by << tangent, rho.cross(tangent);
    by /= tangent.squaredNorm();
    Mat6 out = -pull.dot(curvature(s)) * by * by.transpose();
    out.bottomRightCorner<3, 3>() += rotation_hessian(pull, rho);
    return out;
  }

 private:
  static constexpr int places = 64;
  static constexpr double from = -20, pace = 40.0 / (places - 1);
  struct Place {
    double s;
    Vec3 e, tangent;
  };
  [[nodiscard]] Vec3 curve(double s) const { return axis_ + Vec3(0.5 * std::cos(s), 0.5 * std::sin(s), 0.2 * s); }
  static Vec3 curvature(double s) { return {-0.5 * std::cos(s), -0.5 * std::sin(s), 0}; }
  static Vec3 across(const Vec3& tangent, std::size_t r) {
    const Vec3 first = tangent.cross(Vec3::UnitX()).normalized();
    return r == 0 ? first : Vec3(tangent.cross(first).normalized());
  }
  [[nodiscard]] Place nearest(const Vec3& p) const {
    double least = infinity;
    std::size_t best = 0;
    for (std::size_t k = 0; k < places; ++k) {
      const double x = p[0] - place_[0][k], y = p[1] - place_[1][k], z = p[2] - place_[2][k], square = x * x + y * y + z * z;
      if (square < least) least = square, best = k;
    }
    Place out{from + pace * static_cast<double>(best), {}, {}};
    for (int round = 0; round < 20; ++round) {
      out.e = p - curve(out.s);
      out.tangent = Vec3(-0.5 * std::sin(out.s), 0.5 * std::cos(out.s), 0.2);
      const double step = out.tangent.dot(out.e) / out.tangent.squaredNorm();
      if (std::abs(step) < 1e-14) break;
      out.s += step;
    }
    return out;
  }

  Vec3 axis_, arm_;
  std::array<std::array<double, places>, 3> place_;
};

Cost measure_helix_by_hand(const Scene& scene) {
  const World world(scene, recipes::exact());
  Kinematics kinematics;
  kinematics.update(implementation_of(world).model, implementation_of(world).state);
  std::vector<HelixByHand> helix;
  for (int k = 0; k < joints; ++k) helix.emplace_back(Vec3(k + 0.5, 0, 0.1 * ((k + 1) % 3)), Vec3::Zero());
  double sum = 0;
  Cost out;
  const auto each = [&](auto&& work) {
    for (int k = 0; k < joints; ++k) work(helix[static_cast<std::size_t>(k)], kinematics.bodies[static_cast<std::size_t>(k) + 1]);
  };
  out.rows = fastest(200, [&] {
    each([&](const HelixByHand& by_hand, const BodyLanes<double>& body) {
      for (const Row<double>& row : by_hand.rows(body)) sum += row.gamma + row.angular_a[1];
    });
  });
  out.hessian = fastest(50, [&] {
    each([&](const HelixByHand& by_hand, const BodyLanes<double>& body) { sum += by_hand.hessian(body, 1, 1)(0, 0); });
  });
  if (sum == 0.125) fmt::print(" ");
  return out;
}

template <class Add>
Scene with(Add&& add) {
  Scene scene = chain();
  for (int k = 0; k < joints; ++k) add(scene, fmt::format("b{}", k), fmt::format("b{}", k + 1), k);
  return scene;
}

void report(const char* name, const Cost& hand, const Cost& function) {
  fmt::print("{:<28} {:>8.0f} {:>8.0f} {:>7.1f}   {:>8.0f} {:>8.0f} {:>7.1f}\n", name, hand.rows, function.rows,
             function.rows / hand.rows, hand.hessian, function.hessian, function.hessian / hand.hessian);
}

/// Microseconds of the processor per step, of several scenes in turn: the fastest of several rounds.
std::vector<double> step_costs(const std::vector<Scene>& scenes, const Recipe& recipe) {
  constexpr int rounds = 7, steps = 40;
  std::vector<World> worlds;
  for (const Scene& scene : scenes) worlds.emplace_back(scene, recipe);
  std::vector<double> best(scenes.size(), infinity);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < worlds.size(); ++i) {
      const std::clock_t start = std::clock();
      for (int k = 0; k < steps; ++k) worlds[i].step(recipe.dt);
      best[i] = std::min(best[i], 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / steps);
    }
  return best;
}

/// A chain of balls at rest that hangs from the world by rods and swings down.
template <class Add>
Scene hanging(Add&& add) {
  constexpr int links = 60;
  Scene scene;
  for (int k = 0; k < links; ++k) {
    scene.add({.name = fmt::format("b{}", k), .mass = 1, .position = Vec3(k + 1, 0, 0), .shape = Sphere{.radius = 0.1}});
    add(scene, k == 0 ? std::string("world") : fmt::format("b{}", k - 1), fmt::format("b{}", k), k);
  }
  return scene;
}

/// Microseconds of the processor per iteration, of several scenes in turn: the last ball is taken to a place within reach.
std::vector<double> pose_costs(const std::vector<Scene>& scenes) {
  std::vector<double> best(scenes.size(), infinity);
  for (int round = 0; round < 7; ++round)
    for (std::size_t i = 0; i < scenes.size(); ++i) {
      World world(scenes[i], recipes::exact());
      const std::vector<Target> targets{PointTarget{.body = "b59", .to = {20, 0, 30}}};
      const std::clock_t start = std::clock();
      const InverseReport report = inverse_kinematics(world, targets);
      best[i] = std::min(best[i], 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / report.iterations);
    }
  return best;
}

/// The same chain by hand, as functions and as text.
void report_steps(const char* title, const std::vector<Scene>& scenes, bool poses = true) {
  Recipe rk4 = recipes::exact();
  rk4.coordinates = MaximalCoordinatesSettings{};
  Recipe dormand_prince = rk4, midpoint = rk4, gauss = rk4, radau = rk4, velocity = recipes::balanced();
  dormand_prince.integrator = DormandPrince8Settings{};
  midpoint.integrator = ImplicitMidpointSettings{};
  gauss.integrator = Gauss6Settings{};
  radau.integrator = Radau5Settings{};
  velocity.contacts = NoContactSettings{};
  velocity.coordinates = MaximalCoordinatesSettings{};
  fmt::print("\na step of {:<18} us: hand, function, ratio,    text, ratio\n", title);
  const auto print = [](const char* name, const std::vector<double>& cost) {
    fmt::print("{:<28} {:>8.1f} {:>8.1f} {:>7.2f} {:>8.1f} {:>7.2f}\n", name, cost[0], cost[1], cost[1] / cost[0], cost[2],
               cost[2] / cost[0]);
  };
  for (const auto& [name, recipe] : {std::pair{"rk4", rk4},
                                     {"dormand_prince_8", dormand_prince},
                                     {"implicit_midpoint", midpoint},
                                     {"gauss6", gauss},
                                     {"radau5", radau},
                                     {"velocity level", velocity}})
    print(name, step_costs(scenes, recipe));
  if (poses) print("inverse kinematics, iteration", pose_costs(scenes));
}

void report_steps() {
  using Name = const std::string&;
  report_steps("60 rods,", {hanging([](Scene& s, Name a, Name b, int k) {
                              s.add(Rod{.between = {a, b}, .from = Vec3(k, 0, 0), .to = Vec3(k + 1, 0, 0)});
                            }),
                            hanging([](Scene& s, Name a, Name b, int) {
                              s.add_constraint({a, b}, [](auto q, auto) { return (q[0].point() - q[1].point()).norm() - 1.0; });
                            }),
                            hanging([](Scene& s, Name a, Name b, int) {
                              s.add(Constraint{.between = {a, b},
                                               .equation = fmt::format(
                                                   "sqrt(({0}.x - {1}.x)^2 + ({0}.y - {1}.y)^2 + ({0}.z - {1}.z)^2) - 1", a, b)});
                            })});
  const Vec3 back(-1, 0, 0);
  report_steps(
      "60 hinges,",
      {hanging([](Scene& s, Name a, Name b, int k) {
         s.add(Hinge{.between = {a, b}, .at = Vec3(k, 0, 0), .axis = Vec3::UnitY()});
       }),
       hanging([&](Scene& s, Name a, Name b, int) {
         s.add_constraint({a, b}, [back](auto q, auto) {
           const auto e = q[0].point() - q[1].point(back);
           const auto y = q[0].direction(Vec3::UnitY());
           return std::array{e.x(), e.y(), e.z(), y.dot(q[1].direction(Vec3::UnitX())), y.dot(q[1].direction(Vec3::UnitZ()))};
         });
       }),
       hanging([&](Scene& s, Name a, Name b, int) {
         const auto across = [&](char axis) {
           return fmt::format("{0}.axis_y.x * {1}.axis_{2}.x + {0}.axis_y.y * {1}.axis_{2}.y + {0}.axis_y.z * {1}.axis_{2}.z", a,
                              b, axis);
         };
         s.add(Constraint{.between = {a, b},
                          .equation = {a + ".x - p.x", a + ".y - p.y", a + ".z - p.z", across('x'), across('z')},
                          .points = {{"p", b, back}}});
       })});
  // Beads on wires of their own, by springs from one to the next.
  const auto wires = [](auto&& add) {
    Scene scene = hanging([&](Scene& s, Name, Name b, int k) { add(s, b, Vec3(k + 1, 0, 0)); });
    for (int k = 1; k < 60; ++k)
      scene.add(Spring{.between = {fmt::format("b{}", k - 1), fmt::format("b{}", k)}, .stiffness = 50, .rest_length = 0.5});
    return scene;
  };
  const ConstraintParameter along{.name = "s", .from = -20, .to = 20};
  report_steps("60 beads on wires,",
               {wires([](Scene& s, Name b, const Vec3& at) {
                  s.add(PointOnLine{.between = {"world", b}, .at = at, .axis = Vec3(0, 0.6, 0.8)});
                }),
                wires([&](Scene& s, Name b, const Vec3& at) {
                  s.add_constraint({b},
                                   [at](auto q, auto, auto p) {
                                     return q[0].point() -
                                            MovingVec3(at.x() + 0.0 * p[0], at.y() + 0.6 * p[0], at.z() + 0.8 * p[0]);
                                   },
                                   {.parameters = {along}});
                }),
                wires([&](Scene& s, Name b, const Vec3& at) {
                  s.add(Constraint{.between = {"world", b},
                                   .parameters = {along},
                                   .equation = {fmt::format("{}.x - {}", b, at.x()), fmt::format("{}.y - 0.6 * s", b),
                                                fmt::format("{}.z - 0.8 * s", b)}});
                })},
               false);
}

}  // namespace

int main() {
  fmt::print("ns per joint                 rows: hand, function, ratio;   second derivatives: hand, function, ratio\n");
  const Vec3 half(0.5, 0, 0);
  const auto rod = measure(with([&](Scene& s, const std::string& a, const std::string& b, int k) {
    s.add(Rod{.between = {a, b}, .from = Vec3(k + 0.2, 0, 0), .to = Vec3(k + 0.9, 0.1, 0)});
  }));
  report("rod", rod, measure(with([&](Scene& s, const std::string& a, const std::string& b, int) {
           s.add_constraint(
               {a, b}, [](auto q, auto) { return (q[0].point(Vec3(0.2, 0, 0)) - q[1].point(Vec3(-0.1, 0.1, 0))).norm() - 0.7; });
         })));
  report("rod, as jets", rod, measure(with([&](Scene& s, const std::string& a, const std::string& b, int) {
           s.add(Constraint{.between = {a, b}, .function = [](const JetBody& p, const JetBody& q, const Jet&) {
                              return (p.point(Vec3(0.2, 0, 0)) - q.point(Vec3(-0.1, 0.1, 0))).norm() - Jet(0.7);
                            }});
         })));
  report("rod, as text", rod, measure(with([&](Scene& s, const std::string& a, const std::string& b, int) {
           s.add(Constraint{.between = {a, b},
                            .equation = "sqrt((p.x - q.x)^2 + (p.y - q.y)^2 + (p.z - q.z)^2) - 0.7",
                            .points = {{"p", a, Vec3(0.2, 0, 0)}, {"q", b, Vec3(-0.1, 0.1, 0)}}});
         })));
  report("ball", measure(with([&](Scene& s, const std::string& a, const std::string& b, int k) {
           s.add(Ball{.between = {a, b}, .at = Vec3(k, 0, 0) + half});
         })),
         measure(with([&](Scene& s, const std::string& a, const std::string& b, int) {
           s.add_constraint({a, b}, [=](auto q, auto) { return q[0].point(half) - q[1].point(-half); });
         })));
  report("hinge", measure(with([&](Scene& s, const std::string& a, const std::string& b, int k) {
           s.add(Hinge{.between = {a, b}, .at = Vec3(k, 0, 0) + half});
         })),
         measure(with([&](Scene& s, const std::string& a, const std::string& b, int) {
           s.add_constraint({a, b}, [=](auto q, auto) {
             const auto e = q[0].point(half) - q[1].point(-half);
             const auto z = q[0].direction(Vec3::UnitZ());
             return std::array{e.x(), e.y(), e.z(), z.dot(q[1].direction(Vec3::UnitX())), z.dot(q[1].direction(Vec3::UnitY()))};
           });
         })));
  report("gear (three bodies)", measure(with([&](Scene& s, const std::string& a, const std::string& b, int k) {
           s.add(Gear{.between = {a, b}, .carrier = k > 1 ? "b0" : "world", .teeth_a = 2, .teeth_b = 3});
         })),
         measure(with([&](Scene& s, const std::string& a, const std::string& b, int k) {
           s.add_constraint({a, b, k > 1 ? "b0" : "world"}, [](auto q, auto) {
             const auto xc = q[2].direction(Vec3::UnitX()), yc = q[2].direction(Vec3::UnitY());
             const auto angle = [&](const MovingBody& wheel) {
               const auto x = wheel.direction(Vec3::UnitX()), y = wheel.direction(Vec3::UnitY());
               return atan2(x.dot(yc) - y.dot(xc), x.dot(xc) + y.dot(yc));
             };
             return wrap(3.0 * angle(q[1]) + 2.0 * angle(q[0])) / 3.0;
           });
         })));
  // With a parameter, against a straight line by hand, two rows each; on velocities nothing is written by hand: against the rod.
  const auto line = measure(with([](Scene& s, const std::string&, const std::string& b, int k) {
    s.add(PointOnLine{.between = {"world", b}, .at = Vec3(k + 1, 0, 0.1 * ((k + 1) % 3)), .axis = Vec3(0, 0, 1)});
  }));
  report("line, with its parameter", line, measure(with([](Scene& s, const std::string&, const std::string& b, int k) {
           const Vec3 at(k + 1, 0, 0.1 * ((k + 1) % 3));
           s.add_constraint({b},
                            [=](auto q, auto, auto p) {
                              return q[0].point() - MovingVec3(at.x() + 0.0 * p[0], at.y() + 0.0 * p[0], at.z() + p[0]);
                            },
                            {.parameters = {{.name = "s", .from = -20, .to = 20}}});
         })));
  report(
      "rail", line, measure(with([](Scene& s, const std::string&, const std::string& b, int k) {
        const Vec3 at(k + 1, 0, 0.1 * ((k + 1) % 3));
        s.add(Rail{.between = {"world", b},
                   .points = {at + Vec3(0.5, 0, -2), at + Vec3(0.1, 0, -1), at, at + Vec3(0.2, 0.3, 1), at + Vec3(0, 0.5, 2)}});
      })));
  const Scene bare = with([](Scene&, const std::string&, const std::string&, int) {});
  const Cost helix = measure_helix_by_hand(bare);
  report("point_on_line, beside a helix by hand", helix, line);
  report("helix, with its parameter", helix, measure(with([](Scene& s, const std::string&, const std::string& b, int k) {
           const double x = k + 0.5, z = 0.1 * ((k + 1) % 3);
           s.add_constraint({b},
                            [=](auto q, auto, auto p) {
                              return q[0].point() - MovingVec3(x + 0.5 * cos(p[0]), 0.5 * sin(p[0]), z + 0.2 * p[0]);
                            },
                            {.parameters = {{.name = "s", .from = -20, .to = 20}}});
         })));
  report(
      "helix, as text", helix, measure(with([](Scene& s, const std::string&, const std::string& b, int k) {
        s.add(Constraint{.between = {"world", b},
                         .parameters = {{.name = "s", .from = -20, .to = 20}},
                         .equation = {fmt::format("{}.x - {} - 0.5 * cos(s)", b, k + 0.5), fmt::format("{}.y - 0.5 * sin(s)", b),
                                      fmt::format("{}.z - {} - 0.2 * s", b, 0.1 * ((k + 1) % 3))}});
      })));
  report("blade, on velocities", rod, measure(with([](Scene& s, const std::string&, const std::string& b, int) {
           s.add_constraint({b}, [](auto q, auto) { return q[0].direction(Vec3::UnitY()).dot(q[0].velocity(Vec3(0.1, 0, 0))); });
         })));
  report("blade, as text", rod, measure(with([](Scene& s, const std::string&, const std::string& b, int) {
           s.add(Constraint{.between = {"world", b},
                            .equation = fmt::format("{0}.axis_y.x * p.vx + {0}.axis_y.y * p.vy + {0}.axis_y.z * p.vz", b),
                            .points = {{"p", b, Vec3(0.1, 0, 0)}}});
         })));
  report_steps();
}
