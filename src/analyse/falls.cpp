// What begins at rest and will never be stopped: below it there is nothing, or a ground that it does not touch.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "analyse/remarks.h"
#include "base/text.h"
#include "base/union_find.h"
#include "math/rotation.h"
#include "model/names.h"
#include "model/support.h"

namespace rotule {
namespace {

/// Without a farthest point: wherever a body falls, it falls on it.
bool is_endless(const Shape& shape) {
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape)) return true;
  const auto* compound = std::get_if<Compound>(&shape);
  return compound != nullptr &&
         std::any_of(compound->parts.begin(), compound->parts.end(), [](const auto& part) { return is_endless(part.shape); });
}

bool has_shape(const BodyDef& body) { return !std::holds_alternative<std::monostate>(body.shape); }

/// Who is below whom, by their boxes along gravity and across it.
class Below {
 public:
  Below(const Scene& scene, const Vec3& gravity) : scene_(scene), axes_{gravity.unitOrthogonal(), {}, -gravity.normalized()} {
    axes_[1] = axes_[2].cross(axes_[0]);
    for (const BodyDef& body : scene.bodies) boxes_.push_back(is_endless(body.shape) ? Box{} : box_of(body));
  }

  [[nodiscard]] bool operator()(std::size_t ground, std::size_t body) const {
    const BodyDef& def = scene_.bodies[ground];
    if (const auto* plane = std::get_if<Plane>(&def.shape); plane != nullptr)
      return (def.orientation * Vec3::UnitZ()).dot(axes_[2]) > 1e-6;
    if (is_endless(def.shape)) return true;
    return beside(ground, body) < 0 && boxes_[ground].low[2] < boxes_[body].high[2];
  }
  /// m from one to the other across gravity, below zero where they overlap.
  [[nodiscard]] double beside(std::size_t a, std::size_t b) const {
    double out = -infinity;
    for (std::size_t k = 0; k < 2; ++k)
      out = std::max({out, boxes_[a].low[k] - boxes_[b].high[k], boxes_[b].low[k] - boxes_[a].high[k]});
    return out;
  }
  [[nodiscard]] double top(std::size_t i) const { return boxes_[i].high[2]; }
  [[nodiscard]] double bottom(std::size_t i) const { return boxes_[i].low[2]; }
  [[nodiscard]] const Vec3& up() const { return axes_[2]; }
  /// The move that brings a body to above the middle of a ground.
  [[nodiscard]] Vec3 onto(std::size_t ground, std::size_t body) const {
    Vec3 out = Vec3::Zero();
    const Box &to = boxes_[ground], &from = boxes_[body];
    if (beside(ground, body) >= 0)
      for (std::size_t k = 0; k < 2; ++k) out += 0.5 * (to.low[k] + to.high[k] - from.low[k] - from.high[k]) * axes_[k];
    const double gap = 0.01 * (from.high[2] - from.low[2]);
    return out + std::max(0.0, to.high[2] + gap - from.low[2]) * axes_[2];
  }

 private:
  struct Box {
    std::array<double, 3> low{-infinity, -infinity, -infinity}, high{infinity, infinity, infinity};
  };
  [[nodiscard]] Box box_of(const BodyDef& def) const {
    Box out;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto reach = [&](const Vec3& d) {
        return d.dot(def.orientation * support(def.shape, def.orientation.conjugate() * d));
      };
      out.high[k] = axes_[k].dot(def.position) + reach(axes_[k]);
      out.low[k] = axes_[k].dot(def.position) - reach(-axes_[k]);
    }
    return out;
  }

  const Scene& scene_;
  std::array<Vec3, 3> axes_;
  std::vector<Box> boxes_;
};

/// Bodies that joints and springs tie together, hold, or push.
class Ties {
 public:
  explicit Ties(const Patient& patient) : model_(patient.model), linked_(static_cast<std::size_t>(model_.partner_count())) {
    for (int i = 0; i < model_.partner_count(); ++i) held_.push_back(model_.is_particle(i));
    for (const Joint& joint : model_.joints) {
      std::vector<int> partners;
      for_each_partner(joint, [&](int partner) { partners.push_back(partner); });
      tie(partners);
    }
    const Scene& scene = patient.scene;
    std::map<std::string, int> number;
    for (std::size_t i = 0; i < scene.bodies.size(); ++i) number.emplace(scene.bodies[i].name, static_cast<int>(i));
    const auto body = [&](const std::string& name) {
      const auto found = number.find(name);
      return found == number.end() ? world_body : found->second;  // of the world, or a particle: what is held on to
    };
    for (const ForceDef& force : scene.forces)
      std::visit(
          [&]<class F>(const F& f) {
            if constexpr (std::is_same_v<F, Spring> || std::is_same_v<F, TorsionSpring>) {
              tie({body(f.between[0]), body(f.between[1])});
            } else if constexpr (std::is_same_v<F, Load>) {
              tie({world_body, body(f.on)});
            } else if constexpr (!std::is_same_v<F, Drag>) {
              knows_all_ = false;
            }
          },
          force);
    for (const ImpulseDef& impulse : scene.impulses) tie({world_body, body(impulse.body)});
    std::vector<int> roots;
    for (int i = 0; i < model_.partner_count(); ++i)
      if (held_[static_cast<std::size_t>(i)]) roots.push_back(linked_.root(i));
    for (const int root : roots) held_[static_cast<std::size_t>(root)] = true;
  }

