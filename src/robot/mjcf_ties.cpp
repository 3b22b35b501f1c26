#include "robot/mjcf_ties.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "math/pose.h"

namespace rotule::robot {

namespace {

template <class Known>
[[noreturn]] void unknown(const Element& element, const char* what, const std::string& name, const Known& known) {
  std::vector<std::string> words;
  for (const auto& each : known) words.push_back(each.first);
  element.fail(fmt::format("there is no {} {}; {}", what, in_quotes(name), suggestion(name, words)));
}

std::size_t coordinates(const TreeJoint& joint) {
  switch (joint.kind) {
    case TreeJoint::Kind::free:
      return 7;
    case TreeJoint::Kind::ball:
      return 4;
    default:
      return 1;
  }
}

std::string name_or(const Element& element, std::size_t number) {
  return element.text("name", fmt::format("equality {} {}", element.tag(), number));
}

}  // namespace

int MjcfNames::find_body(const Element& element, const std::string& name) const {
  const auto found = body.find(name);
  if (found == body.end()) unknown(element, "body", name, body);
  return found->second;
}

JointPlace MjcfNames::find_joint(const Element& element, const std::string& name) const {
  const auto found = joint.find(name);
  if (found == joint.end()) unknown(element, "joint", name, joint);
  return found->second;
}

const Tree::Site& MjcfNames::find_site(const Element& element, const std::string& name) const {
  const auto found = site.find(name);
  if (found == site.end()) unknown(element, "site", name, site);
  return found->second;
}

std::vector<double> read_keyframe(MjcfContext& context, Tree& tree) {
  std::vector<Element> keys;
  for (const Element& section : context.sections("keyframe"))
    for (const Element& key : context.children(section)) keys.push_back(key);
  const auto named = [&](const std::string& name) {
    return std::find_if(keys.begin(), keys.end(), [&](const Element& key) { return key.text("name") == name; });
  };
  auto chosen = named(context.options.keyframe.empty() ? "home" : context.options.keyframe);
  if (chosen == keys.end() && !context.options.keyframe.empty()) {
    std::vector<std::string> known;
    for (const Element& key : keys) known.push_back(key.text("name", ""));
    tree.element.fail(fmt::format("there is no keyframe {}; {}", in_quotes(context.options.keyframe),
                                  suggestion(context.options.keyframe, known)));
  }
  if (chosen == keys.end()) chosen = keys.begin();
  for (auto key = keys.begin(); key != keys.end(); ++key)
    if (key != chosen) key->remark(context.remarks, "key", "is left out: one keyframe is the start");
  if (chosen == keys.end()) return {};

  std::vector<double> controls = chosen->numbers("ctrl", 0, 1000000).value_or(std::vector<double>{});
  std::size_t wanted = 0;
  for (const TreeLink& link : tree.links)
    for (const TreeJoint& joint : link.joints) wanted += coordinates(joint);
  const auto q = chosen->numbers("qpos", 0, 1000000);
  if (q && q->size() != wanted)
    chosen->fail(fmt::format("qpos must be {} numbers, as many as the joints have, is {}", wanted, q->size()));
  chosen->remark(context.remarks, chosen->title(), "is the start");
  chosen->tell_unread(context.remarks);
  if (!q) return controls;
  tree.clamp_start = false;
  // MJCF takes a quaternion of zeros for no turn.
  const auto turn = [&](std::vector<double> wxyz) {
    if (std::all_of(wxyz.begin(), wxyz.end(), [](double x) { return x == 0; })) wxyz[0] = 1;
    return unit_quaternion(*chosen, wxyz);
  };
  auto at = q->begin();
  for (TreeLink& link : tree.links)
    for (TreeJoint& joint : link.joints) {
      if (joint.kind == TreeJoint::Kind::free) {
        joint.place = {at[0], at[1], at[2]};
        joint.turn = turn({at[3], at[4], at[5], at[6]});
        joint.placed = true;
      } else if (joint.kind == TreeJoint::Kind::ball) {
        joint.turn = turn({at[0], at[1], at[2], at[3]});
      } else {
        joint.q = at[0];
      }
      at += static_cast<std::ptrdiff_t>(coordinates(joint));
    }
  return controls;
}

std::map<std::string, FixedTendon> read_tendons(MjcfContext& context, const MjcfNames& names, Tree& tree) {
  std::map<std::string, FixedTendon> out;
  for (const Element& section : context.sections("tendon"))
    for (const Element& given : context.children(section)) {
      const Element element = context.with_defaults(given, "");
      if (element.tag() != "fixed") {
        element.remark(context.remarks, element.title(), "is left out: fixed tendons alone are known");
        continue;
      }
      FixedTendon tendon;
      for (const Element& joint : element.children("joint"))
        tendon.joints.emplace_back(names.find_joint(joint, joint.required("joint")), joint.number("coef", 1));
      const std::optional<std::string> limited = element.text("limited");
      const auto range = element.numbers("range", 2, 2);
      const bool bounded = limited == "true" || ((!limited || limited == "auto") && context.auto_limits);
      if (range && bounded) {
        if ((*range)[0] > (*range)[1]) element.fail("range must be from the smaller to the larger");
        tree.bounds.push_back({element.title(), tendon.joints, (*range)[0], (*range)[1], element});
      }
      element.tell_unread(context.remarks);
      out.emplace(element.text("name", ""), std::move(tendon));
    }
  return out;
}

void read_equalities(MjcfContext& context, const MjcfNames& names, const std::map<std::string, FixedTendon>& tendons,
                     Tree& tree) {
  const std::vector<Pose> rest = link_poses(tree, true);
  const auto pose = [&](int link) { return link < 0 ? Pose{} : rest[static_cast<std::size_t>(link)]; };
  std::size_t number = 0;
  for (const Element& section : context.sections("equality"))
    for (const Element& given : context.children(section)) {
      const Element element = context.with_defaults(given, "");
      const std::string& tag = element.tag();
      const std::string name = name_or(element, number++);
      if (element.flag("active") == false) {
        element.remark(context.remarks, element.title(), "is not active: left out");
        continue;
      }
      if (tag == "connect" || tag == "weld") {
        Closure closure;
        closure.name = name;
        closure.weld = tag == "weld";
        closure.element = element;
        if (element.has("site1")) {
          for (const auto& [key, link, in] : {std::tuple("site1", &closure.first, &closure.in_first),
                                              std::tuple("site2", &closure.second, &closure.in_second)}) {
            const Tree::Site& site = names.find_site(element, element.required(key));
            *link = site.link;
            *in = site.pose;
          }
        } else {
          closure.first = names.find_body(element, element.required("body1"));
          closure.second = names.find_body(element, element.text("body2", "world"));
          if (tag == "connect") {
            closure.in_first.position = element.vec3("anchor", Vec3::Zero());
            closure.in_second = inverse(pose(closure.second)) * pose(closure.first) * closure.in_first;
          } else {
            static_cast<void>(element.text("anchor"));
            closure.in_first = inverse(pose(closure.first)) * pose(closure.second);
            if (const auto relative = element.numbers("relpose", 7, 7);
                relative && ((*relative)[3] != 0 || (*relative)[4] != 0 || (*relative)[5] != 0 || (*relative)[6] != 0))
              closure.in_first = {{(*relative)[0], (*relative)[1], (*relative)[2]},
                                  unit_quaternion(element, {relative->begin() + 3, relative->end()})};
          }
        }
        element.tell_unread(context.remarks);
        tree.closures.push_back(std::move(closure));
      } else if (tag == "joint" || tag == "tendon") {
        Coupling coupling{name, {}, element};
        std::vector<double> powers = element.numbers("polycoef", 1, 5).value_or(std::vector<double>{0, 1});
        const std::array<std::string, 2> ends{element.required(tag + "1"), element.text(tag + "2", "")};
        for (std::size_t end = 0; end < 2; ++end) {
          if (ends[end].empty()) continue;
          const double sign = end == 0 ? -1 : 1;
          if (tag == "joint") {
            const std::vector<double> own = end == 0 ? std::vector<double>{0, sign} : powers;
            coupling.terms.push_back({names.find_joint(element, ends[end]), own});
            continue;
          }
          const auto found = tendons.find(ends[end]);
          if (found == tendons.end()) break;
          for (const auto& [joint, factor] : found->second.joints)
            coupling.terms.push_back({joint, {0, factor * (end == 0 ? sign : powers.size() > 1 ? powers[1] : 0)}});
        }
        if (coupling.terms.empty()) {
          element.remark(context.remarks, element.title(), "is left out: its tendon is not a fixed one");
          continue;
        }
        if (ends[1].empty()) powers.resize(1);
        if (tag == "tendon" || ends[1].empty()) coupling.terms[0].powers[0] += powers[0];
        if (tag == "tendon" &&
            std::any_of(powers.begin() + std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(powers.size())), powers.end(),
                        [](double x) { return x != 0; }))
          element.remark(context.remarks, "tendon@polycoef", "of tendons is taken as far as it is linear");
        element.tell_unread(context.remarks);
        tree.couplings.push_back(std::move(coupling));
      } else {
        element.remark(context.remarks, element.title(), "is left out");
      }
    }
}

void read_contacts(MjcfContext& context, const MjcfNames& names, Tree& tree) {
  for (const Element& section : context.sections("contact"))
    for (const Element& given : context.children(section)) {
      if (given.tag() == "exclude") {
        tree.excluded.push_back(
            {names.find_body(given, given.required("body1")), names.find_body(given, given.required("body2"))});
      } else if (given.tag() == "pair") {
        const Element element = context.with_defaults(given, "");
        GeomPair pair{{element.required("geom1"), element.required("geom2")}, {}, element};
        const auto friction = element.numbers("friction", 1, 5);
        const auto condim = element.number("condim");
        if (friction) pair.friction = std::max((*friction)[0], 0.0);
        if (condim && *condim < 3) pair.friction = 0;
        if (friction && friction->size() > 1 &&
            std::any_of(friction->begin() + 1, friction->end(), [&](double x) { return x != (*friction)[0]; }))
          element.remark(context.remarks, "pair@friction",
                         "is one number of sliding in all directions; torsional and rolling friction are those of the geoms");
        element.tell_unread(context.remarks);
        tree.pairs.push_back(std::move(pair));
      } else {
        given.tell_ignored(context.remarks, "is left out");
      }
    }
}

}  // namespace rotule::robot
