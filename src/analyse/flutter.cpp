#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/flutter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analyse/state_matrix.h"
#include "base/text.h"
#include "dynamics/forces/fluid.h"
#include "linalg/decompositions.h"
#include "mechanism/jointed_mechanism.h"
#include "model/expression.h"
#include "model/solver_list.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

/// Growth below this part of |lambda| is rounding.
constexpr double growing_share = 1e-9;

const std::string& flow_name(const FlowDef& flow) {
  return std::visit([](const auto& f) -> const std::string& { return f.name; }, flow);
}

bool is_steady(const FlowDef& flow) {
  return std::holds_alternative<UniformFlow>(flow) || std::holds_alternative<PowerLawFlow>(flow) ||
         std::holds_alternative<LogLawFlow>(flow);
}

/// The flow at that speed, in its own direction.
void set_speed(FlowDef& flow, double speed) {
  std::visit(
      [&]<class Flow>(Flow& f) {
        if constexpr (std::is_same_v<Flow, UniformFlow>) {
          Vec3 now;
          Expression3(f.velocity).at(0, now);
          const Vec3 wanted = speed * now.normalized();
          f.velocity = {wanted.x(), wanted.y(), wanted.z()};
        } else if constexpr (requires { f.speed; }) {
          f.speed = speed;
        }
      },
      flow);
}

/// Flows that come and go have no part in modes; forces may name them all the same.
void still(FlowDef& flow) {
  if (auto* gust = std::get_if<GustFlow>(&flow)) gust->velocity.setZero();
  if (auto* turbulence = std::get_if<TurbulentFlow>(&flow)) turbulence->intensity = 0;
  if (auto* vortices = std::get_if<VortexFlow>(&flow)) vortices->circulation = 0;
  if (auto* waves = std::get_if<WaveFlow>(&flow)) waves->amplitude = 0;
  if (auto* field = std::get_if<GridFlow>(&flow))
    *field = {.name = field->name, .outside = "zero", .grid = std::make_shared<FlowGrid>(FlowGrid{.velocity = {Vec3::Zero()}})};
}

/// The mechanism's accelerations at rest in this pose, in the columns of the linearisation.
VecX accelerations_at_rest(JointedMechanism& mechanism, const World& world, const Linearisation& l) {
  const WorldImplementation& w = implementation_of(world);
  State s = w.state;
  s.u.setZero();
  settle_wakes(w.model, w.time, s);
  VecX udot, out(l.M.rows());
  mechanism.begin_step(s, w.time);
  mechanism.accelerations(w.time, s, udot);
  Eigen::Index at = 0;
  for (const BodyId body : l.bodies) {
    out.segment<6>(at) = udot.segment<6>(6 * w.body_slots.place(body));
    at += 6;
  }
  for (const int particle : l.particles) {
    out.segment<3>(at) = udot.segment<3>(s.first(particle));
    at += 3;
  }
  return out;
}

