// rotule wish: a wish for error and time becomes the recipe that meets it, or the nearest that there is. Measured, not guessed:
// recipes of several kinds are run against a reference run of the same scene.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/pgs.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "model/content.h"
#include "model/dial.h"
#include "model/solver_list.h"
#include "progress.h"
#include "record/json_text.h"
#include "record/scene_json.h"
#include "record/svg_plot.h"

namespace rotule::app {
namespace {

constexpr double frame_time = 1.0 / 60;     // s of the scene that a budget is for
constexpr int looks = 12;                   // moments at which positions are compared, at most
constexpr double finest_reference = 1e-12;  // relative accuracy of the reference run, and of the one that checks it
constexpr double trusted = 0.2;             // of the error asked for: what the reference itself may be wrong by
constexpr double reference_share = 0.25;    // of the time allowed for all
constexpr double hopeless = 8;              // times the budget, beyond which finer steps are not tried
constexpr int finest_halvings = 12;
constexpr double reserve = 0.9;  // of the budget, that a choice may use: times vary

double cpu_now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Where everything is at the moments of comparison.
struct Course {
  std::vector<VecX> at;      // x, y, z of bodies and particles; as many moments as were reached
  double seconds = 0;        // CPU, for one frame: the mean over the run
  double energy = 0;         // largest left over of the books, over the largest energy in motion
  std::string failure = {};  // why it ended early
};

VecX positions(const World& world) {
  const std::vector<BodyId> bodies = world.bodies();
  VecX out(3 * static_cast<Eigen::Index>(bodies.size() + static_cast<std::size_t>(world.particles())));
  Eigen::Index next = 0;
  for (const BodyId body : bodies) out.segment<3>(3 * next++) = world.center_of_mass(body);
  for (int k = 0; k < world.particles(); ++k) out.segment<3>(3 * next++) = world.particle_position(k);
  return out;
}

/// Steps that make a frame, and the recipe with them.
Recipe in_frames(Recipe recipe, int& steps) {
  steps = std::max(1, static_cast<int>(std::ceil(frame_time / recipe.dt * (1 - 1e-9))));
  recipe.dt = frame_time / steps;
  recipe.threads = 1;
  return recipe;
}

/// Runs `frames` frames, or as many as `most_seconds` allow.
Course run_course(const Scene& scene, const Recipe& given, int frames, double most_seconds) {
  Course out;
  int steps = 1;
  const Recipe recipe = in_frames(given, steps);
  try {
    World world(scene, recipe);
    world.keep_books(true);
    const Diagnostics start = world.diagnostics();
    double left_over = 0, scale = 0, spent = 0;
    out.at.push_back(positions(world));
    const int every = std::max(1, frames / looks);
    for (int frame = 1; frame <= frames; ++frame) {
      const double before = cpu_now();
      for (int i = 0; i < steps; ++i) world.step();
      spent += cpu_now() - before;
      out.seconds = spent / frame;
      if (frame % every == 0) out.at.push_back(positions(world));
      const Diagnostics now = world.diagnostics();
      const EnergyBalance& books = now.energy_balance;
      left_over = std::max(left_over, std::abs(books.kept ? books.left_over : now.energy() - start.energy()));
      scale = std::max(scale, now.kinetic_energy);
      if (spent > most_seconds) {
        out.failure = frame < frames ? fmt::format("too slow: {} of {} frames", frame, frames) : "";
        break;
      }
    }
    out.energy = scale > 0 ? left_over / scale : left_over;
  } catch (const Error& error) {
    out.failure = error.what();
  }
  return out;
}

/// What positions are compared by: the larger of the scene's size and the farthest way that anything went.
double size_of(const Course& course) {
  double size = 0;
  const VecX& start = course.at.front();
  const auto points = start.size() / 3;
  Vec3 middle = Vec3::Zero();
  for (Eigen::Index i = 0; i < points; ++i) middle += start.segment<3>(3 * i) / static_cast<double>(points);
  for (Eigen::Index i = 0; i < points; ++i) {
    size = std::max(size, (start.segment<3>(3 * i) - middle).norm());
    for (const VecX& at : course.at) size = std::max(size, (at.segment<3>(3 * i) - start.segment<3>(3 * i)).norm());
  }
  return size > 0 ? size : 1;
}

/// The largest distance between the same body in both, over the first `moments`.
double deviation(const Course& a, const Course& b, std::size_t moments) {
  double worst = 0;
  for (std::size_t k = 0; k < moments; ++k)
    for (Eigen::Index i = 0; i < a.at[k].size() / 3; ++i)
      worst = std::max(worst, (a.at[k].segment<3>(3 * i) - b.at[k].segment<3>(3 * i)).norm());
  return worst;
}

/// The run that others are measured against, and how far it can be trusted.
struct Reference {
  Course course;
  std::size_t moments = 0;  // at which it agrees with a second one, made otherwise
  double size = 1, doubt = 0;
  bool by_energy = false;  // where it does not agree for long enough
  std::string words;
};

/// Half the step, and where steps follow a tolerance, a tenth of it: either alone may change nothing at all.
Recipe finer(const Recipe& recipe) {
  Recipe out = recipe;
  out.dt /= 2;
  std::visit(
      [&](auto& method) {
        if constexpr (requires { method.relative_tolerance; }) {
          method.relative_tolerance = std::max(0.1 * method.relative_tolerance, 1e-14);
          method.absolute_tolerance *= 0.1;
        }
      },
      out.integrator);
  return out;
}

Reference make_reference(const Scene& scene, double error, int frames, double seconds) {
  Reference out;
  // The finest that there is time for: two runs, the second one finer still.
  Course second;
  Recipe recipe;
  std::string failure;
  for (double accuracy = std::clamp(0.01 * error, finest_reference, 0.01);; accuracy *= 10) {
    if (accuracy > 0.1)
      throw Error(fmt::format("no reference run could be made: {}{}", failure,
                              failure.starts_with("too slow") ? "; --limit allows more time" : ""));
    recipe = recipe_for(scene, accuracy);
    out.course = run_course(scene, recipe, frames, seconds / 3);
    failure = out.course.failure;
    if (!failure.empty()) continue;
    second = run_course(scene, finer(recipe), frames, seconds);
    if (second.failure.empty()) break;
    failure = second.failure;
  }
  std::swap(second, out.course);  // the finer one is the reference
  out.size = size_of(out.course);
  while (out.moments < out.course.at.size() && deviation(out.course, second, out.moments + 1) / out.size <= trusted * error)
    ++out.moments;
  constexpr std::size_t fewest = 4;  // moments that say something of a motion
  out.by_energy = out.moments < fewest;
  out.doubt = deviation(out.course, second, std::min(std::max(out.moments, fewest), out.course.at.size())) / out.size;
  int steps = 1;
  out.words = fmt::format("{}, {}, {} s steps", name_of(recipe.integrator), name_of(recipe.formulation),
                          shortest(in_frames(finer(recipe), steps).dt));
  return out;
}

struct Tried {
  std::string family;
  Recipe recipe;
  double error = infinity, milliseconds = infinity;
  std::string failure = {};
};

/// Kinds of recipes worth trying for a scene: what the dial would take, and other solvers and steppers that fit.
std::vector<std::pair<std::string, Recipe>> families(const Scene& scene) {
  std::vector<std::pair<std::string, Recipe>> out;
  const JointNeeds needs = needs_of(scene);
  const auto add = [&](std::string name, Recipe recipe) {
    recipe.threads = 1;
    recipe.dt = frame_time;
    if (!misfit(recipe, needs).empty()) return;
    for (const auto& [other, known] : out)
      if (other == name || same_recipe(known, recipe)) return;
    out.emplace_back(std::move(name), recipe);
  };
  const auto described = [](const Recipe& r) {
    if (const auto* stepper = std::get_if<RealtimeStepperSettings>(&r.stepper))
      return fmt::format("realtime, {} substeps", stepper->substeps);
    if (by_impulses(r.formulation)) return fmt::format("impulses, {}", name_of(r.solver));
    const bool usual = std::holds_alternative<AccelerationSettings>(r.formulation);
    return fmt::format("{}{}{}", name_of(r.integrator), usual ? "" : ", ", usual ? "" : name_of(r.formulation));
  };
  std::vector<Recipe> bases;
  for (const Dial dial : {Dial::realtime, Dial::balanced, Dial::exact}) bases.push_back(recipe_for(scene, dial));
  for (const double accuracy : {1e-4, 1e-6, 1e-8, 1e-10}) bases.push_back(recipe_for(scene, accuracy));
  for (const Recipe& base : bases) {
    std::string name = described(base);
    std::visit(
        [&](const auto& method) {
          if constexpr (requires { method.relative_tolerance; }) name += fmt::format(" {:.0e}", method.relative_tolerance);
        },
        base.integrator);
    add(name, base);
    const bool impulses = by_impulses(base.formulation);
    if (!impulses) {
      // Other methods of fixed step in the same formulation.
      for (const char* method : {"rk4", "gauss6", "rattle4", "rattle6"}) {
        Recipe other = base;
        set(other, "integrator", method);
        add(described(other), other);
      }
      continue;
    }
    for (const double tolerance : {1e-3, 1e-6}) {
      Recipe other = base;
      other.solver = automatic_solver(tolerance);
      add(fmt::format("auto to {:.0e}", tolerance), other);
      other.solver = NncgSettings{.tolerance = tolerance, .max_iterations = 100};
      add(fmt::format("nncg to {:.0e}", tolerance), other);
    }
    for (const int sweeps : {10, 30}) {
      Recipe other = base;
      other.solver = PgsSettings{.relaxation = automatic_relaxation, .tolerance = 1e-4, .max_iterations = sweeps};
      add(fmt::format("pgs auto, {} sweeps", sweeps), other);
    }
  }
  // Who cannot be run by the real-time stepper is refused when its world is made, and stands in the table as such.
  for (const int substeps : {2, 4, 8, 16}) {
    Recipe other = recipes::fastest();
    other.stepper = RealtimeStepperSettings{.substeps = substeps};
    add(fmt::format("realtime, {} substeps", substeps), other);
  }
  return out;
}

/// By how many orders of magnitude both wishes are missed at most; below zero where they are met.
double shortfall(const Tried& one, const WishOptions& options) {
  double out = -infinity;
  if (options.error) out = std::max(out, std::log10(one.error / *options.error));
  if (options.budget) out = std::max(out, std::log10(one.milliseconds / (reserve * *options.budget)));
  return out;
}

/// What is to be had: of those that meet the wish the cheapest; where time alone is asked for, the cheapest that is about as
/// accurate as any within it; of none, the nearest.
const Tried* best_of(const std::vector<Tried>& all, const WishOptions& options) {
  constexpr double about = 2;
  double least = infinity;  // error of those that meet the wish
  for (const Tried& one : all)
    if (shortfall(one, options) <= 0) least = std::min(least, one.error);
  const auto good = [&](const Tried& one) {
    return shortfall(one, options) <= 0 && (options.error || one.error <= about * least);
  };
  const Tried* best = nullptr;
  const auto better = [&](const Tried& a, const Tried& b) {
    if (good(a) != good(b)) return good(a);
    return good(a) ? a.milliseconds < b.milliseconds : shortfall(a, options) < shortfall(b, options);
  };
  for (const Tried& one : all)
    if (std::isfinite(one.error) && (best == nullptr || better(one, *best))) best = &one;
  return best;
}

std::string curve_svg(const std::string& name, const Reference& reference, const std::vector<Tried>& all) {
  Plot plot{.title = fmt::format("{}: error against time, all that was tried", name),
            .x = {"CPU time per frame of 1/60 s [ms]", true},
            .y = {reference.by_energy ? "relative error of energy" : "relative error of positions", true},
            .series = {}};
  for (const Tried& one : all) {
    if (!std::isfinite(one.error)) continue;
    auto at = std::find_if(plot.series.begin(), plot.series.end(), [&](const PlotSeries& s) { return s.name == one.family; });
    if (at == plot.series.end())
      at = plot.series.insert(plot.series.end(), {.name = one.family, .x = {}, .y = {}, .markers = true});
    at->x.push_back(one.milliseconds);
    at->y.push_back(std::max(one.error, 1e-16));
  }
  return to_svg(plot);
}

}  // namespace

int wish_command(const WishOptions& options) {
  if (!options.error && !options.budget) throw Error("give --error, --budget or both: what is wished for");
  const NamedScene named = find_scene(options.scene);
  const Scene& scene = named.scene;
  const double duration = options.duration.value_or(std::min(scene.recipe.duration, 2.0));
  const int frames = std::max(4, static_cast<int>(std::lround(duration / frame_time)));
  const double error = options.error.value_or(1e-3);
  const double begun = cpu_now();
  Reference reference;
  try {
    reference = make_reference(scene, error, frames, reference_share * options.limit);
  } catch (const Error& reason) {
    throw Error(named.origin, reason.what());
  }
  const auto compare = [&](const Course& course) {
    if (!course.failure.empty()) return infinity;
    if (reference.by_energy) return std::isfinite(course.energy) ? course.energy : infinity;
    if (course.at.size() < reference.moments) return infinity;
    const double off = deviation(course, reference.course, reference.moments) / reference.size;
    return std::isfinite(off) ? off : infinity;
  };

  std::vector<Tried> tried;
  const std::vector<std::pair<std::string, Recipe>> kinds = families(scene);
  {
    ProgressBar bar(static_cast<std::int64_t>(kinds.size()), !options.json, "kind");
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      bar.at(static_cast<std::int64_t>(k));
      const double share = (options.limit - (cpu_now() - begun)) / static_cast<double>(kinds.size() - k);
      const double kind_begun = cpu_now();
      const bool adaptive = std::visit([](const auto& method) { return method.traits.adaptive; }, kinds[k].second.integrator) &&
                            std::holds_alternative<ReferenceStepperSettings>(kinds[k].second.stepper);
      for (int halvings = 0; halvings <= (adaptive ? 0 : finest_halvings); ++halvings) {
        Tried one{.family = kinds[k].first, .recipe = kinds[k].second};
        one.recipe.dt = frame_time / (1 << halvings);
        const double left = share - (cpu_now() - kind_begun);
        if (left <= 0) break;
        const Course course = run_course(scene, one.recipe, frames, left);
        one.milliseconds = course.at.size() > 1 ? 1e3 * course.seconds : infinity;
        one.error = compare(course);
        one.failure = course.failure;
        tried.push_back(one);
        const bool enough = options.error && one.error < 0.01 * *options.error;
        const bool slow = options.budget && one.milliseconds > hopeless * *options.budget;
        const bool refused = course.at.empty();
        if (enough || slow || refused || course.failure.starts_with("too slow")) break;
      }
    }
  }
  // Times of one run may be off: the choice is measured again, and given up for the next one where it does not hold.
  const Tried* best = nullptr;
  for (int again = 0; again < 5; ++again) {
    best = best_of(tried, options);
    if (best == nullptr) throw Error(named.origin, "nothing that was tried came to its end in time; allow more with --limit");
    const Course course = run_course(scene, best->recipe, frames, options.limit);
    Tried& one = tried[static_cast<std::size_t>(best - tried.data())];
    const bool met = shortfall(one, options) <= 0;
    one.milliseconds = std::max(one.milliseconds, 1e3 * course.seconds);
    if (!met || shortfall(one, options) <= 0) break;
  }
  const bool met = shortfall(*best, options) <= 0;