  /// Whether nothing else acts in the scene, such as attraction or wind.
  [[nodiscard]] bool knows_all() const { return knows_all_; }
  [[nodiscard]] int root(int i) { return linked_.root(i); }
  [[nodiscard]] bool held(int i) { return held_[static_cast<std::size_t>(linked_.root(i))]; }
  [[nodiscard]] bool holds(int immovable) const { return held_[static_cast<std::size_t>(immovable)]; }

 private:
  void tie(const std::vector<int>& partners) {
    const bool holds =
        std::any_of(partners.begin(), partners.end(), [&](int p) { return p == world_body || !model_.movable(p); });
    int first = world_body;
    for (const int partner : partners) {
      if (partner == world_body) continue;
      if (holds) held_[static_cast<std::size_t>(partner)] = true;
      if (!model_.movable(partner)) continue;
      if (first != world_body) linked_.join(first, partner);
      first = partner;
    }
  }

  const Model& model_;
  UnionFind linked_;
  std::vector<bool> held_;
  bool knows_all_ = true;
};

/// A remark on several bodies that fall for the same reason.
struct Reason {
  std::string kind;
  std::size_t of;
  std::string text;
  std::vector<std::string> bodies;
  std::vector<Remark::Edit> edits;
};

class Falls {
 public:
  explicit Falls(const Patient& patient)
      : patient_(patient), scene_(patient.scene), model_(patient.model), ties_(patient), below_(scene_, scene_.gravity) {
    for (std::size_t i = 0; i < scene_.bodies.size(); ++i) (model_.movable(number(i)) ? moving_ : grounds_).push_back(i);
  }

  void find(std::vector<Remark>& out) {
    if (!ties_.knows_all()) return;
    std::map<int, std::vector<std::size_t>> mechanisms;  // by their roots
    for (const std::size_t i : moving_)
      if (!ties_.held(number(i))) mechanisms[ties_.root(number(i))].push_back(i);
    for (const auto& [root, bodies] : mechanisms) {
      const bool at_rest = std::all_of(bodies.begin(), bodies.end(), [&](std::size_t i) {
        return scene_.bodies[i].velocity.isZero(0) && scene_.bodies[i].angular_velocity.isZero(0);
      });
      if (!caught(bodies, below_)) explain(bodies, at_rest);
      if (looks_ > most_looks) return;
    }
    for (Reason& reason : reasons_)
      out.push_back({.kind = std::move(reason.kind),
                     .grade = Remark::Grade::warning,
                     .text = fmt::format("{} {} for ever: {}", and_others(reason.bodies),
                                         reason.bodies.size() == 1 ? "falls" : "fall", reason.text),
                     .flags = {},
                     .edits = std::move(reason.edits)});
  }

 private:
  static constexpr std::int64_t most_looks = 4'000'000;

  static int number(std::size_t i) { return static_cast<int>(i); }
  static std::string place(std::size_t i, std::string_view key) { return fmt::format("/bodies/{}/{}", i, key); }

  [[nodiscard]] bool touch(std::size_t a, std::size_t b) const {
    const Body &p = model_.bodies[a], &q = model_.bodies[b];
    return has_shape(scene_.bodies[a]) && has_shape(scene_.bodies[b]) && p.touches && q.touches && !p.sensor && !q.sensor &&
           model_.may_meet(number(a), number(b));
  }

  /// Whether anything is below any of them that stops it; what is told to move may come to be there.
  bool caught(const std::vector<std::size_t>& bodies, const Below& below) {
    for (const std::size_t i : bodies) {
      const auto stops = [&](std::size_t other) {
        ++looks_;
        return touch(other, i) && (model_.bodies[other].kinematic || below(other, i));
      };
      if (std::any_of(grounds_.begin(), grounds_.end(), stops)) return true;
      if (std::any_of(moving_.begin(), moving_.end(),
                      [&](std::size_t other) { return ties_.root(number(other)) != ties_.root(number(i)) && stops(other); }))
        return true;
    }
    return false;
  }