/// Moves the world towards its equilibrium in the wind, and says what is left. What counts is the force that is left, weighed by
/// the inverse masses, whatever the units of length, mass and time.
Linearisation settle(World& world, int most_iterations) {
  constexpr double enough = 1e-12;     // of what was there at first
  constexpr double hardly_less = 0.9;  // what a whole step of Newton's method leaves where rounding is all that is left
  WorldImplementation& w = implementation_of(world);
  Recipe recipe = w.recipe;
  recipe.formulation = AccelerationSettings{};
  recipe.correction = NoCorrectionSettings{};
  recipe.solver = solver_named("ldlt");
  JointedMechanism mechanism(w.model, recipe);
  mechanism.external = w.external;
  struct Pose {
    Linearisation l;
    VecX force;     // on all columns
    double weight;  // of it
  };
  const auto look = [&] {
    Pose out{linearise(world), {}, 0};
    const VecX a = accelerations_at_rest(mechanism, world, out.l);
    out.force = out.l.M * a;
    out.weight = std::sqrt(std::max(0.0, a.dot(out.force)));
    return out;
  };
  Pose pose = look();
  const double first = pose.weight;
  for (int i = 0; i < most_iterations && pose.weight > enough * first; ++i) {
    // Motions that joints allow, each of the kinetic energy 1/2; those that nothing resists are left where they are.
    const Linearisation& l = pose.l;
    MatX N = allowed_motions(l);
    if (N.cols() == 0) break;
    const MatX K = N.transpose() * settled_stiffness(l) * N;
    const MatX scale = symmetric_eigen(0.5 * (K + K.transpose()), N.transpose() * l.M * N).vectors;
    N = N * scale;
    const VecX sigma = N * least_squares(scale.transpose() * K * scale, N.transpose() * pose.force, 1e-13);
    VecX all = VecX::Zero(w.model.velocity_count());
    Eigen::Index at = 0;
    for (const BodyId body : l.bodies) {
      all.segment<6>(6 * w.body_slots.place(body)) = sigma.segment<6>(at);
      at += 6;
    }
    for (const int particle : l.particles) {
      all.segment<3>(w.state.first(particle)) = sigma.segment<3>(at);
      at += 3;
    }
    const State before = w.state;
    // Half the way where the whole one leads further off.
    double share = 1;
    for (; share > 1e-3; share /= 2) {
      displace(before, share * all, w.state);
      w.state.u.setZero();
      if (!mechanism.islands.empty()) mechanism.project(ProjectionSettings{}, w.state, w.time);
      if (Pose next = look(); next.weight < pose.weight) {
        const bool at_rounding = share == 1 && next.weight > hardly_less * pose.weight;
        pose = std::move(next);
        if (at_rounding) return std::move(pose.l);
        break;
      }
    }
    if (share <= 1e-3) {
      w.state = before;
      break;
    }
  }
  return std::move(pose.l);
}

std::string leader(const DampedMode& mode, const Linearisation& l, const World& world) {
  Eigen::Index largest = 0;
  mode.shape.cwiseAbs().maxCoeff(&largest);
  const auto bodies = static_cast<Eigen::Index>(l.bodies.size());
  if (largest >= 6 * bodies) return world.particle_name(l.particles[static_cast<std::size_t>((largest - 6 * bodies) / 3)]);
  static constexpr std::array components{"x", "y", "z", "rx", "ry", "rz"};
  return fmt::format("{}.{}", world.name(l.bodies[static_cast<std::size_t>(largest / 6)]), components[largest % 6]);
}

/// The mode that grows fastest, measured by its |lambda|; none where all decay or stay.
std::optional<std::size_t> growing(const std::vector<DampedMode>& modes) {
  double fastest = 0, largest = 0;
  for (const DampedMode& mode : modes) largest = std::max(largest, std::abs(mode.eigenvalue));
  std::optional<std::size_t> out;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const std::complex<double> lambda = modes[k].eigenvalue;
    // What nothing resists has eigenvalue zero, up to the root of rounding.
    if (std::abs(lambda) < 1e-6 * largest) continue;
    if (lambda.real() > std::max(fastest, growing_share * std::abs(lambda) + 1e-12 * largest)) {
      fastest = lambda.real();
      out = k;
    }
  }
  return out;
}

/// In the order of the modes before them: each takes the nearest that is left, the surest first. Two that decay may have become
/// one that swings: whoever finds none left shares the nearest.
void follow(const std::vector<DampedMode>& before, std::vector<DampedMode>& modes) {
  struct Pair {
    double distance;
    std::size_t old_place, new_place;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::size_t k = 0; k < modes.size(); ++k) pairs.push_back({std::abs(before[i].eigenvalue - modes[k].eigenvalue), i, k});
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.distance < b.distance; });
  constexpr auto none = static_cast<std::size_t>(-1);
  std::vector<std::size_t> place(modes.size(), none), taken(before.size(), none);
  for (const Pair& pair : pairs)
    if (place[pair.new_place] == none && taken[pair.old_place] == none) {
      place[pair.new_place] = pair.old_place;
      taken[pair.old_place] = pair.new_place;
    }
  for (const Pair& pair : pairs)
    if (taken[pair.old_place] == none) taken[pair.old_place] = pair.new_place;
  std::vector<DampedMode> sorted;
  for (const std::size_t k : taken) sorted.push_back(modes[k]);
  for (std::size_t k = 0; k < modes.size(); ++k)
    if (place[k] == none) sorted.push_back(modes[k]);
  modes = std::move(sorted);
}

}  // namespace

