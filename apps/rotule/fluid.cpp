// rotule fluid: the fluid of a recording as a picture.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/world.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "commands.h"
#include "record/colour_picture.h"
#include "record/fluid_slices.h"
#include "record/json_text.h"
#include "record/trajectory.h"

namespace rotule::app {

std::optional<RecordedPlane> recorded_plane(const World& world, const std::string& given) {
  if (world.fluid() == nullptr) {
    if (!given.empty()) throw Error("--slice: the scene has no fluid");
    return {};
  }
  const FluidDef& def = world.fluid()->def();
  RecordedPlane out;
  for (int a = 0; a < 3; ++a)
    if (def.grid[a] == 1) out.axis = a;
  out.at = 0.5 * (def.box[0][out.axis] + def.box[1][out.axis]);
  if (given.empty()) return out;
  const std::optional<double> at = given.size() > 2 ? to_double(given.substr(2)) : std::nullopt;
  const std::size_t axis = std::string_view("xyz").find(given[0]);
  if (axis > 2 || given[1] != '=' || !at)
    throw Error(fmt::format("--slice: must be an axis and a coordinate such as y=0.2, is {}", in_quotes(given)));
  out = {static_cast<int>(axis), *at};
  try {
    static_cast<void>(world.fluid()->slice(out.axis, out.at));
  } catch (const Error& error) {
    throw Error(fmt::format("--{}", error.what()));
  }
  return out;
}

void FluidTally::add(const World& world, double seconds) {
  if (world.fluid() == nullptr) return;
  const FluidReport& report = world.fluid()->report();
  seconds_ += seconds;
  substeps_ += report.substeps;
  iterations_ += report.coupling_iterations;
  residual_ = std::max(residual_, report.coupling_residual);
  cfl_ = std::max(cfl_, report.cfl);
  divergence_ = std::max(divergence_, report.divergence);
  const Vec3 left_over = world.fluid()->balance().momentum_left_over;
  momentum_left_over_ = std::max(momentum_left_over_, (left_over - left_over_before_).norm());
  left_over_before_ = left_over;
}

Json FluidTally::save() const {
  const Vec3& before = left_over_before_;
  return {substeps_,           iterations_, residual_,  cfl_,       divergence_,
          momentum_left_over_, before.x(),  before.y(), before.z(), seconds_};
}

void FluidTally::load(const Json& saved) {
  saved.at(0).get_to(substeps_);
  saved.at(1).get_to(iterations_);
  saved.at(2).get_to(residual_);
  saved.at(3).get_to(cfl_);
  saved.at(4).get_to(divergence_);
  saved.at(5).get_to(momentum_left_over_);
  for (int k = 0; k < 3; ++k) saved.at(6 + static_cast<std::size_t>(k)).get_to(left_over_before_[k]);
  saved.at(9).get_to(seconds_);
}

Json FluidTally::result(const World& world) const {
  const FluidLedger ledger = world.fluid()->ledger();
  const FluidBalance books = world.fluid()->balance();
  const auto list = [](const Vec3& v) -> Json { return {v.x(), v.y(), v.z()}; };
  return {{"cells", world.fluid()->cells()},
          {"bytes_per_cell", world.fluid()->bytes_per_cell()},
          {"ns_per_cell", substeps_ > 0 ? 1e9 * seconds_ / static_cast<double>(substeps_ * world.fluid()->cells()) : 0.0},
          {"substeps", substeps_},
          {"coupling_iterations", iterations_},
          {"coupling_residual", residual_},
          {"cfl", cfl_},
          {"divergence", divergence_},
          {"momentum", list(ledger.momentum)},
          {"kinetic_energy", ledger.kinetic_energy},
          {"dissipation", ledger.dissipation},
          {"balance",
           {{"momentum",
             {{"initial", list(books.momentum_start)},
              {"final", list(books.momentum)},
              {"sides", list(books.momentum_sides)},
              {"bodies", list(books.momentum_bodies)},
              {"left_over", list(books.momentum_left_over)},
              {"buoyancy", list(books.buoyancy)},
              {"most_left_over", momentum_left_over_}}},
            {"angular_momentum",
             {{"initial", list(books.angular_momentum_start)},
              {"final", list(books.angular_momentum)},
              {"sides", list(books.angular_momentum_sides)},
              {"bodies", list(books.angular_momentum_bodies)},
              {"left_over", list(books.angular_momentum_left_over)},
              {"buoyancy", list(books.angular_buoyancy)}}},
            {"energy",
             {{"initial", books.energy_start},
              {"final", books.energy},
              {"sides", books.energy_sides},
              {"bodies", books.energy_bodies},
              {"viscosity", books.viscosity},
              {"drag", books.drag},
              {"grip", books.grip},
              {"coupling", books.coupling},
              {"left_over", books.energy_left_over}}}}}};
}

std::string fluid_text(const Json& result) {
  const Json &momentum = result["balance"]["momentum"], &energy = result["balance"]["energy"];
  const auto number = [](const Json& group, const char* key) { return group[key].get<double>(); };
  std::string out =
      fmt::format("  fluid         {} cells, {} substeps, {} trials of coupling, {:.3g} m/s apart at most; CFL {:.3g} at most\n",
                  result["cells"].get<std::int64_t>(), result["substeps"].get<std::int64_t>(),
                  result["coupling_iterations"].get<std::int64_t>(), number(result, "coupling_residual"), number(result, "cfl"));
  out += fmt::format("    cost        {:.3g} ns per cell and substep, bodies included; fields of {:.3g} bytes per cell\n",
                     number(result, "ns_per_cell"), number(result, "bytes_per_cell"));
  out += fmt::format(
      "    energy      {:.4g} J -> {:.4g} J: sides {:+.4g} J, bodies {:+.4g} J, viscosity {:+.4g} J, drag {:+.4g} J, "
      "grip {:+.4g} J, coupling {:+.3g} J; left over {:.3g} J\n",
      number(energy, "initial"), number(energy, "final"), number(energy, "sides"), -number(energy, "bodies"),
      -number(energy, "viscosity"), -number(energy, "drag"), -number(energy, "grip"), -number(energy, "coupling"),
      number(energy, "left_over"));
  return out + fmt::format("    momentum    left over {:.2g} kg m/s in a step at most\n", number(momentum, "most_left_over"));
}

void fluid_picture(const FluidOptions& options) {
  const std::string ending = std::filesystem::path(options.out).extension().string();
  if (ending != ".png" && ending != ".svg") throw Error(options.out, "must end in .png or .svg: the ending says what is written");
  if (!names_recording(options.file)) throw Error(options.file, "is no recording; rotule run SCENE --record F.h5 makes one");
  require_other_file(options.out, options.file);
  const FluidSliceReader reader(options.file);
  const std::size_t index = options.at ? reader.nearest(*options.at) : reader.times().size() - 1;
  const FluidSlice slice = reader.slice(index);
  ColourPicture picture = picture_of(slice, options.quantity, options.largest.value_or(0));
  picture.title = fmt::format("{} at {:.4g} s, {} = {:.4g} m", options.quantity, reader.times()[index], "xyz"[reader.across()],
                              slice.origin[reader.across()]);
  write_text_file(options.out, ending == ".png" ? to_png(picture) : to_svg(picture));
}

}  // namespace rotule::app
