#include "step/contact_finder.h"

#include <rotule/error.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <tuple>

#include "base/shared_work.h"

namespace rotule {

namespace {

bool before(const Contact& p, const Contact& q) { return std::tie(p.a, p.b, p.feature) < std::tie(q.a, q.b, q.feature); }

/// The same impulse in the frame of the new contact.
void carry_over(const Contact& from, Contact& to) {
  if (from.rows() != to.rows()) return;
  to.x = from.x;
  to.sliding = from.sliding;
  to.held = from.held;
  if (to.slides()) {
    const Vec3 friction = from.x[1] * from.tangent + from.x[2] * from.bitangent;
    to.x[1] = friction.dot(to.tangent);
    to.x[2] = friction.dot(to.bitangent);
  }
}

}  // namespace

namespace {

// Shares of the smaller body's size.
constexpr double touching_share = 1e-4, ahead_share = 0.1, margin_share = 0.02;
/// What a sweep takes for touching, of the distance that counts as such.
constexpr double sweep_precision = 1e-2;

/// Rounding does not turn: a ball's points stay where they are.
double turning_reach(const CollisionShape& shape) {
  double reach = 0;
  for (const CollisionPart& part : shape.parts())
    reach = std::max(reach, part.kind == CollisionPart::Kind::convex ? part.reach - part.convex.radius : part.reach);
  return reach;
}

}  // namespace

ContactFinder::ContactFinder(const Model& model, const Recipe& recipe)
    : model_(model),
      recipe_(recipe),
      rules_(model, recipe),
      wanted_(!std::holds_alternative<NoContactSettings>(recipe.contacts)) {
  if (!wanted_) return;
  for (int i = 0; i < model.body_count(); ++i) add_proxy(i);
  for (const Joint& joint : model.joints) joint_added(joint);
  choose_margin();
}

void ContactFinder::add_proxy(int i) {
  const Body& body = model_.bodies[i];
  proxy_of_.push_back(-1);
  reach_.push_back(0);
  arm_.push_back(0);
  if (!body.touches || std::holds_alternative<std::monostate>(body.shape)) return;
  const CollisionShape shape(body.shape);
  const int proxy = proxy_of_[i] = world_.add(shape, Pose{}, !body.fixed || body.kinematic, {body.layer, body.meets});
  reach_[i] = shape.reach() + body.center_of_mass.norm();
  arm_[i] = turning_reach(shape) + body.center_of_mass.norm();
  if (proxy == static_cast<int>(body_of_.size())) body_of_.push_back(i);
  body_of_[proxy] = i;
}

void ContactFinder::arrange(const std::vector<int>& proxy_of) {
  if (proxy_of.size() != proxy_of_.size()) throw Error("snapshot", "was saved with other bodies; load it into the same world");
  std::vector<int> body_with(body_of_.size(), -1);
  for (std::size_t i = 0; i < proxy_of.size(); ++i) {
    if (proxy_of[i] < 0) continue;
    if ((proxy_of_[i] < 0) || proxy_of[i] > 1 << 24) throw Error("snapshot", "is damaged; save it again");
    if (static_cast<std::size_t>(proxy_of[i]) >= body_with.size())
      body_with.resize(static_cast<std::size_t>(proxy_of[i]) + 1, -1);
    body_with[static_cast<std::size_t>(proxy_of[i])] = static_cast<int>(i);
  }
  world_ = CollisionWorld();
  proxy_of_ = proxy_of;
  body_of_ = body_with;
  // Numbers are given in order: those that are free now are held by somebody until all others have theirs.
  for (const int i : body_of_) {
    const Body* body = i >= 0 ? &model_.bodies[i] : nullptr;
    if (body)
      world_.add(CollisionShape(body->shape), Pose{}, !body->fixed || body->kinematic, {body->layer, body->meets});
    else
      world_.add(CollisionShape(Sphere{}), Pose{}, true);
  }
  for (std::size_t k = body_of_.size(); k-- > 0;)
    if (body_of_[k] < 0) world_.remove(static_cast<int>(k));
  for (const Joint& joint : model_.joints) joint_added(joint);
}

int ContactFinder::proxy(int partner) const {
  return partner == world_body || model_.is_particle(partner) ? -1 : proxy_of_[partner];
}

void ContactFinder::body_added() {
  current_ = false;
  if (!wanted_) return;
  add_proxy(model_.body_count() - 1);
  choose_margin();
}

void ContactFinder::body_removed(int body, std::vector<Contact>& contacts) {
  current_ = false;
  if (!wanted_) return;
  if (const int proxy = proxy_of_[body]; proxy >= 0) {
    world_.remove(proxy);
    body_of_[proxy] = -1;
  }
  proxy_of_.erase(proxy_of_.begin() + body);
  reach_.erase(reach_.begin() + body);
  arm_.erase(arm_.begin() + body);
  for (int& other : body_of_) other -= other > body;
  std::erase_if(contacts, [&](const Contact& c) { return c.a == body || c.b == body; });
  for (Contact& c : contacts) {
    c.a -= c.a > body;
    c.b -= c.b > body;
  }
  choose_margin();
}

void ContactFinder::joint_added(const Joint& joint) {
  current_ = false;
  if (wanted_ && proxy(joint.a) >= 0 && proxy(joint.b) >= 0) world_.exclude(proxy(joint.a), proxy(joint.b));
}

void ContactFinder::joint_removed(const Joint& joint) {
  current_ = false;
  const auto ties = [&](const Joint& other) { return std::minmax(other.a, other.b) == std::minmax(joint.a, joint.b); };
  const bool still_tied = std::any_of(model_.joints.begin(), model_.joints.end(), ties);
  if (wanted_ && !still_tied && proxy(joint.a) >= 0 && proxy(joint.b) >= 0) world_.include(proxy(joint.a), proxy(joint.b));
}

void ContactFinder::refresh(const State& s, double h, std::vector<Contact>& contacts, Gang* gang) {
  if (!wanted_) return;
  kinematics_.update(model_, s, gang);  // contacts may be those of a snapshot, and somebody may meet on the way all the same
  if (current_) return;
  find(s, h, contacts);
  current_ = true;
}

double ContactFinder::touch(int a, int b) const { return std::max(rules_.slop(size(a, b)), touching_share * size(a, b)); }

double ContactFinder::ahead(int a, int b) const { return std::min(margin_, ahead_share * size(a, b)); }

void ContactFinder::choose_margin() {
  double smallest = infinity;
  for (const int i : body_of_)
    if (i >= 0 && model_.movable(i)) smallest = std::min(smallest, reach_[i]);
  margin_ = rules_.settings.margin > 0 ? rules_.settings.margin : std::isfinite(smallest) ? margin_share * smallest : 0;
}

double ContactFinder::swing(int body, double angle) const {
  return std::isfinite(arm_[body]) ? 2 * arm_[body] * std::sin(0.5 * std::min(angle, std::numbers::pi)) : 0;
}

bool ContactFinder::may_touch(int a, int b) const {
  if (!model_.movable(a) && !model_.movable(b)) return false;
  return !model_.bodies[a].sensor && !model_.bodies[b].sensor && model_.may_meet(a, b);
}

bool ContactFinder::counts_ahead(const Contact& c, double least_gap, double h) const {
  const BodyLanes<double>&A = kinematics_[c.a], &B = kinematics_[c.b];
  const Vec3 approach = (A.v + A.omega.cross(c.point - A.p)) - (B.v + B.omega.cross(c.point - B.p));
  const double closing = std::max(c.normal.dot(approach), 0.0), weight = model_.gravity.norm();
  const double margin = ahead(c.a, c.b);
  // The rest of a face that touches: the same normal holds.
  const bool in_reach = c.gap <= margin + h * (closing + h * weight);
  if (least_gap <= touch(c.a, c.b)) return in_reach;
  if (c.law.restitution > 0 && c.law.stiffness == 0 &&
      closing * closing + 2 * weight * c.gap > rules_.restitution_speed(c.size) * rules_.restitution_speed(c.size))
    return false;
  // So does that of a half-space, wherever one stands.
  if (std::isinf(reach_[c.a]) || std::isinf(reach_[c.b])) return in_reach;
  return c.gap <= margin && h * (approach.norm() + 0.5 * h * weight) <= margin;
}

void ContactFinder::find(const State& s, double h, std::vector<Contact>& contacts) {
  const Model& model = model_;
  // Faces that touch are looked at as far as turning may carry their other points.
  double furthest = 0, fastest = 0;
  for (const int i : body_of_) {
    if (i < 0) continue;
    const bool moves = model.movable(i) || model.kinematic(i);
    const Vec3 motion = model.movable(i) ? Vec3(h * (s.v(i) + h * model.gravity)) : Vec3(h * s.v(i));
    const double turned = moves ? swing(i, h * s.omega(i).norm()) : 0;
    world_.set_pose(proxy_of_[i], body_frame(model, s, i), motion, turned);
    furthest = std::max(furthest, turned);
    fastest = std::max(fastest, motion.norm());
  }
  const double margin = margin_ + 2 * furthest;
  world_.find_contacts(margin, margin + fastest, manifolds_, recipe_.threads);

  found_.clear();
  sensed_.clear();
  for (Manifold& m : manifolds_) {
    m.body_a = body_of_[m.body_a];
    m.body_b = body_of_[m.body_b];
    const bool sensor = model.bodies[m.body_a].sensor || model.bodies[m.body_b].sensor;
    if (sensor && m.gap() <= 0 && model.may_meet(m.body_a, m.body_b))
      sensed_.push_back({std::min(m.body_a, m.body_b), std::max(m.body_a, m.body_b), 1, 0});
    if (!may_touch(m.body_a, m.body_b)) continue;
    const std::size_t first = found_.size();
    const double least = m.gap();
    append_contacts(m, model, kinematics_, found_);
    for (std::size_t k = first; k < found_.size(); ++k) found_[k].size = size(m.body_a, m.body_b);
    found_.erase(std::remove_if(found_.begin() + static_cast<std::ptrdiff_t>(first), found_.end(),
                                [&](const Contact& c) { return !touching(c) && !counts_ahead(c, least, h); }),
                 found_.end());
  }
  order_.resize(found_.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&](int p, int q) { return before(found_[p], found_[q]) || (!before(found_[q], found_[p]) && p < q); });

