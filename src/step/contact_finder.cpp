#include "step/contact_finder.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace rotule {

namespace {

bool before(const Contact& p, const Contact& q) { return std::tie(p.a, p.b, p.feature) < std::tie(q.a, q.b, q.feature); }

/// The same impulse in the frame of the new contact.
void carry_over(const Contact& from, Contact& to) {
  if (from.rows() != to.rows()) return;
  to.x = from.x;
  to.sliding = from.sliding;
  if (to.slides()) {
    const Vec3 friction = from.x[1] * from.tangent + from.x[2] * from.bitangent;
    to.x[1] = friction.dot(to.tangent);
    to.x[2] = friction.dot(to.bitangent);
  }
}

}  // namespace

ContactSettings contact_settings(const Recipe& recipe) {
  if (const auto* cone = std::get_if<ConeContactSettings>(&recipe.contacts)) return *cone;
  if (const auto* box = std::get_if<BoxContactSettings>(&recipe.contacts)) return *box;
  return {};
}

ContactFinder::ContactFinder(const Model& model, const Recipe& recipe)
    : model_(model), recipe_(recipe), wanted_(!std::holds_alternative<NoContactSettings>(recipe.contacts)) {
  if (!wanted_) return;
  for (int i = 0; i < model.body_count(); ++i) add_proxy(i);
  for (const Joint& joint : model.joints) joint_added(joint);
}

void ContactFinder::add_proxy(int i) {
  const Body& body = model_.bodies[i];
  proxy_of_.push_back(-1);
  reach_.push_back(0);
  if (!body.touches || std::holds_alternative<std::monostate>(body.shape)) return;
  const CollisionShape shape(body.shape);
  const int proxy = proxy_of_[i] = world_.add(shape, Pose{}, !body.fixed);
  reach_[i] = shape.reach() + body.center_of_mass.norm();
  if (proxy == static_cast<int>(body_of_.size())) body_of_.push_back(i);
  body_of_[proxy] = i;
}

int ContactFinder::proxy(int partner) const {
  return partner == world_body || model_.is_particle(partner) ? -1 : proxy_of_[partner];
}

void ContactFinder::body_added() {
  current_ = false;
  if (wanted_) add_proxy(model_.body_count() - 1);
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
  for (int& other : body_of_) other -= other > body;
  std::erase_if(contacts, [&](const Contact& c) { return c.a == body || c.b == body; });
  for (Contact& c : contacts) {
    c.a -= c.a > body;
    c.b -= c.b > body;
  }
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

void ContactFinder::refresh(const State& s, double h, std::vector<Contact>& contacts) {
  if (current_ || !wanted_) return;
  kinematics_.update(model_, s);
  find(s, h, contacts);
  current_ = true;
}

void ContactFinder::find(const State& s, double h, std::vector<Contact>& contacts) {
  const Model& model = model_;
  const Kinematics& bodies = kinematics_;
  const ContactSettings settings = contact_settings(recipe_);
  // Gaps are looked at as far ahead as the fastest body may go.
  double fastest = 0;
  for (const int i : body_of_) {
    if (i < 0) continue;
    const Vec3 motion = model.movable(i) ? Vec3(h * (s.v(i) + h * model.gravity)) : Vec3::Zero();
    world_.set_pose(proxy_of_[i], body_frame(model, s, i), motion);
    if (model.movable(i)) fastest = std::max(fastest, s.v(i).norm() + s.omega(i).norm() * reach_[i]);
  }
  const double ahead = h * (2 * fastest + h * model.gravity.norm());
  world_.find_contacts(settings.margin + ahead, manifolds_, recipe_.threads);

  found_.clear();
  for (Manifold& m : manifolds_) {
    m.body_a = body_of_[m.body_a];
    m.body_b = body_of_[m.body_b];
    if (!model.movable(m.body_a) && !model.movable(m.body_b)) continue;
    if (const int group = model.bodies[m.body_a].group; group != 0 && group == model.bodies[m.body_b].group) continue;
    append_contacts(m, model, bodies, found_);
  }
  // Keep what is near, or approaches fast enough to touch within the step; weight may make it faster yet.
  std::erase_if(found_, [&](const Contact& c) {
    const BodyLanes<double>&A = bodies[c.a], &B = bodies[c.b];
    const double closing = c.normal.dot((A.v + A.omega.cross(c.point - A.p)) - (B.v + B.omega.cross(c.point - B.p)));
    return c.gap > settings.margin + h * (std::max(closing, 0.0) + h * model.gravity.norm());
  });
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

}  // namespace rotule