  /// `of`: who it is about besides; bodies that fall for the same reason share a remark, with what the first of them says.
  void add(std::string_view kind, std::size_t of, std::string text, std::size_t body, const std::vector<Remark::Edit>& edits) {
    auto found = std::find_if(reasons_.begin(), reasons_.end(), [&](const Reason& r) { return r.kind == kind && r.of == of; });
    if (found == reasons_.end()) found = reasons_.insert(found, {std::string(kind), of, std::move(text), {}, {}});
    if (std::find(found->bodies.begin(), found->bodies.end(), scene_.bodies[body].name) == found->bodies.end())
      found->bodies.push_back(scene_.bodies[body].name);
    for (const Remark::Edit& edit : edits)
      if (edit.place.ends_with("/-") ||
          std::none_of(found->edits.begin(), found->edits.end(), [&](const auto& e) { return e.place == edit.place; }))
        found->edits.push_back(edit);
  }

  /// Who moves at the start may come to be above something.
  void explain(const std::vector<std::size_t>& bodies, bool at_rest) {
    for (const std::size_t i : bodies)
      for (const std::size_t ground : grounds_)
        if (passes(i, ground)) return;
    if (!at_rest || misdirected(bodies) || misses(bodies)) return;
    if (bodies.size() == 1) is_left_out(bodies.front());
  }

  [[nodiscard]] double height_over(std::size_t ground, std::size_t i) const {
    const BodyDef& other = scene_.bodies[ground];
    if (has_shape(other) && !is_endless(other.shape)) return below_.bottom(i) - below_.top(ground);
    const Vec3 normal = std::holds_alternative<Plane>(other.shape) ? Vec3(other.orientation * Vec3::UnitZ()) : below_.up();
    return normal.dot(scene_.bodies[i].position - other.position);
  }

  /// A ground is below, and something keeps the body from touching it.
  bool passes(std::size_t i, std::size_t ground) {
    const BodyDef &body = scene_.bodies[i], &other = scene_.bodies[ground];
    const double height = height_over(ground, i);
    const std::string there = fmt::format("{}, {:.3g} m below", in_quotes(other.name), height);
    if (!has_shape(other)) {
      if (ties_.holds(number(ground)) || !(height > 0) || other.kinematic) return false;
      add("passes_ground", ground, there + ", is fixed and has no shape: it does nothing", i,
          {{place(ground, "shape"), "{\"plane\": {}}"}});
      return true;
    }
    if (!below_(ground, i)) return false;
    if (other.sensor) {
      add("passes_ground", ground, there + ", is a sensor, which stops nobody", i, {{place(ground, "sensor"), "false"}});
    } else if (!has_shape(body)) {
      // A ball of its mass and the density of water.
      const double radius = std::cbrt(model_.bodies[i].mass / (4.0 / 3.0 * std::numbers::pi * 1000));
      add("passes_ground", ground, fmt::format("what has no shape touches nothing, not {} either", there), i,
          {{place(i, "shape"), fmt::format("{{\"sphere\": {{\"radius\": {}}}}}", json_of(in_short(radius)))}});
    } else if (!body.contacts || !other.contacts) {
      const std::size_t off = body.contacts ? ground : i;
      add("passes_ground", ground,
          fmt::format("{}, is passed because of \"contacts\": false of {}", there, in_quotes(scene_.bodies[off].name)), i,
          {{place(off, "contacts"), "true"}});
    } else if (body.group != 0 && body.group == other.group) {
      if (is_endless(other.shape)) return true;  // look_at_groups says so
      add("same_group", ground, fmt::format("{}, is of the same group, {}", there, body.group), i,
          {{place(ground, "group"), "0"}});
    } else {
      return accept(i, ground);
    }
    return true;
  }
  bool accept(std::size_t i, std::size_t ground) {
    const auto refuses = [&](std::size_t who, std::size_t whom) {
      const BodyDef &p = scene_.bodies[who], &q = scene_.bodies[whom];
      if (!p.meets || std::find(p.meets->begin(), p.meets->end(), q.layer) != p.meets->end()) return false;
      std::string all = json_of(q.layer);
      for (const std::string& layer : *p.meets) all += ", " + json_of(layer);
      add("passes_ground", whom,
          fmt::format("{} meets {} layer{}, and not {} of layer {}", in_quotes(p.name), p.meets->size(),
                      p.meets->size() == 1 ? "" : "s", in_quotes(q.name), in_quotes(q.layer)),
          i, {{place(who, "meets"), "[" + all + "]"}});
      return true;
    };
    const bool one = refuses(i, ground), two = refuses(ground, i);
    return one || two;
  }