  // Both lists are sorted: walk them together.
  sorted_.clear();
  auto old = contacts.begin();
  for (const int k : order_) {
    Contact& c = sorted_.emplace_back(found_[k]);
    while (old != contacts.end() && before(*old, c)) ++old;
    if (old != contacts.end() && !before(c, *old)) carry_over(*old++, c);
  }
  contacts.swap(sorted_);
}

void ContactFinder::sweep(const State& s, std::span<const Passage> passages, double h, std::span<const Contact> contacts,
                          std::vector<Meeting>& out) {
  out.clear();
  if (!wanted_) return;
  motions_.resize(body_of_.size());
  for (std::size_t k = 0; k < body_of_.size(); ++k) {
    const int i = body_of_[k];
    if (i < 0) continue;
    const Pose frame = body_frame(model_, s, i);
    motions_[k] = {Frame(frame), passages[i].v, passages[i].omega, passages[i].a, model_.bodies[i].center_of_mass};
    const Vec3 motion = h * (passages[i].v + 0.5 * h * passages[i].a);
    world_.set_pose(static_cast<int>(k), frame, motion, swing(i, h * passages[i].omega.norm()));
  }
  std::atomic<int> looks = 0;
  const auto limits = [&](int p, int q) -> CastLimits {
    const int a = body_of_[p], b = body_of_[q];
    const CastLimits none{0};
    if (!may_touch(a, b)) return none;
    const double far = way(passages, a, b, h), e = surface_between(model_, a, b).restitution;
    if (e > 0 ? far <= h * rules_.restitution_speed(size(a, b)) : far <= ahead(a, b)) return none;
    if ((s.p[a] - s.p[b]).norm() > reach_[a] + reach_[b] + far) return none;
    // Contacts that are there hold their parts apart, up to what turning makes of it; other parts may still meet.
    const bool held = among(contacts, a, b);
    if (held && world_.shape(p).is_convex() && world_.shape(q).is_convex()) return none;
    ++looks;
    return {h, sweep_precision * touch(a, b), held ? ahead(a, b) : touch(a, b)};
  };
  world_.sweep(motions_, std::ref(limits), met_, recipe_.threads);
  if (!met_.empty()) kinematics_.update(model_, s);
  for (const BodyMeeting& m : met_) {
    const int a = body_of_[m.a], b = body_of_[m.b];
    const SurfaceLaw law = surface_between(model_, a, b);
    const bool bounces = law.restitution > 0 && law.stiffness == 0 && m.hit.closing > rules_.restitution_speed(size(a, b));
    out.push_back({a, b, m.hit.t, bounces, false, motions_[m.a].at(m.hit.t), motions_[m.b].at(m.hit.t)});
  }
  // What turning makes of it: contacts have the normals and points of the start.
  const auto depths = [&](int p, int q) -> CollisionWorld::PairDepths {
    const int a = body_of_[p], b = body_of_[q];
    const double least = touch(a, b);
    if (!may_touch(a, b) || !among(contacts, a, b) || way(passages, a, b, h) <= least) return {};
    if (surface_between(model_, a, b).stiffness > 0) return {};  // soft surfaces sink, as far as their springs say
    ++looks;
    return {least, ahead(a, b)};
  };
  world_.press(motions_, h, std::ref(depths), met_, recipe_.threads);
  for (const BodyMeeting& m : met_)
    out.push_back({body_of_[m.a], body_of_[m.b], m.hit.t, false, true, motions_[m.a].at(m.hit.t), motions_[m.b].at(m.hit.t)});
  constexpr double rows_per_look = 300;  // most are over sooner, those that graze take ten times as long
  SharedWork::use_here(rows_per_look * looks);
  std::stable_sort(out.begin(), out.end(), [](const Meeting& p, const Meeting& q) { return p.time < q.time; });
}

