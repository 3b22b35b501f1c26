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

/// Quantities of the same things, next to each other in the list: their columns stand together, thing by thing.
struct Group {
  std::vector<const Quantity*> quantities;
  std::vector<std::string> names;  // of the things; one without a name where it is the run
};

std::vector<Group> groups_of(const RecordedMotion& motion) {
  std::vector<Group> out;
  for (const Quantity& q : quantities) {
    if (!is_recorded(q) || !motion.holds(q) || q.measured) continue;  // the same run gives the same file
    if (out.empty() || out.back().quantities.front()->per != q.per)
      out.push_back({{},
                     q.per == Per::body       ? motion.bodies
                     : q.per == Per::particle ? motion.particles
                     : q.per == Per::joint    ? motion.joints
                                              : std::vector<std::string>{""}});
    out.back().quantities.push_back(&q);
  }
  return out;
}

/// In brackets after the name; commas separate columns.
std::string unit_in_brackets(const Quantity& q) {
  std::string unit(q.unit);
  if (const std::size_t comma = unit.find(", "); comma != unit.npos) unit.replace(comma, 2, " or ");
  return unit.empty() ? "" : fmt::format(" [{}]", unit);
}

std::string header(const std::vector<Group>& groups) {
  std::string line;
  const auto add = [&](const std::string& column) { line += (line.empty() ? "" : ",") + cell(column); };
  for (const Group& group : groups)
    for (const std::string& thing : group.names)
      for (const Quantity* q : group.quantities) {
        const std::string name = q->per == Per::run ? std::string(q->key) : fmt::format("{}.{}", thing, part_name(*q));
        const std::vector<std::string_view> components = component_names(*q);
        if (components.empty()) add(name + unit_in_brackets(*q));
        for (const std::string_view component : components) add(fmt::format("{}.{}{}", name, component, unit_in_brackets(*q)));
      }
  return line;
}

}  // namespace

void write_csv(const RecordedMotion& motion, double rate, const std::string& path) {
  BesideFile file(path);
  const std::vector<Group> groups = groups_of(motion);
  std::string line = header(groups);
  file.write(line + "\n");
  motion.visit(motion.moments(rate), [&](const TrajectoryFrame& frame) {
    line.clear();
    for (const Group& group : groups)
      for (std::size_t i = 0; i < group.names.size(); ++i)
        for (const Quantity* q : group.quantities) {
          const auto width = static_cast<std::size_t>(q->components);
          for (std::size_t k = 0; k < width; ++k)
            fmt::format_to(std::back_inserter(line), "{}{}", line.empty() ? "" : ",", frame.values[index_of(*q)][i * width + k]);
        }
    line += '\n';
    file.write(line);
  });
  file.finish();
}

}  // namespace rotule