  int steps = 1;
  Recipe recipe = in_frames(best->recipe, steps);
  recipe.duration = scene.recipe.duration;
  const Json recipe_json = Json::parse(to_complete_json(recipe));
  if (!options.out.empty()) write_text_file(options.out, recipe_json.dump(2) + "\n");
  if (!options.svg.empty()) write_text_file(options.svg, curve_svg(named.name, reference, tried));
  const int compared = reference.by_energy ? frames : static_cast<int>(reference.moments - 1) * std::max(1, frames / looks);
  const std::string measure =
      reference.by_energy ? std::string(
                                "energy that is left over, relative to the largest energy in motion: positions cannot be told so "
                                "exactly for long")
                          : fmt::format("largest distance of any body from the reference, relative to {:.3g} m, up to {:.3g} s",
                                        reference.size, compared * frame_time);
  if (options.json) {
    Json rows = Json::array();
    for (const Tried& one : tried)
      rows.push_back({{"kind", one.family},
                      {"dt", one.recipe.dt},
                      {"error", std::isfinite(one.error) ? Json(one.error) : Json()},
                      {"ms_per_frame", std::isfinite(one.milliseconds) ? Json(one.milliseconds) : Json()},
                      {"failure", one.failure}});
    const Json result = {
        {"scene", named.name},
        {"met", met},
        {"error", best->error},
        {"ms_per_frame", best->milliseconds},
        {"measure", measure},
        {"reference", {{"recipe", reference.words}, {"doubt", std::isfinite(reference.doubt) ? Json(reference.doubt) : Json()}}},
        {"kind", best->family},
        {"recipe", recipe_json},
        {"tried", rows}};
    print(result.dump(2) + "\n");
    return met ? 0 : 1;
  }
  std::string text =
      fmt::format("{}: {}\n  error is      the {}\n  reference     {}; two such runs differ by {:.2g}\n", shown(named.name),
                  met ? "the wish is met" : "nothing meets the wish; the nearest is", measure, reference.words, reference.doubt);
  text += fmt::format("  found         {}, {} a frame: error {:.2g}, {:.3g} ms of CPU per frame of 1/60 s\n\n", best->family,
                      steps == 1 ? "1 step" : fmt::format("{} steps", steps), best->error, best->milliseconds);
  text += fmt::format("  {:<28} {:>11} {:>10} {:>10}\n", "all that was tried", "steps/frame", "error", "ms/frame");
  for (const Tried& one : tried) {
    int count = 1;
    static_cast<void>(in_frames(one.recipe, count));
    text += fmt::format("{} {:<28} {:>11} {:>10} {:>10}\n", &one == best ? " *" : "  ", one.family, count,
                        std::isfinite(one.error) ? fmt::format("{:.2e}", one.error) : "-",
                        std::isfinite(one.milliseconds) ? fmt::format("{:.3g}", one.milliseconds) : "-");
  }
  if (!options.out.empty())
    text += fmt::format("\n  {}: written; rotule run {} --recipe {}\n", options.out, options.scene, options.out);
  else
    text += fmt::format("\n{}\n", recipe_json.dump(2));
  print(text);
  return met ? 0 : 1;
}

}  // namespace rotule::app
