// CPU time against the error of the motion, 1e-3 to 1e-10: the mannequin's turn and the double pendulum, by Rotule's methods and
// by Simbody's, in one process on the same bodies and joints. The error is the largest distance of a centre of mass from where it
// should be at the end, over the mechanism's length; the reference is dormand_prince_8 at a tolerance of 1e-14. At each level
// the best method of each engine counts, whether with error control or with fixed steps. Runs of all methods alternate and are
// repeated, and the medians are compared: the machine may drift, ratios do not.
#include <fcntl.h>
#include <rotule/error.h>
#include <rotule/world.h>
#include <unistd.h>

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

constexpr int repetitions = 5;
constexpr double levels[] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10};

struct Problem {
  std::string name;
  Scene scene;
  double duration, length;
  std::vector<Vec3> reference = {};
};

struct Point {
  std::string setting;
  std::function<double(double& seconds)> run;  // returns the error
  std::vector<double> seconds = {};
  double error = 0;
};

struct Curve {
  std::string engine, method;
  std::vector<Point> points = {};  // from coarse to fine

  /// Milliseconds at which the error comes below `target` for good, by log-log interpolation; infinite where it does not.
  [[nodiscard]] double time_to(double target) const {
    for (std::size_t i = points.size(); i-- > 0;) {
      if (points[i].error <= target) continue;
      if (i + 1 == points.size()) return infinity;
      const double t0 = 1e3 * bench::median(points[i].seconds), t1 = 1e3 * bench::median(points[i + 1].seconds);
      if (!std::isfinite(points[i].error)) return t1;
      const double share = std::log(points[i].error / target) / std::log(points[i].error / points[i + 1].error);
      return t0 * std::pow(t1 / t0, share);
    }
    return points.empty() ? infinity : 1e3 * bench::median(points.front().seconds);
  }
};

std::vector<Vec3> centers(const World& world) {
  std::vector<Vec3> out;
  for (const BodyId body : world.bodies()) out.push_back(world.center_of_mass(body));
  return out;
}

double error_of(const Problem& problem, const std::vector<Vec3>& at) {
  double out = 0;
  for (std::size_t i = 0; i < at.size(); ++i) out = std::max(out, (at[i] - problem.reference[i]).norm() / problem.length);
  return std::isfinite(out) ? out : infinity;
}

double run_ours(const Problem& problem, const Recipe& recipe, int steps, double& seconds) {
  World world(problem.scene, recipe);
  const double start = cpu_seconds();
  try {
    for (int i = 0; i < steps; ++i) world.step(problem.duration / steps);
  } catch (const Error&) {  // it blew up
    seconds = cpu_seconds() - start;
    return infinity;
  }
  seconds = cpu_seconds() - start;
  return error_of(problem, centers(world));
}

void add_ours(const Problem& problem, std::vector<Curve>& curves) {
  for (const char* method : {"dormand_prince", "dormand_prince_8"}) {
    Curve& curve = curves.emplace_back(Curve{"Rotule", method});
    for (double tolerance = 1e-1; tolerance > 1e-12; tolerance /= std::sqrt(10.0)) {
      Recipe recipe = problem.scene.recipe;
      set(recipe, "integrator", method);
      set(recipe, "integrator.relative_tolerance", fmt::format("{}", tolerance));
      curve.points.push_back({fmt::format("tolerance {:.1e}", tolerance),
                              [&problem, recipe](double& seconds) { return run_ours(problem, recipe, 1, seconds); }});
    }
  }
  for (const char* method : {"rk4", "ab4"}) {
    Curve& curve = curves.emplace_back(Curve{"Rotule", method});
    Recipe recipe = problem.scene.recipe;
    set(recipe, "integrator", method);
    for (double steps = 20; steps < 6000; steps *= std::sqrt(2.0))
      curve.points.push_back(
          {fmt::format("{:.0f} steps", steps),
           [&problem, recipe, n = static_cast<int>(steps)](double& seconds) { return run_ours(problem, recipe, n, seconds); }});
  }
}

