#include "mechanism/reduced/linkage_tree.h"

#include <algorithm>
#include <cmath>

#include "math/rotation.h"

namespace rotule {

LinkageTree::LinkageTree(const Model& model, const State& s, const Linkage& linkage)
    : tree_(model, s, linkage.bodies, linkage.joints), local_(tree_) {
  require_rotors_inside(model, tree_);
  local_.link_of.assign(linkage.bodies.size(), -1);
  for (std::size_t k = 0; k < linkage.bodies.size(); ++k) {
    if (model.is_particle(linkage.bodies[k])) continue;
    const int link = tree_.link_of[static_cast<std::size_t>(linkage.bodies[k])];
    local_.link_of[k] = link;
    local_.links[static_cast<std::size_t>(link)].body = static_cast<int>(k);
  }
  for (int k = 0; k < static_cast<int>(tree_.joints.size()); ++k)
    if (tree_.joints[static_cast<std::size_t>(k)].joint >= 0) by_number_.push_back(k);
  std::ranges::sort(by_number_, {}, [&](int k) { return tree_.joints[static_cast<std::size_t>(k)].joint; });
  tree_.link_of = {};  // as long as the model has bodies, and nobody asks
  for (VecX* v : {&q_, &q_next_}) v->setZero(tree_.positions);
  for (VecX* v : {&u_, &u_next_, &sigma_, &udot_, &response_udot_, &spins_}) v->setZero(tree_.velocities);
  for (VecX* v : {&forces_, &response_, &v_, &momentum_}) v->setZero(6 * static_cast<Eigen::Index>(linkage.bodies.size()));
  summed_.resize(6 * linkage.bodies.size());
  for (const int j : linkage.joints)
    for_each_partner(model.joints[static_cast<std::size_t>(j)],
                     [&](int partner) { floats_ = floats_ && partner != world_body && model.movable(partner); });
  for (const TreeLink& link : tree_.links) {
    mass_ += link.mass;
    geared_ = geared_ || link.rotor > 0;
  }
}

bool LinkageTree::holds(int joint) const { return !std::binary_search(tree_.outside.begin(), tree_.outside.end(), joint); }

void LinkageTree::place(const Model& model, const State& s) {
  read_coordinates(model, tree_, s, q_, u_);
  place_links(local_, q_.data(), poses_);
  articulated_.factor(local_, poses_);
  has_weights_ = false;
}

int LinkageTree::rate_of(int joint, int axis) const {
  const auto at =
      std::ranges::lower_bound(by_number_, joint, {}, [&](int k) { return tree_.joints[static_cast<std::size_t>(k)].joint; });
  if (at == by_number_.end()) return -1;
  const TreeJoint& found = tree_.joints[static_cast<std::size_t>(*at)];
  if (found.joint != joint) return -1;
  const bool ball = axis >= 3 && found.velocity[3] >= 0 && found.velocity[4] >= 0 && found.velocity[5] >= 0;
  return ball ? -1 : found.velocity[static_cast<std::size_t>(axis)];
}

void LinkageTree::weigh_axes(const VecX& weights) {
  has_weights_ = weights.size() > 0;
  if (has_weights_) weighed_.factor(local_, poses_, weights.data());
}

const VecX& LinkageTree::give_way(const VecX& tau, std::span<const double> impulses, std::span<double> velocities) {
  ArticulatedBodies& bodies = has_weights_ ? weighed_ : articulated_;
  bodies.accelerations(local_, poses_, Vec3::Zero(), nullptr, tau.data(), impulses.data(), response_udot_.data());
  bodies.write_accelerations(local_, poses_, false, response_);
  for (std::size_t k = 0; k < local_.link_of.size(); ++k)
    if (local_.link_of[k] >= 0)
      Eigen::Map<Vec6>(velocities.data() + 6 * k) = response_.segment<6>(6 * static_cast<Eigen::Index>(k));
  return response_udot_;
}

LinkageTree::Opening LinkageTree::opening(const Model& model, const State& s) {
  read_coordinates(model, tree_, s, q_, u_);
  again_ = s;
  place_links(tree_, q_.data(), poses_next_);
  move_links(tree_, poses_next_, u_.data(), motions_);
  write_bodies(tree_, poses_next_, &motions_, again_);
  Opening out;
  for (const TreeLink& link : tree_.links) {
    const int i = link.body;
    if (i < 0) continue;
    out.position = std::max({out.position, (again_.p[i] - s.p[i]).cwiseAbs().maxCoeff(),
                             log_rotation(again_.theta[i] * s.theta[i].conjugate()).cwiseAbs().maxCoeff()});
    out.velocity = std::max(out.velocity, (again_.u - s.u).segment<6>(6 * i).cwiseAbs().maxCoeff());
  }
  return out;
}

void LinkageTree::take_forces(const VecX& forces) {
  for (std::size_t i = 0; i < tree_.links.size(); ++i)
    if (const int body = tree_.links[i].body; body >= 0)
      forces_.segment<6>(6 * local_.links[i].body) = forces.segment<6>(6 * body);
}

void LinkageTree::find_rates(const LinkPoses& poses, VecX& u) {
  for (std::size_t i = 0; i < local_.links.size(); ++i) {
    const TreeLink& link = local_.links[i];
    if (link.body < 0) continue;
    const Mat3 R = mat3(poses[i].R);
    momentum_.segment<3>(6 * link.body) = link.mass * v_.segment<3>(6 * link.body);
    momentum_.segment<3>(6 * link.body + 3) = R * (link.I * (R.transpose() * v_.segment<3>(6 * link.body + 3)));
  }
  articulated_.accelerations(local_, poses, Vec3::Zero(), nullptr, geared_ ? spins_.data() : nullptr, momentum_.data(), u.data());
}

void LinkageTree::take_spins(const VecX& u) {
  for (const TreeLink& link : local_.links)
    if (link.rotor > 0) spins_[link.velocity] = link.rotor * u[link.velocity];
}

double LinkageTree::rotor_energy(const VecX& u) const {
  double twice = 0;
  for (const TreeLink& link : local_.links)
    if (link.rotor > 0) twice += link.rotor * u[link.velocity] * u[link.velocity];
  return 0.5 * twice;
}

void LinkageTree::write_velocities(const LinkPoses& poses) {
  for (std::size_t i = 0; i < local_.links.size(); ++i) {
    const int place = local_.links[i].body;
    if (place < 0) continue;
    v_.segment<3>(6 * place) = vec3(motions_[i].v + cross3(motions_[i].w, poses[i].c));
    v_.segment<3>(6 * place + 3) = vec3(motions_[i].w);
  }
}

double LinkageTree::kinetic_energy(const LinkPoses& poses) const {
  double twice = 0;
  Vec3 momentum = Vec3::Zero();
  for (std::size_t i = 0; i < local_.links.size(); ++i) {
    const TreeLink& link = local_.links[i];
    if (link.body < 0) continue;
    const Vec3 v = v_.segment<3>(6 * link.body), spin = mat3(poses[i].R).transpose() * v_.segment<3>(6 * link.body + 3);
    twice += link.mass * v.squaredNorm() + spin.dot(link.I * spin);
    momentum += link.mass * v;
  }
  return 0.5 * (twice - (floats_ ? momentum.squaredNorm() / mass_ : 0.0));
}

void LinkageTree::project(VecX& velocities) {
  for (std::size_t i = 0; i < tree_.links.size(); ++i)
    if (const int body = tree_.links[i].body; body >= 0)
      v_.segment<6>(6 * local_.links[i].body) = velocities.segment<6>(6 * body);
  take_spins(u_);  // forces act on bodies
  find_rates(poses_, u_next_);
  move_links(local_, poses_, u_next_.data(), motions_);
  write_velocities(poses_);
  for (std::size_t i = 0; i < tree_.links.size(); ++i)
    if (const int body = tree_.links[i].body; body >= 0)
      velocities.segment<6>(6 * body) = v_.segment<6>(6 * local_.links[i].body);
}

bool LinkageTree::innovate(int place, const Vec6& impulse, double* y, double* Dy) const {
  if (!has(place)) return false;
  (has_weights_ ? weighed_ : articulated_).innovate(local_, local_.link_of[static_cast<std::size_t>(place)], impulse, y, Dy);
  return true;
}

void LinkageTree::respond(std::span<const double> impulses, std::span<double> velocities) {
  articulated_.accelerations(local_, poses_, Vec3::Zero(), nullptr, nullptr, impulses.data(), response_udot_.data());
  articulated_.write_accelerations(local_, poses_, false, response_);
  for (std::size_t k = 0; k < local_.link_of.size(); ++k)
    if (local_.link_of[k] >= 0)
      Eigen::Map<Vec6>(velocities.data() + 6 * k) += response_.segment<6>(6 * static_cast<Eigen::Index>(k));
}

std::span<const LinkageTree::Through> LinkageTree::joint_impulses(std::span<const double> impulses, double h) {
  for (std::size_t k = 0; k < summed_.size(); ++k) summed_[k] = forces_[static_cast<Eigen::Index>(k)] + impulses[k] / h;
  articulated_.accelerations(local_, poses_, Vec3::Zero(), u_.data(), nullptr, summed_.data(), udot_.data());
  newton_euler(local_, poses_, Vec3::Zero(), u_.data(), udot_.data(), summed_.data(), motions_, sigma_.data());
  through_.clear();
  for (const int k : by_number_) {
    const TreeJoint& joint = tree_.joints[static_cast<std::size_t>(k)];
    const auto child = static_cast<std::size_t>(joint.link);
    Vec6 impulse;
    const LinkMotion& motion = motions_[child];
    impulse << vec3(h * motion.f), vec3(h * (motion.n - cross3(poses_[child].c, motion.f)));
    through_.push_back({joint.joint, local_.links[child].body, impulse});
  }
  return through_;
}

void LinkageTree::take(const Model& model, const State& s, const VecX& motion, const VecX& velocities) {
  read_coordinates(model, tree_, s, motion, q_, sigma_);
  for (std::size_t i = 0; i < tree_.links.size(); ++i)
    if (const int body = tree_.links[i].body; body >= 0)
      v_.segment<6>(6 * local_.links[i].body) = velocities.segment<6>(6 * body);
  energy_ = kinetic_energy(poses_);
  if (!geared_) return;
  read_coordinates(model, tree_, s, velocities, q_, u_);
  take_spins(u_);
  energy_ += rotor_energy(u_);
}

void LinkageTree::move(State& s) {
  rotule::displace(tree_, q_, sigma_, q_next_);
  place_links(local_, q_next_.data(), poses_next_);
  articulated_.factor(local_, poses_next_);
  find_rates(poses_next_, u_next_);
  move_links(local_, poses_next_, u_next_.data(), motions_);
  write_velocities(poses_next_);
  // Beyond 0.4 rad per step there is no knowing what was lost to the step and what to the motion.
  constexpr double most = 1.1;
  const double has = kinetic_energy(poses_next_) + rotor_energy(u_next_);
  const double factor = has > 0 ? std::min(std::sqrt(std::max(energy_, 0.0) / has), most) : 1.0;
  Vec3 drift = Vec3::Zero();
  for (const TreeLink& link : local_.links)
    if (floats_ && link.body >= 0) drift += link.mass / mass_ * v_.segment<3>(6 * link.body);
  u_next_ *= factor;
  for (const TreeJoint& joint : tree_.joints)
    if (floats_ && joint.joint < 0) u_next_.segment<3>(joint.velocity[0]) += (1 - factor) * drift;
  move_links(local_, poses_next_, u_next_.data(), motions_);
  write_bodies(tree_, poses_next_, &motions_, s);
}

std::vector<LinkageTree> find_trees(const Model& model, const State& s, std::span<const Linkage> linkages) {
  std::vector<LinkageTree> out;
  out.reserve(linkages.size());
  for (const Linkage& linkage : linkages) out.emplace_back(model, s, linkage);
  return out;
}

}  // namespace rotule
