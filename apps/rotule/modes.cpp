// rotule modes: how a scene oscillates about a pose, and its linear state space for the design of control.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/state_space.h>

#include <algorithm>
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

/// The modes of the present pose, with what is to be said of it.
Json modes_now(const World& world, const LinearisationSettings& settings) {
  const Linearisation l = linearise(world, settings);
  Json rows = Json::array();
  for (const DampedMode& mode : damped_modes(l))
    rows.push_back({{"real", mode.eigenvalue.real()},
                    {"imaginary", mode.eigenvalue.imag()},
                    {"frequency", mode.frequency},
                    {"damping_ratio", mode.damping_ratio},
                    {"leader", leader_of(mode, l, world)}});
  Json out = {{"time", world.time()}, {"unbalance", l.unbalance}};
  if (settings.contacts)
    out["contacts"] = {{"pressed", l.pressed_contacts}, {"open", l.open_contacts}, {"slipping", l.slipping_contacts}};
  out["modes"] = std::move(rows);
  return out;
}

std::string words_on_contacts(const Json& now) {
  if (!now.contains("contacts")) return {};
  const Json& count = now["contacts"];
  std::string text = fmt::format("contacts held: {}", count["pressed"].get<int>());
  if (const int open = count["open"].get<int>(); open > 0)
    text += fmt::format("; {} touch without pressing, and are left out", open);
  if (const int slip = count["slipping"].get<int>(); slip > 0)
    text += fmt::format("; {} would need more friction than they have", slip);
  return text + "\n";
}

std::string table_of(const Json& now, bool relaxed) {
  std::string text = fmt::format("{:>4} {:>13} {:>9} {:>26}  {}\n", "", "frequency", "damping", "eigenvalue [1/s]", "moves most");
  int number = 0;
  for (const Json& row : now["modes"])
    text += fmt::format("{:>4} {:>10.5g} Hz {:>9.4f} {:>12.5g} {:>+12.5g} i  {}\n", ++number, row["frequency"].get<double>(),
                        row["damping_ratio"].get<double>(), row["real"].get<double>(), row["imaginary"].get<double>(),
                        shown(row["leader"].get<std::string>()));
  text += words_on_contacts(now);
  if (const double unbalance = now["unbalance"].get<double>(); unbalance > balanced_enough)
    text += fmt::format("not in equilibrium: at rest in this pose it would accelerate by {:.3g} m/s^2, rad/s^2{}\n", unbalance,
                        relaxed ? "" : "; --relax finds one");
  return text;
}

/// A line per pose: its slowest modes.
std::string course_of(const Json& poses) {
  constexpr int most_columns = 8;
  int columns = 0;
  for (const Json& now : poses) columns = std::max(columns, std::min(most_columns, static_cast<int>(now["modes"].size())));
  std::string text =
      fmt::format("{:>10} {:>11}  frequency [Hz] of the slowest modes; ! where one grows\n", "time [s]", "unbalance");
  for (const Json& now : poses) {
    text += fmt::format("{:>10.5g} {:>11.3g} ", now["time"].get<double>(), now["unbalance"].get<double>());
    for (int k = 0; k < std::min(columns, static_cast<int>(now["modes"].size())); ++k) {
      const Json& row = now["modes"][static_cast<std::size_t>(k)];
      const bool grows = row["real"].get<double>() > 1e-9 * std::abs(row["imaginary"].get<double>());
      text += fmt::format(" {:>10.5g}{}", row["frequency"].get<double>(), grows ? '!' : ' ');
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void modes(const ModesOptions& options) {
  const NamedScene named = find_scene(options.scene);
  if (!options.state_space.empty()) require_other_file(options.state_space, options.scene);
  const LinearisationSettings settings{
      .contacts = options.contacts, .contact_stiffness = options.contact_stiffness, .shear_ratio = options.shear_ratio};
  Json poses = Json::array();
  try {
    World world(named.scene);
    if (options.relax) {
      // Frequencies deserve more digits than a resting place does.
      double heaviest = 0;
      for (const BodyId body : world.bodies()) heaviest = std::max(heaviest, world.mass(body));
      const double weight = heaviest * world.gravity().norm();
      relax(world, {.force_tolerance = weight > 0 ? 1e-7 * weight : 1e-7, .linear_tolerance = 1e-4});
    }
    const auto is_time = [](double t) { return t >= 0 && std::isfinite(t); };
    if (!is_time(options.at)) throw Error("--at: must be a time of the run, from 0 on");
    if (!is_time(options.every)) throw Error("--every: must be a time greater than 0");
    const auto go_to = [&](double t) {
      while (world.time() < t) world.step(std::min(world.recipe().dt, t - world.time()));
    };
    if (options.every > 0) {
      const double end = options.at > 0 ? options.at : world.recipe().duration;
      const double count = std::floor(end / options.every * (1 + 1e-12));
      if (!(count < 1e5)) throw Error("--every: would make more than 100000 poses; take a longer time");
      for (int k = 0; k <= static_cast<int>(count); ++k) {
        go_to(k * options.every);
        poses.push_back(modes_now(world, settings));
      }
    } else {
      go_to(options.at);
      poses.push_back(modes_now(world, settings));
    }
    if (!options.state_space.empty()) write_state_space(state_space(world, options.axes, settings), options.state_space);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  if (options.json) {
    Json out = {{"scene", named.name}};
    if (options.every > 0)
      out["poses"] = std::move(poses);
    else
      out.update(poses[0]);
    return print(out.dump(2) + "\n");
  }
  print(fmt::format("{}: modes\n", shown(named.name)) +
        (options.every > 0 ? course_of(poses) : table_of(poses[0], options.relax)));
}

}  // namespace rotule::app
