#include "robot/mjcf_context.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/LU>
#include <algorithm>
#include <numbers>

#include "base/text.h"
#include "math/rotation.h"

namespace rotule::robot {

namespace {

constexpr int most_includes = 1000;
constexpr std::array<const char*, 5> orientations{"quat", "axisangle", "euler", "xyaxes", "zaxis"};

}  // namespace

MjcfContext::MjcfContext(const Element& root, const RobotOptions& given, Remarks& told)
    : options(given),
      remarks(told),
      files(root.source()->path, given),
      folder(root.source()->path.parent_path()),
      mesh_folder(folder) {
  top_ = children(root);
  for (const Element& element : sections("compiler")) read_compiler(element);
  classes_["main"] = {};
  for (const Element& element : sections("default")) read_defaults(element, {}, true);
}

void MjcfContext::include(const Element& element, std::vector<Element>& out, int depth) {
  const std::filesystem::path path = find_beside(element.required("file"), folder, element);
  if (std::find(including_.begin(), including_.end(), path) != including_.end() || depth > 32)
    element.fail("files include each other in a circle");
  if (++includes_ > most_includes) element.fail(fmt::format("is one of more than {}", most_includes));
  std::shared_ptr<const XmlFile>& file = included_[path];
  if (!file) file = read_xml(path, path.lexically_proximate(std::filesystem::current_path()).string());
  including_.push_back(path);
  const Element root(file, file->document.document_element());
  for (const Element& child : root.children())
    if (child.tag() == "include")
      include(child, out, depth + 1);
    else
      out.push_back(child);
  including_.pop_back();
}

std::filesystem::path MjcfContext::find_beside(const std::string& name, const std::filesystem::path& first,
                                               const Element& element) const {
  const std::filesystem::path beside = element.source()->path.parent_path();
  std::error_code error;
  const bool elsewhere = !std::filesystem::exists(first / name, error) && std::filesystem::exists(beside / name, error);
  return files.find(name, elsewhere ? beside : first, element);
}

std::vector<Element> MjcfContext::children(const Element& parent) {
  std::vector<Element> out;
  for (const Element& child : parent.children())
    if (child.tag() == "include")
      include(child, out, 0);
    else
      out.push_back(child);
  return out;
}

std::vector<Element> MjcfContext::sections(std::string_view tag) const {
  std::vector<Element> out;
  for (const Element& element : top_)
    if (element.tag() == tag) out.push_back(element);
  return out;
}

void MjcfContext::read_compiler(const Element& element) {
  if (const auto word = element.text("angle")) {
    if (*word != "degree" && *word != "radian") element.fail("angle must be degree or radian");
    degrees = *word == "degree";
  }
  if (const auto order = element.text("eulerseq")) {
    euler_order = *order;
    if (order->size() != 3 || order->find_first_not_of("xyzXYZ") != order->npos)
      element.fail("eulerseq must be three of x, y, z, X, Y, Z");
  }
  if (const auto flag = element.flag("autolimits")) auto_limits = *flag;
  if (const auto flag = element.flag("strippath")) strip_path = *flag;
  if (const auto flag = element.flag("balanceinertia")) balance_inertia = *flag;
  for (const char* name : {"assetdir", "meshdir"})
    if (const auto word = element.text(name)) mesh_folder = folder / *word;
  static_cast<void>(element.text("texturedir"));
  if (const auto word = element.text("inertiafromgeom"))
    inertia_from_geoms = *word == "true" ? FromGeoms::yes : *word == "false" ? FromGeoms::no : FromGeoms::missing;
  if (const auto range = element.numbers("inertiagrouprange", 2, 2)) inertia_groups = {(*range)[0], (*range)[1]};
  least_mass = element.number("boundmass", least_mass);
  least_inertia = element.number("boundinertia", least_inertia);
  if (const auto total = element.number("settotalmass"); total && *total > 0) total_mass = total;
  if (element.text("coordinate", "local") != "local")
    element.fail("coordinate must be local: global ones are no longer part of MJCF");
  element.tell_unread(remarks);
}

void MjcfContext::read_defaults(const Element& element, const std::vector<Element>& before, bool outermost) {
  const std::string name = outermost ? element.text("class", "main") : element.required("class");
  std::vector<Element> own = outermost && classes_.contains(name) ? classes_[name] : before;
  std::vector<Element> nested;
  for (const Element& child : children(element)) (child.tag() == "default" ? nested : own).push_back(child);
  if (outermost) classes_["main"] = own;
  classes_[name] = own;
  for (const Element& child : nested) read_defaults(child, own, false);
}

const std::vector<Element>& MjcfContext::chain(const Element& element, const std::string& around) const {
  const std::string name = element.text("class", around.empty() ? "main" : around);
  const auto found = classes_.find(name);
  if (found != classes_.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& each : classes_) known.push_back(each.first);
  element.fail(fmt::format("there is no class {} of defaults; {}", in_quotes(name), suggestion(name, known)));
}

Element MjcfContext::with_defaults(const Element& element, const std::string& around) const {
  std::map<std::string, Attribute> merged;
  for (const Element& each : chain(element, around))
    if (each.tag() == element.tag())
      for (const auto& [name, attribute] : each.attributes()) merged[name] = attribute;
  // One way to say an orientation takes the place of all others.
  if (std::any_of(orientations.begin(), orientations.end(), [&](const char* name) { return element.has(name); }))
    for (const char* name : orientations) merged.erase(name);
  merged.erase("class");
  Element out = element;
  out.inherit(merged);
  return out;
}

double MjcfContext::angle(double given) const { return degrees ? given * std::numbers::pi / 180 : given; }

Quat MjcfContext::orientation(const Element& element) const {
  if (const auto q = element.numbers("quat", 4, 4)) return unit_quaternion(element, *q);
  if (const auto a = element.numbers("axisangle", 4, 4)) {
    const Vec3 axis((*a)[0], (*a)[1], (*a)[2]);
    if (!(axis.norm() > 1e-9)) element.fail("axisangle must not have the zero vector as its axis");
    return Quat(Eigen::AngleAxisd(angle((*a)[3]), axis.normalized()));
  }
  if (const auto e = element.vec3("euler")) {
    Quat out = Quat::Identity();
    for (int k = 0; k < 3; ++k) {
      const char axis = euler_order[static_cast<std::size_t>(k)];
      const bool follows = axis >= 'x';  // small letters: about axes that turn with it
      const Quat turn(Eigen::AngleAxisd(angle((*e)[k]), Vec3::Unit(follows ? axis - 'x' : axis - 'X')));
      out = follows ? out * turn : turn * out;
    }
    return out.normalized();
  }
  if (const auto xy = element.numbers("xyaxes", 6, 6)) {
    Vec3 x((*xy)[0], (*xy)[1], (*xy)[2]), y((*xy)[3], (*xy)[4], (*xy)[5]);
    if (!(x.cross(y).norm() > 1e-9)) element.fail("xyaxes must not be parallel or zero");
    Mat3 R;
    R.col(0) = x.normalized();
    R.col(2) = x.cross(y).normalized();
    R.col(1) = R.col(2).cross(R.col(0));
    return Quat(R).normalized();
  }
  if (const auto z = element.vec3("zaxis")) {
    if (!(z->norm() > 1e-9)) element.fail("zaxis must not be the zero vector");
    return rotation_between(Vec3::UnitZ(), z->normalized());
  }
  return Quat::Identity();
}

Pose MjcfContext::pose(const Element& element) const { return {element.vec3("pos", Vec3::Zero()), orientation(element)}; }

}  // namespace rotule::robot