FlutterReport flutter(const Scene& scene, const FlutterSettings& settings) {
  if (settings.speeds.empty()) throw Error("flutter", "needs at least one speed of the wind");
  for (std::size_t k = 0; k < settings.speeds.size(); ++k)
    if (!(settings.speeds[k] >= 0) || !std::isfinite(settings.speeds[k]) ||
        (k > 0 && settings.speeds[k] <= settings.speeds[k - 1]))
      throw Error("flutter", "speeds of the wind must ascend, from 0 on");
  FlutterReport out;
  Scene windy = scene;
  windy.recipe = recipe_of(scene);
  // The wind whose speed it is, steady ones beside it, and none that come and go.
  std::vector<std::string> steady;
  for (const FlowDef& flow : scene.flows) (is_steady(flow) ? steady : out.left_out).push_back(flow_name(flow));
  for (FlowDef& flow : windy.flows) still(flow);
  if (steady.empty()) throw Error("flutter", "the scene has no steady flow: give it a uniform, power_law or log_law one");
  if (settings.flow.empty() && steady.size() > 1)
    throw Error("flutter", fmt::format("the scene has {} steady flows; name the one that has those speeds", steady.size()));
  out.flow = settings.flow.empty() ? steady.front() : settings.flow;
  const auto wind = std::find_if(windy.flows.begin(), windy.flows.end(),
                                 [&](const FlowDef& f) { return is_steady(f) && flow_name(f) == out.flow; });
  if (wind == windy.flows.end())
    throw Error("flutter", fmt::format("there is no steady flow {}; {}", in_quotes(out.flow), suggestion(out.flow, steady)));
  if (const auto* uniform = std::get_if<UniformFlow>(&*wind)) {
    Vec3 now;
    Expression3(uniform->velocity).at(0, now);
    if (!(now.norm() > 0))
      throw Error("flutter", fmt::format("flow {} has no direction: give it a velocity", in_quotes(out.flow)));
  }
  const FlowDef given = *wind;

  const auto at_speed = [&](double speed, bool first) {
    *wind = given;
    set_speed(*wind, speed);
    World world(windy, windy.recipe);
    const Linearisation l = settle(world, settings.most_iterations);
    FlutterPoint point{speed, damped_modes(l), l.unbalance};
    if (first)
      for (const DampedMode& mode : point.modes) out.leaders.push_back(leader(mode, l, world));
    return point;
  };
  for (const double speed : settings.speeds) {
    FlutterPoint point = at_speed(speed, out.points.empty());
    if (!out.points.empty()) follow(out.points.back().modes, point.modes);
    out.points.push_back(std::move(point));
  }

  // Between the last speed at which nothing grows and the first at which something does.
  const auto first = std::find_if(out.points.begin(), out.points.end(),
                                  [](const FlutterPoint& point) { return growing(point.modes).has_value(); });
  if (first == out.points.end()) return out;
  out.critical_mode = growing(first->modes);
  double high = first->speed, low = first == out.points.begin() ? high : (first - 1)->speed;
  FlutterPoint there = *first;
  while (high - low > settings.tolerance * high) {
    const double middle = 0.5 * (low + high);
    FlutterPoint point = at_speed(middle, false);
    if (growing(point.modes)) {
      high = middle;
      there = std::move(point);
    } else {
      low = middle;
    }
  }
  out.critical_speed = high;
  out.critical_frequency = there.modes[*growing(there.modes)].frequency;
  return out;
}

}  // namespace rotule
