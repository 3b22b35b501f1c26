#include "robot/mjcf_sensors.h"

#include <fmt/format.h>

#include <optional>

#include "robot/sensor_kinds.h"

namespace rotule::robot {

namespace {

class SensorReader {
 public:
  SensorReader(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons, Tree& tree)
      : context_(context), names_(names), tendons_(tendons), tree_(tree) {
    for (const Element& option : context.sections("option")) field_ = option.vec3("magnetic", field_);
  }

  void read(const Element& element) {
    const SensorWord* const word = sensor_word(element.tag());
    if (word == nullptr)
      return element.remark(context_.remarks, fmt::format("sensor {}", element.tag()), "is left out: its kind is not known");
    TreeSensor sensor;
    sensor.element = element;
    RobotSensor& law = sensor.law;
    law.name = element.text("name", fmt::format("{} {}", word->word, tree_.sensors.size()));
    law.type = word->word;
    law.size = word->size;
    law.unit = word->unit;
    law.cutoff = element.number("cutoff", 0);
    law.noise = element.number("noise", 0);
    if (law.noise > 0)
      element.remark(context_.remarks, "sensor@noise", "is told (RobotSensor::noise), and not added: readings are exact");
    const bool known = find_subject(element, *word, sensor);
    element.tell_unread(context_.remarks);
    if (known) tree_.sensors.push_back(std::move(sensor));
  }

 private:
  /// Whether what it is about is there; what is not is told.
  bool find_subject(const Element& element, const SensorWord& word, TreeSensor& sensor) {
    using Subject = SensorSubject;
    switch (word.subject) {
      case Subject::site: {
        const Tree::Site& site = names_.find_site(element, element.required("site"));
        sensor.seat = {site.link, site.pose};
        sensor.law.zone = site.zone;
        sensor.law.field = field_;
        if (word.kind == SensorKind::force || word.kind == SensorKind::torque) sensor.above = site.link;
        return word.kind == SensorKind::force || word.kind == SensorKind::torque ? feels(element, site.link) : true;
      }
      case Subject::object:
        return find_object(element, "objtype", "objname", word.turns, sensor.seat) &&
               (!element.has("refname") || find_object(element, "reftype", "refname", true, sensor.against));
      case Subject::body:
        sensor.above = names_.find_body(element, element.required("body"));
        return true;
      case Subject::joint:
      case Subject::ball:
        return find_joint(element, word, sensor);
      case Subject::tendon: {
        const auto found = tendons_.find(element.required("tendon"));
        if (found == tendons_.end()) return leave(element, "is left out: its tendon is no fixed one");
        sensor.joints = found->second.joints;
        return true;
      }
      case Subject::actuator: {
        sensor.law.actuator = element.required("actuator");
        for (const TreeActuator& actuator : tree_.actuators)
          if (actuator.law.name == sensor.law.actuator) return true;
        return leave(element, "is left out: there is no such actuator, or it was left out");
      }
      case Subject::nothing:
        break;
    }
    return true;
  }

  bool find_joint(const Element& element, const SensorWord& word, TreeSensor& sensor) {
    const JointPlace place = names_.find_joint(element, element.required("joint"));
    const TreeLink& link = tree_.links[static_cast<std::size_t>(place.link)];
    const TreeJoint& joint = link.joints[static_cast<std::size_t>(place.joint)];
    using Kind = TreeJoint::Kind;
    if (word.subject == SensorSubject::ball) {
      if (joint.kind != Kind::ball) element.fail("needs a ball joint");
      if (link.joints.size() > 1) return leave(element, "is left out: its body has other joints besides the ball");
      sensor.seat = {place.link, {}};
      sensor.against = {link.parent, link.rest};
      return true;
    }
    if (joint.kind != Kind::hinge && joint.kind != Kind::slide) element.fail("needs a hinge or a slide");
    if (joint.kind == Kind::slide)
      sensor.law.unit = word.kind == SensorKind::jointpos ? "m" : word.kind == SensorKind::jointvel ? "m/s" : "N";
    sensor.joints = {{place, 1.0}};
    return true;
  }

  /// A body's frame (xbody), its centre of mass (body), a site.
  bool find_object(const Element& element, const char* type_key, const char* name_key, bool turns,
                   std::optional<TreeSensor::Seat>& out) {
    const std::string type = element.required(type_key), name = element.required(name_key);
    if (type == "site") {
      const Tree::Site& site = names_.find_site(element, name);
      out = {site.link, site.pose};
      return true;
    }
    if (type != "body" && type != "xbody") return leave(element, fmt::format("is left out: {}s have no frames here", type));
    const int link = names_.find_body(element, name);
    out = {link, {}};
    if (type == "xbody" || link < 0) return true;
    if (turns) return leave(element, "is left out: principal axes have no order of their own; xbody has the body's");
    if (const auto& inertial = tree_.links[static_cast<std::size_t>(link)].inertial)
      out->pose.position = inertial->center_of_mass;
    return true;
  }

  /// Forces are those that move what the link carries: others that act on that are not known one by one.
  bool feels(const Element& element, int link) {
    if (link < 0) return leave(element, "is left out: nothing holds the world");
    if (!tree_.closures.empty() || !tree_.couplings.empty())
      element.remark(context_.remarks, element.title(),
                     "does not tell what equality constraints exert from what its body carries");
    if (tree_.links[static_cast<std::size_t>(link)].joints.empty() && link > 0)
      element.remark(context_.remarks, element.title(), "is on a link that is held fast: contacts of that link do not reach it");
    return true;
  }

  bool leave(const Element& element, const std::string& why) {
    element.remark(context_.remarks, fmt::format("sensor {}", element.title()), why);
    return false;
  }

  MjcfContext& context_;
  const MjcfNames& names_;
  const std::map<std::string, FixedTendon>& tendons_;
  Tree& tree_;
  Vec3 field_{0, -0.5, 0};  // MJCF's
};

}  // namespace

void read_sensors(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons, Tree& tree) {
  SensorReader reader(context, names, tendons, tree);
  for (const Element& section : context.sections("sensor"))
    for (const Element& element : context.children(section)) reader.read(element);
}

}  // namespace rotule::robot