bool ContactFinder::among(std::span<const Contact> contacts, int a, int b) {
  const auto same_pair = [](const Contact& c, std::pair<int, int> pair) { return std::pair(c.a, c.b) < pair; };
  const auto at = std::lower_bound(contacts.begin(), contacts.end(), std::pair(a, b), same_pair);
  return at != contacts.end() && at->a == a && at->b == b;
}

double ContactFinder::way(std::span<const Passage> passages, int a, int b, double h) const {
  const Vec3 v = passages[a].v - passages[b].v, bend = 0.5 * h * (passages[a].a - passages[b].a);
  return h * (v.norm() + bend.norm()) + swing(a, h * passages[a].omega.norm()) + swing(b, h * passages[b].omega.norm());
}

void ContactFinder::add_meeting(const Meeting& meeting, const State& s, std::vector<Contact>& contacts) {
  const double margin = meeting.pressed ? 0 : touch(meeting.a, meeting.b);
  manifolds_.clear();
  world_.contacts_at(proxy_of_[meeting.a], meeting.X_a, proxy_of_[meeting.b], meeting.X_b, margin, manifolds_);
  found_.clear();
  for (Manifold& m : manifolds_) {
    m.body_a = meeting.a;
    m.body_b = meeting.b;
    // The bodies' points that touch then, where they are now.
    const auto now = [&](int body, const Frame& then, const Vec3& x) {
      return Frame(body_frame(model_, s, body)) * then.to_local(x);
    };
    for (int i = 0; i < m.count; ++i) {
      ContactPoint& point = m.points[i];
      point.on_a = now(meeting.a, meeting.X_a, point.on_a);
      point.on_b = now(meeting.b, meeting.X_b, point.on_b);
      point.gap = m.normal.dot(point.on_b - point.on_a);
      // Seen along the normal of another pose, points that touch may be a little inside each other: no reason to part them.
      if (meeting.pressed) point.gap = std::max(point.gap, 0.0);
    }
    append_contacts(m, model_, kinematics_, found_);
  }
  for (Contact& c : found_) {
    c.met = true;
    c.size = size(c.a, c.b);
  }
  // A point that is pressed in takes the place of what it was at the start: twice the same point makes no better solution, and a
  // much harder problem.
  for (Contact& c : found_) {
    const auto at = std::lower_bound(contacts.begin(), contacts.end(), c, before);
    if (meeting.pressed && at != contacts.end() && !before(c, *at)) {
      carry_over(*at, c);
      *at = c;
    } else {
      contacts.insert(std::upper_bound(at, contacts.end(), c, before), c);
    }
  }
}

double ContactFinder::straight_part(const State& s, std::span<const Linkage> linkages, double h) {
  if (!wanted_) return h;
  constexpr double straight = 0.4;  // rad
  const auto turning = [&](int i) { return i < s.bodies() && proxy_of_[i] >= 0 ? s.omega(i).norm() : 0.0; };
  double fastest = 0;
  for (const Linkage& linkage : linkages)
    for (const int body : linkage.bodies) fastest = std::max(fastest, turning(body));
  if (!(h * fastest > straight)) return h;
  near_.assign(static_cast<std::size_t>(model_.body_count()), 0);
  for (const BodyPair& pair : world_.broad_phase().pairs()) {
    const int a = body_of_[pair.a], b = body_of_[pair.b];
    if (may_touch(a, b)) near_[a] = near_[b] = 1;
  }
  fastest = 0;
  for (const Linkage& linkage : linkages)
    for (const int body : linkage.bodies)
      if (body < s.bodies() && near_[body]) fastest = std::max(fastest, turning(body));
  return h * fastest > straight ? straight / fastest : h;
}

}  // namespace rotule
