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
    if (!is_recorded(q) || !motion.holds(q) || q.measured || q.per == Per::contact) continue;  // the same run gives the same file
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

/// Contacts are others in every moment: a table of their own, one line for each.
void write_contacts(const RecordedMotion& motion, const std::vector<std::size_t>& moments, const std::string& path) {
  BesideFile file(path);
  std::string line = "time [s],body_a,body_b";
  std::vector<const Quantity*> columns;
  for (const Quantity& q : quantities)
    if (q.per == Per::contact && q.key != quantity("contact_bodies").key) columns.push_back(&q);
  for (const Quantity* q : columns) {
    if (q->components == 1) line += fmt::format(",{}{}", part_name(*q), unit_in_brackets(*q));
    for (const std::string_view component : component_names(*q))
      line += fmt::format(",{}.{}{}", part_name(*q), component, unit_in_brackets(*q));
  }
  file.write(line + "\n");
  motion.visit(moments, [&](const TrajectoryFrame& frame) {
    const std::vector<double>& bodies = frame["contact_bodies"];
    for (std::size_t k = 0; 2 * k + 1 < bodies.size(); ++k) {
      const auto name = [&](double number) { return cell(motion.bodies.at(static_cast<std::size_t>(number))); };
      line = fmt::format("{},{},{}", frame.number("time"), name(bodies[2 * k]), name(bodies[2 * k + 1]));
      for (const Quantity* q : columns) {
        const auto width = static_cast<std::size_t>(q->components);
        for (std::size_t i = 0; i < width; ++i)
          fmt::format_to(std::back_inserter(line), ",{}", frame.values[index_of(*q)].at(k * width + i));
      }
      file.write(line + "\n");
    }
  });
  file.finish();
}

bool has_contacts(const RecordedMotion& motion, const std::vector<std::size_t>& moments) {
  if (!motion.holds(quantity("contact_bodies"))) return false;
  bool any = false;
  motion.visit(moments, [&](const TrajectoryFrame& frame) { any = any || !frame["contact_bodies"].empty(); });
  return any;
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
  if (const std::vector<std::size_t> moments = motion.moments(rate); has_contacts(motion, moments)) {
    const std::string stem = path.ends_with(".csv") ? path.substr(0, path.size() - 4) : path;
    write_contacts(motion, moments, stem + ".contacts.csv");
  }
}

}  // namespace rotule
