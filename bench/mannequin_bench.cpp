// How much CPU one turn of the mannequin costs at a given energy error, Rotule and Simbody in one process on the same 15 bodies
// and 14 ball joints. Runs of all methods alternate, each is repeated, and medians are printed: the machine may drift, ratios do
// not. Timed is the stepping alone. Where a method's error is not monotonic, the time to an error is that from which on it stays
// below.
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <functional>
#include <string>

#include "report.h"
#include "scenes/builders.h"
#ifdef ROTULE_BENCH_SIMBODY
#include "simbody_peer.h"
#endif

namespace {

using namespace rotule;
using bench::cpu_seconds;

struct Point {
  std::string setting;
  std::function<double(double& seconds)> run;  // returns the relative energy error
  std::vector<double> seconds = {};
  double error = 0;
};

struct Curve {
  std::string engine, method;
  std::vector<Point> points;  // from coarse to fine

  /// Milliseconds at which the error comes below `target` for good, by log-log interpolation; infinite where it does not.
  [[nodiscard]] double time_to(double target) const {
    for (std::size_t i = points.size(); i-- > 0;) {
      if (points[i].error <= target) continue;
      if (i + 1 == points.size()) return infinity;
      const double t0 = 1e3 * bench::median(points[i].seconds), t1 = 1e3 * bench::median(points[i + 1].seconds);
      const double share = std::log(points[i].error / target) / std::log(points[i].error / points[i + 1].error);
      return t0 * std::pow(t1 / t0, share);
    }
    return 1e3 * bench::median(points.front().seconds);
  }
};

double turn(const Recipe& recipe, const Scene& scene, int steps, double& seconds) {
  World world(scene, recipe);
  const double before = world.diagnostics().energy();
  const double start = cpu_seconds();
  try {
    for (int i = 0; i < steps; ++i) world.step(scene.recipe.duration / steps);
    seconds = cpu_seconds() - start;
    return std::abs(world.diagnostics().energy() / before - 1);
  } catch (const Error&) {  // it blew up
    seconds = cpu_seconds() - start;
    return infinity;
  }
}

Curve ours(const std::string& name, const char* integrator, const char* correction) {
  Curve curve{"Rotule", name, {}};
  const Scene scene = scenes::mannequin();
  Recipe recipe = scene.recipe;
  set(recipe, "integrator", integrator);
  set(recipe, "correction", correction);
  for (const int steps : {14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640})
    curve.points.push_back(
        {fmt::format("{} steps", steps), [=](double& seconds) { return turn(recipe, scene, steps, seconds); }});
  return curve;
}

#ifdef ROTULE_BENCH_SIMBODY
std::array<double, 3> plain(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

/// The scene's tree, parents first; its joints are balls from parent to child.
std::vector<bench::PeerBody> as_tree(const Scene& scene) {
  const World world(scene);
  std::vector<std::string> names;
  std::vector<bench::PeerBody> out;
  const auto add = [&](const std::string& name, int parent, const Vec3& joint) {
    const BodyId id = world.body(name);
    const Mat3 I = world.inertia(id);
    const Quat q = world.orientation(id);
    names.push_back(name);
    out.push_back({parent,
                   parent < 0 ? bench::PeerBody::Joint::free : bench::PeerBody::Joint::ball,
                   plain(joint),
                   {},
                   world.mass(id),
                   {plain(I.row(0)), plain(I.row(1)), plain(I.row(2))},
                   plain(world.center_of_mass(id)),
                   {q.w(), q.x(), q.y(), q.z()},
                   plain(world.velocity(id)),
                   plain(world.angular_velocity(id))});
  };
  add(scene.bodies.front().name, -1, Vec3::Zero());
  for (const JointDef& joint : scene.joints) {
    const Ball& ball = std::get<Ball>(joint);
    const auto parent = std::find(names.begin(), names.end(), ball.between[0]);
    if (parent == names.end()) throw Error("joint " + ball.name, "comes before its parent");
    add(ball.between[1], static_cast<int>(parent - names.begin()), ball.at);
  }
  return out;
}

void add_simbody(bench::SimbodyPeer& peer, double duration, std::vector<Curve>& curves) {
  const auto run = [&peer, duration](const std::string& method, double accuracy, int steps, double& seconds) {
    const auto timed = [&](const std::function<void()>& work) {
      const double start = cpu_seconds();
      work();
      seconds = cpu_seconds() - start;
    };
    return std::abs(peer.run(method, accuracy, steps, duration, timed).energy_error);
  };
  for (const std::string method : {"RK-Merson", "RK3", "RK-Fehlberg"}) {
    Curve& controlled = curves.emplace_back(Curve{"Simbody", method, {}});
    for (double accuracy = 1e-2; accuracy > 2e-8; accuracy /= std::sqrt(10.0))
      controlled.points.push_back(
          {fmt::format("accuracy {:.1e}", accuracy), [=](double& seconds) { return run(method, accuracy, 0, seconds); }});
    Curve& fixed = curves.emplace_back(Curve{"Simbody", method + ", fixed steps", {}});
    for (const int steps : {20, 28, 40, 56, 80, 112, 160, 224, 320})
      fixed.points.push_back({fmt::format("{} steps", steps), [=](double& seconds) { return run(method, 0, steps, seconds); }});
  }
}

/// How far apart the pelvis ends in the two engines when both compute well: whether they simulate the same thing.
double disagreement(bench::SimbodyPeer& peer, const Scene& scene) {
  World world(scene);
  for (int i = 0; i < 2560; ++i) world.step(scene.recipe.duration / 2560);
  const auto run = peer.run("RK-Merson", 1e-10, 0, scene.recipe.duration, [](const std::function<void()>& work) { work(); });
  const Vec3 theirs(run.centers[0][0], run.centers[0][1], run.centers[0][2]);
  return (theirs - world.center_of_mass(world.body(scene.bodies.front().name))).norm();
}
#endif

std::string as_json(const std::vector<Curve>& curves, double target) {
  std::string rows;
  for (const Curve& curve : curves) {
    for (const Point& point : curve.points)
      rows += fmt::format(R"({}    {{"engine": "{}", "method": "{}", "setting": "{}", "energy_error": {}, "cpu_ms": {:.5g}}})",
                          rows.empty() ? "" : ",\n", curve.engine, curve.method, point.setting,
                          std::isfinite(point.error) ? fmt::format("{:.4g}", point.error) : "null",
                          1e3 * bench::median(point.seconds));
  }
  std::string times;
  for (const Curve& curve : curves)
    times +=
        fmt::format(R"({}    {{"engine": "{}", "method": "{}", "cpu_ms": {}}})", times.empty() ? "" : ",\n", curve.engine,
                    curve.method, std::isfinite(curve.time_to(target)) ? fmt::format("{:.5g}", curve.time_to(target)) : "null");
  return fmt::format("{{\n  \"machine\": \"{}\",\n  \"rows\": [\n{}\n  ],\n  \"time_to_{:.0e}\": [\n{}\n  ]\n}}",
                     bench::machine(), rows, target, times);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  constexpr double target = 1e-6;
  constexpr int repetitions = 7;
  const Scene scene = scenes::mannequin();

  std::vector<Curve> curves{ours("rk4, projection", "rk4", "projection"), ours("rk4, no correction", "rk4", "none"),
                            ours("ab4, projection", "ab4", "projection"), ours("ab4, no correction", "ab4", "none")};
#ifdef ROTULE_BENCH_SIMBODY
  bench::SimbodyPeer peer(as_tree(scene), {0, 0, 0});
  add_simbody(peer, scene.recipe.duration, curves);
  const double apart = disagreement(peer, scene);
  if (!(apart < 1e-6)) {
    fmt::print(stderr, "mannequin_bench: the engines do not simulate the same thing: the pelvis ends {:.2e} m apart\n", apart);
    return 1;
  }
#endif

  for (int repetition = 0; repetition < repetitions; ++repetition)
    for (Curve& curve : curves)
      for (Point& point : curve.points) point.error = point.run(point.seconds.emplace_back());

  publish(options, as_json(curves, target));
  if (options.json) return 0;
  fmt::print("one turn of the mannequin on {}: energy error / CPU ms, median of {}\n", bench::machine(), repetitions);
  for (const Curve& curve : curves) {
    fmt::print("\n{} {}\n", curve.engine, curve.method);
    for (const Point& point : curve.points)
      fmt::print("  {:<18} {:8.1e} {:9.3f}\n", point.setting, point.error, 1e3 * bench::median(point.seconds));
  }
  double best_theirs = infinity;
  for (const Curve& curve : curves)
    if (curve.engine == "Simbody") best_theirs = std::min(best_theirs, curve.time_to(target));
  fmt::print("\nto an energy error of {:.0e}                    CPU ms   share of Simbody's best\n", target);
  for (const Curve& curve : curves)
    fmt::print("  {:<10} {:<28} {:9.3f} {:9.3f}\n", curve.engine, curve.method, curve.time_to(target),
               curve.time_to(target) / best_theirs);
#ifdef ROTULE_BENCH_SIMBODY
  fmt::print("computed well, the pelvis ends {:.1e} m apart in the two engines\n", apart);
#else
  fmt::print("Simbody is not installed (libsimbody-dev): not compared with\n");
#endif
}
