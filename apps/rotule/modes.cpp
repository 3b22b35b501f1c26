// rotule modes: how a scene oscillates about a pose, and its linear state space for the design of control.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/state_space.h>

#include <cmath>
#include <filesystem>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/hdf5_file.h"
#include "record/json_text.h"

namespace rotule::app {
namespace {

/// An equilibrium to this many m/s^2, rad/s^2: modes mean what they say.
constexpr double balanced_enough = 1e-3;

/// Who moves most in a mode.
std::string leader_of(const DampedMode& mode, const Linearisation& l, const World& world) {
  Eigen::Index largest = 0;
  mode.shape.cwiseAbs().maxCoeff(&largest);
  const auto bodies = static_cast<Eigen::Index>(l.bodies.size());
  if (largest >= 6 * bodies) return world.particle_name(l.particles[(largest - 6 * bodies) / 3]);
  static constexpr std::array components{"x", "y", "z", "rx", "ry", "rz"};
  return fmt::format("{}.{}", world.name(l.bodies[largest / 6]), components[largest % 6]);
}

Json rows_of(const MatX& M) {
  Json out = Json::array();
  for (Eigen::Index i = 0; i < M.rows(); ++i) out.push_back(std::vector<double>(M.row(i).begin(), M.row(i).end()));
  return out;
}

void write_state_space(const StateSpace& s, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const std::array<std::pair<const char*, const MatX*>, 4> matrices{{{"A", &s.A}, {"B", &s.B}, {"C", &s.C}, {"D", &s.D}}};
  if (ending == ".h5") {
    Hdf5File file = Hdf5File::create(path);
    for (const auto& [name, M] : matrices) {
      const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = *M;
      file.write(fmt::format("/{}", name), std::span<const double>(rows.data(), static_cast<std::size_t>(rows.size())),
                 {static_cast<Hdf5Size>(rows.rows()), static_cast<Hdf5Size>(rows.cols())});
    }
    file.write("/states", s.states);
    file.write("/inputs", s.inputs);
    file.write("/outputs", s.outputs);
    return file.finish();
  }
  if (ending == ".json") {
    Json out = {{"states", s.states}, {"inputs", s.inputs}, {"outputs", s.outputs}};
    for (const auto& [name, M] : matrices) out[name] = rows_of(*M);
    return write_text_file(path, out.dump(1) + "\n");
  }
  if (ending != ".csv") throw Error(path, "must end in .json, .csv or .h5: the ending says what is written");
  std::string text;
  for (const auto& [name, M] : matrices)
    for (Eigen::Index i = 0; i < M->rows(); ++i) {
      text += name;
      for (Eigen::Index k = 0; k < M->cols(); ++k) text += "," + shortest((*M)(i, k));
      text += "\n";
    }
  write_text_file(path, text);
}

}  // namespace

void modes(const ModesOptions& options) {
  const NamedScene named = find_scene(options.scene);
  if (!options.state_space.empty()) require_other_file(options.state_space, options.scene);
  Json rows = Json::array();
  double unbalance = 0;
  try {
    World world(named.scene);
    if (options.relax) {
      // Frequencies deserve more digits than a resting place does.
      double heaviest = 0;
      for (const BodyId body : world.bodies()) heaviest = std::max(heaviest, world.mass(body));
      const double weight = heaviest * world.gravity().norm();
      relax(world, {.force_tolerance = weight > 0 ? 1e-7 * weight : 1e-7, .linear_tolerance = 1e-4});
    }
    if (options.at < 0 || !std::isfinite(options.at)) throw Error("--at: must be a time of the run, from 0 on");
    while (world.time() < options.at) world.step(std::min(world.recipe().dt, options.at - world.time()));
    const Linearisation l = linearise(world);
    unbalance = l.unbalance;
    for (const DampedMode& mode : damped_modes(l))
      rows.push_back({{"real", mode.eigenvalue.real()},
                      {"imaginary", mode.eigenvalue.imag()},
                      {"frequency", mode.frequency},
                      {"damping_ratio", mode.damping_ratio},
                      {"leader", leader_of(mode, l, world)}});
    if (!options.state_space.empty()) write_state_space(state_space(world, options.axes), options.state_space);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  if (options.json) {
    print(Json{{"scene", named.name}, {"unbalance", unbalance}, {"modes", rows}}.dump(2) + "\n");
    return;
  }
  std::string text = fmt::format("{}: modes\n{:>4} {:>13} {:>9} {:>26}  {}\n", shown(named.name), "", "frequency", "damping",
                                 "eigenvalue [1/s]", "moves most");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Json& row = rows[k];
    text += fmt::format("{:>4} {:>10.5g} Hz {:>9.4f} {:>12.5g} {:>+12.5g} i  {}\n", k + 1, row["frequency"].get<double>(),
                        row["damping_ratio"].get<double>(), row["real"].get<double>(), row["imaginary"].get<double>(),
                        shown(row["leader"].get<std::string>()));
  }
  if (unbalance > balanced_enough)
    text += fmt::format("not in equilibrium: at rest in this pose it would accelerate by {:.3g} m/s^2, rad/s^2{}\n", unbalance,
                        options.relax ? "" : "; --relax finds one");
  print(text);
}

}  // namespace rotule::app