#ifdef ROTULE_BENCH_SIMBODY
/// Nothing on standard error for as long as it lives: CPodes says much where it gives up, and the table says it too.
class Silence {
 public:
  Silence() : kept_(::dup(STDERR_FILENO)) {
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

std::array<double, 3> plain(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

/// The scene's tree, in the order of its bodies, which must be parents first.
std::vector<bench::PeerBody> as_tree(const Scene& scene) {
  using Joint = bench::PeerBody::Joint;
  const World world(scene);
  std::vector<bench::PeerBody> out;
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const BodyId id = world.bodies()[i];
    const Mat3 I = world.inertia(id);
    const Quat q = world.orientation(id);
    bench::PeerBody body{.parent = -1,
                         .kind = Joint::free,
                         .joint = {},
                         .axis = {},
                         .mass = world.mass(id),
                         .inertia = {plain(I.row(0)), plain(I.row(1)), plain(I.row(2))},
                         .center_of_mass = plain(world.center_of_mass(id)),
                         .orientation = {q.w(), q.x(), q.y(), q.z()},
                         .velocity = plain(world.velocity(id)),
                         .angular_velocity = plain(world.angular_velocity(id))};
    const auto attach = [&](const std::string& parent, Joint kind, const Vec3& at, const Vec3& axis) {
      for (std::size_t k = 0; k < i; ++k)
        if (scene.bodies[k].name == parent) body.parent = static_cast<int>(k);
      body.kind = kind;
      body.joint = plain(at);
      body.axis = plain(axis);
    };
    for (const JointDef& joint : scene.joints) {
      if (const auto* ball = std::get_if<Ball>(&joint); ball && ball->between[1] == scene.bodies[i].name)
        attach(ball->between[0], Joint::ball, ball->at, Vec3::Zero());
      if (const auto* hinge = std::get_if<Hinge>(&joint); hinge && hinge->between[1] == scene.bodies[i].name)
        attach(hinge->between[0], Joint::hinge, hinge->at, hinge->axis);
    }
    out.push_back(body);
  }
  return out;
}

void add_simbody(const Problem& problem, bench::SimbodyPeer& peer, std::vector<Curve>& curves) {
  const auto run = [&problem, &peer](const std::string& method, double accuracy, int steps, double& seconds) {
    const auto timed = [&](const std::function<void()>& work) {
      const double start = cpu_seconds();
      work();
      seconds = cpu_seconds() - start;
    };
    try {
      const Silence silence;
      std::vector<Vec3> at;
      for (const auto& p : peer.run(method, accuracy, steps, problem.duration, timed).centers) at.emplace_back(p[0], p[1], p[2]);
      return error_of(problem, at);
    } catch (const std::exception&) {  // it gave up
      seconds = infinity;
      return infinity;
    }
  };
  // Methods of low order are given up where a run takes too long to matter.
  const auto low_order = [](const std::string& m) { return m == "RK2" || m == "Verlet" || m == "SemiExplicitEuler2"; };
  for (const std::string& method : bench::SimbodyPeer::methods()) {
    Curve& controlled = curves.emplace_back(Curve{"Simbody", method});
    const double finest = low_order(method) ? 1e-6 : method == "RK3" ? 1e-9 : 1e-13;
    for (double accuracy = 1e-1; accuracy > finest; accuracy /= std::sqrt(10.0))
      controlled.points.push_back(
          {fmt::format("accuracy {:.1e}", accuracy), [=](double& seconds) { return run(method, accuracy, 0, seconds); }});
    if (!bench::SimbodyPeer::has_fixed_steps(method) || low_order(method)) continue;
    Curve& fixed = curves.emplace_back(Curve{"Simbody", method + ", fixed steps"});
    for (double steps = 20; steps < 3000; steps *= std::sqrt(2.0))
      fixed.points.push_back({fmt::format("{:.0f} steps", steps),
                              [=](double& seconds) { return run(method, 0, static_cast<int>(steps), seconds); }});
  }
}
#endif

struct Best {
  double ms = infinity;
  std::string method = "-";
};

Best best_of(const std::vector<Curve>& curves, const std::string& engine, double level) {
  Best best;
  for (const Curve& curve : curves)
    if (curve.engine == engine && curve.time_to(level) < best.ms) best = {curve.time_to(level), curve.method};
  return best;
}

std::string json_number(double x, const char* format) { return std::isfinite(x) ? fmt::format(fmt::runtime(format), x) : "null"; }

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  std::vector<Problem> problems{{"mannequin", scenes::mannequin(), 20, 1.8},
                                {"double_pendulum", scenes::double_pendulum(), 2, 1.2}};
  std::string json = fmt::format("{{\n  \"machine\": \"{}\",\n  \"rows\": [", bench::machine()), separator;
  for (Problem& problem : problems) {
    Recipe exact = problem.scene.recipe;
    exact.integrator = DormandPrince8Settings{{.relative_tolerance = 1e-14, .absolute_tolerance = 0}};
    World reference(problem.scene, exact);
    reference.step(problem.duration);
    problem.reference = centers(reference);

    std::vector<Curve> curves;
    add_ours(problem, curves);
#ifdef ROTULE_BENCH_SIMBODY
    const Vec3 g = problem.scene.gravity;
    bench::SimbodyPeer peer(as_tree(problem.scene), {g.x(), g.y(), g.z()});
    add_simbody(problem, peer, curves);
#endif
    for (int repetition = 0; repetition < repetitions; ++repetition)
      for (Curve& curve : curves)
        for (Point& point : curve.points) {
          if (!point.seconds.empty() && point.seconds.front() > 0.05) continue;  // too slow to matter: once is enough
          point.error = point.run(point.seconds.emplace_back());
        }

    for (const Curve& curve : curves)
      for (const Point& point : curve.points) {
        json += fmt::format(R"({}
    {{"scene": "{}", "engine": "{}", "method": "{}", "setting": "{}", "error": {}, "cpu_ms": {}}})",
                            separator, problem.name, curve.engine, curve.method, point.setting,
                            json_number(point.error, "{:.4g}"), json_number(1e3 * bench::median(point.seconds), "{:.5g}"));
        separator = ",";
      }
    if (options.json) continue;
    fmt::print("{}, {} s, on {}: CPU ms to the error, median of {}\n", problem.name, problem.duration, bench::machine(),
               repetitions);
    fmt::print("{:>8} {:>10}  {:<22} {:>10}  {:<26} {:>6}\n", "error", "Rotule", "by", "Simbody", "by", "ratio");
    for (const double level : levels) {
      const Best ours = best_of(curves, "Rotule", level), theirs = best_of(curves, "Simbody", level);
      fmt::print("{:>8.0e} {:>10.3f}  {:<22} {:>10.3f}  {:<26} {:>6.2f}\n", level, ours.ms, ours.method, theirs.ms, theirs.method,
                 theirs.ms / ours.ms);
    }
    fmt::print("\n");
  }
  json += "\n  ]\n}";
  publish(options, json);
#ifndef ROTULE_BENCH_SIMBODY
  if (!options.json) fmt::print("Simbody is not installed (libsimbody-dev): not compared with\n");
#endif
}