  /// By a gravity along z they would be caught.
  bool misdirected(const std::vector<std::size_t>& bodies) {
    const double g = scene_.gravity.norm();
    const Vec3 down(0, 0, -g);
    constexpr double tilted = 0.3;  // rad
    if ((scene_.gravity - down).norm() < tilted * g || !caught(bodies, Below(scene_, down))) return false;
    add("gravity_direction", 0, fmt::format("gravity {} leads past all ground; z is up here", json_of(in_short(scene_.gravity))),
        bodies.front(), {{"/gravity", json_of(in_short(down))}});
    return true;
  }

  bool misses(const std::vector<std::size_t>& bodies) {
    const std::size_t first = bodies.front();
    std::optional<std::size_t> nearest;
    for (const std::size_t ground : grounds_)
      if (touch(ground, first) && !is_endless(scene_.bodies[ground].shape) &&
          (!nearest || below_.beside(ground, first) < below_.beside(*nearest, first)))
        nearest = ground;
    if (!nearest) return false;
    const double beside = below_.beside(*nearest, first);
    std::vector<Remark::Edit> edits;
    if (bodies.size() == 1) {
      edits.push_back(
          {place(first, "position"), json_of(in_short(Vec3(scene_.bodies[first].position + below_.onto(*nearest, first))))});
    } else {
      double lowest = infinity;
      for (const std::size_t i : bodies) lowest = std::min(lowest, below_.bottom(i));
      const Quat upright = rotation_between(Vec3::UnitZ(), below_.up());
      edits.push_back({"/bodies/-", fmt::format("{{\"fixed\": true, \"position\": {}, \"orientation\": [{}, {}, "
                                                "{}, {}], \"shape\": {{\"plane\": {{}}}}}}",
                                                json_of(in_short(Vec3((lowest - 0.1) * below_.up()))), upright.w(), upright.x(),
                                                upright.y(), upright.z())});
    }
    add("misses_ground", *nearest,
        beside >= 0
            ? fmt::format("{} is {:.3g} m to its side, and nothing below it", in_quotes(scene_.bodies[*nearest].name), beside)
            : fmt::format("{} is {:.3g} m above it, and nothing below it", in_quotes(scene_.bodies[*nearest].name),
                          below_.bottom(*nearest) - below_.top(first)),
        first, edits);
    return true;
  }

  /// Among mechanisms that are held, a body that no joint names; unless it is pinched between them, or driven ones may come for
  /// it.
  void is_left_out(std::size_t i) {
    if (!has_shape(scene_.bodies[i]) || patient_.content.needs.drives) return;
    const BodyDef& body = scene_.bodies[i];
    const auto reach = [](const BodyDef& def, const Vec3& d) {
      return d.dot(def.orientation * support(def.shape, def.orientation.conjugate() * d));
    };
    std::optional<std::size_t> nearest;
    double distance = infinity;
    int touching = 0;
    for (const std::size_t k : moving_) {
      const BodyDef& other = scene_.bodies[k];
      const double apart = (body.position - other.position).norm();
      if (k == i || !ties_.held(number(k)) || !has_shape(other) || apart == 0) continue;
      const Vec3 along = (body.position - other.position) / apart;
      const double free = apart - reach(other, along) - reach(body, -along);
      touching += free < 0.01 * apart ? 1 : 0;
      if (apart < distance) {
        distance = apart;
        nearest = k;
      }
    }
    if (!nearest || touching > 1) return;
    const BodyDef& from = scene_.bodies[*nearest];
    const Vec3 along = (body.position - from.position) / distance;
    const Vec3 at = from.position + 0.5 * (distance + reach(from, along) - reach(body, -along)) * along;
    add("nothing_holds", *nearest,
        fmt::format("no joint holds it, as joints hold {}, {:.3g} m away, and there is no ground", in_quotes(from.name),
                    distance),
        i,
        {{"/joints/-", fmt::format("{{\"ball\": {{\"between\": [{}, {}], \"at\": {}}}}}", json_of(from.name), json_of(body.name),
                                   json_of(in_short(at)))}});
  }

  const Patient& patient_;
  const Scene& scene_;
  const Model& model_;
  Ties ties_;
  Below below_;
  std::vector<std::size_t> moving_, grounds_;
  std::vector<Reason> reasons_;
  std::int64_t looks_ = 0;
};

}  // namespace

void look_at_falls(const Patient& patient, std::vector<Remark>& out) {
  const Scene& scene = patient.scene;
  const bool misdirected = std::any_of(out.begin(), out.end(), [](const Remark& r) { return r.kind == "gravity_direction"; });
  if (scene.gravity.isZero(0) || misdirected || scene.plane || scene.fluid || !scene.flows.empty() || !scene.walls.empty() ||
      patient.content.particles)
    return;
  // That contacts are off where bodies could meet is said already.
  if (std::holds_alternative<NoContactSettings>(patient.recipe.contacts) && patient.content.could_meet) return;
  Falls(patient).find(out);
}

}  // namespace rotule
