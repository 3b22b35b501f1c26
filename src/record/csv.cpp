#include <fmt/format.h>

#include "record/beside_file.h"
#include "record/tables.h"

namespace rotule {

namespace {

/// In quotes where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

struct Array {
  const char* name;
  const char* unit;
  std::vector<const char*> components;  // none: the number itself
  const std::vector<double>& (*of)(const TrajectoryFrame&);
};

const std::vector<const char*> xyz{"x", "y", "z"}, wxyz{"w", "x", "y", "z"};

const std::vector<Array>& body_arrays() {
  using F = TrajectoryFrame;
  static const std::vector<Array> out{
      {"position", "m", xyz, [](const F& f) -> const std::vector<double>& { return f.position; }},
      {"orientation", "", wxyz, [](const F& f) -> const std::vector<double>& { return f.orientation; }},
      {"velocity", "m/s", xyz, [](const F& f) -> const std::vector<double>& { return f.velocity; }},
      {"angular_velocity", "rad/s", xyz, [](const F& f) -> const std::vector<double>& { return f.angular_velocity; }}};
  return out;
}
const std::vector<Array>& particle_arrays() {
  using F = TrajectoryFrame;
  static const std::vector<Array> out{
      {"position", "m", xyz, [](const F& f) -> const std::vector<double>& { return f.particle_position; }},
      {"velocity", "m/s", xyz, [](const F& f) -> const std::vector<double>& { return f.particle_velocity; }}};
  return out;
}
const std::vector<Array>& joint_arrays() {
  using F = TrajectoryFrame;
  static const std::vector<Array> out{
      {"force", "N", xyz, [](const F& f) -> const std::vector<double>& { return f.joint_force; }},
      {"torque", "N m", xyz, [](const F& f) -> const std::vector<double>& { return f.joint_torque; }},
      {"error", "m or rad", {}, [](const F& f) -> const std::vector<double>& { return f.joint_error; }}};
  return out;
}

void add_header(const std::vector<std::string>& names, const std::vector<Array>& arrays, std::string& line) {
  for (const std::string& name : names)
    for (const Array& array : arrays) {
      const std::string unit = *array.unit == '\0' ? "" : fmt::format(" [{}]", array.unit);
      const auto add = [&](const std::string& quantity) {
        line += ',';
        line += cell(quantity + unit);
      };
      if (array.components.empty()) add(fmt::format("{}.{}", name, array.name));
      for (const char* component : array.components) add(fmt::format("{}.{}.{}", name, array.name, component));
    }
}

void add_numbers(const TrajectoryFrame& frame, std::size_t count, const std::vector<Array>& arrays, std::string& line) {
  for (std::size_t i = 0; i < count; ++i)
    for (const Array& array : arrays) {
      const std::size_t width = std::max<std::size_t>(1, array.components.size());
      for (std::size_t k = 0; k < width; ++k) fmt::format_to(std::back_inserter(line), ",{}", array.of(frame)[i * width + k]);
    }
}

}  // namespace

void write_csv(const RecordedMotion& motion, double rate, const std::string& path) {
  BesideFile file(path);
  std::string line = "time [s],kinetic_energy [J],potential_energy [J]";
  for (const char* axis : xyz) line += fmt::format(",momentum.{} [kg m/s]", axis);
  for (const char* axis : xyz) line += fmt::format(",angular_momentum.{} [kg m^2/s]", axis);
  line += ",residual,contacts,penetration [m]";
  add_header(motion.bodies, body_arrays(), line);
  add_header(motion.particles, particle_arrays(), line);
  add_header(motion.joints, joint_arrays(), line);
  file.write(line + "\n");
  motion.visit(motion.moments(rate), [&](const TrajectoryFrame& f) {
    line = fmt::format("{},{},{}", f.time, f.kinetic_energy, f.potential_energy);
    for (const Vec3* v : {&f.linear_momentum, &f.angular_momentum})
      for (const double x : *v) fmt::format_to(std::back_inserter(line), ",{}", x);
    fmt::format_to(std::back_inserter(line), ",{},{},{}", f.residual, f.contacts, f.penetration);
    add_numbers(f, motion.bodies.size(), body_arrays(), line);
    add_numbers(f, motion.particles.size(), particle_arrays(), line);
    add_numbers(f, motion.joints.size(), joint_arrays(), line);
    line += '\n';
    file.write(line);
  });
  file.finish();
}

}  // namespace rotule
