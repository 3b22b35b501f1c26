#include "mechanism/linkage.h"

#include <algorithm>
#include <utility>

#include "base/union_find.h"

namespace rotule {

namespace {

/// Whether joints tie together what hangs together without them, all that cannot move being one.
bool closes_loops(const Model& model, const std::vector<int>& joints) {
  UnionFind tied(static_cast<std::size_t>(model.partner_count()) + 1);
  const int ground = model.partner_count();
  std::vector<int> partners;
  bool loops = false;
  for (const int j : joints) {
    partners.clear();
    for_each_partner(model.joints[j], [&](int partner) {
      const int node = model.movable(partner) ? partner : ground;
      if (node != ground || std::ranges::find(partners, ground) == partners.end()) partners.push_back(node);
    });
    for (std::size_t k = 1; k < partners.size(); ++k) loops = !tied.join(partners.front(), partners[k]) || loops;
  }
  return loops;
}

/// A lever that is rounding alone, as poses that were computed leave it, is none.
double longest_reach(const Model& model, const std::vector<int>& joints) {
  constexpr double rounding = 1e-12, least = 1e-15;  // of the farthest joint; m
  double longest = 0, farthest = 0;
  for (const int j : joints) {
    const Joint& joint = model.joints[j];
    farthest = std::max({farthest, joint.X_A.position.norm(), joint.X_B.position.norm()});
    if (joint.a != world_body) longest = std::max(longest, joint.X_A.position.norm());
    if (joint.b != world_body) longest = std::max(longest, joint.X_B.position.norm());
    longest = std::max(longest, joint.length);
  }
  return longest > std::max(rounding * farthest, least) ? longest : infinity;
}

Linkage make_linkage(const Model& model, std::vector<int> joints, std::vector<int> bodies, std::vector<int>& local,
                     bool switching) {
  Linkage linkage;
  linkage.bodies = std::move(bodies);
  linkage.joints = std::move(joints);
  for (std::size_t k = 0; k < linkage.bodies.size(); ++k) local[linkage.bodies[k]] = static_cast<int>(k);
  linkage.has_loops = closes_loops(model, linkage.joints);
  linkage.reach = longest_reach(model, linkage.joints);
  linkage.constraints = ConstraintSet(model, linkage.joints, local, switching);
  linkage.compliance.setZero(linkage.constraints.rows());
  return linkage;
}

/// Where a joint's rows stood before.
struct OldRows {
  const JointAnswer* answer = nullptr;
  int first_row = 0, rows = 0;
};

/// What its joints gave where they were in other linkages: iterations go on from there, and forces stay known.
JointAnswer carry_over(const Linkage& linkage, const std::vector<OldRows>& old) {
  JointAnswer out;
  const int rows = linkage.constraints.rows();
  for (VecX* v : {&out.x, &out.lambda}) v->setZero(rows);
  out.known = !linkage.joints.empty();
  for (const ConstraintBlock& block : linkage.constraints.blocks()) {
    const OldRows& from = old[block.source];
    const bool there = from.answer && from.rows == block.rows;
    out.known = out.known && there && from.answer->known;
    if (!there) continue;
    out.x.segment(block.first_row, block.rows) = from.answer->x.segment(from.first_row, from.rows);
    out.lambda.segment(block.first_row, block.rows) = from.answer->lambda.segment(from.first_row, from.rows);
  }
  return out;
}

}  // namespace

void renumber(Linkage& linkage, std::span<const int> body, std::span<const int> joint) {
  if (!body.empty())
    for (int& number : linkage.bodies) number = body[number];
  if (!joint.empty())
    for (int& number : linkage.joints) number = joint[number];
  linkage.constraints.renumber(body, joint);
}

bool rows_fit(const Model& model, const Linkage& linkage, bool switching) {
  const std::vector<ConstraintBlock>& blocks = linkage.constraints.blocks();
  for (int n = 0; n < static_cast<int>(blocks.size()); ++n) {
    const std::span<const DrivenAxis> driven = linkage.constraints.driven(n);
    const std::vector<Joint::AxisDrive>& drives = model.joints[blocks[n].source].drives;
    std::size_t next = 0;
    for (int k = 0; k < static_cast<int>(drives.size()); ++k) {
      if (!has_row(drives[k].drive, switching)) continue;
      if (next == driven.size() || driven[next].drive != k) return false;
      if (drives[k].drive.motion && !driven[next].in_force) return false;
      ++next;
    }
    if (next != driven.size()) return false;
  }
  return true;
}

std::vector<int> find_linkages(const Model& model, std::vector<Linkage>& linkages, std::vector<JointAnswer>& answers,
                               bool switching) {
  UnionFind tied(static_cast<std::size_t>(model.partner_count()));
  for (const Joint& joint : model.joints) {
    const int first = model.movable(joint.a) ? joint.a : joint.b;
    for_each_partner(joint, [&](int partner) {
      if (model.movable(partner)) tied.join(first, partner);
    });
  }
  // What fluid couples answers together.
  for (const std::vector<int>& group : model.added_mass.groups)
    for (const int body : group) tied.join(group.front(), body);

  std::vector<std::vector<int>> joints_of(model.partner_count()), bodies_of(model.partner_count());
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    joints_of[tied.root(model.movable(joint.a) ? joint.a : joint.b)].push_back(j);
  }
  for (int i = 0; i < model.partner_count(); ++i)
    if (const int root = tied.root(i); model.movable(i) && !joints_of[root].empty()) bodies_of[root].push_back(i);

  // Who was where.
  std::vector<Linkage> before = std::exchange(linkages, {});
  std::vector<JointAnswer> before_answers = std::exchange(answers, {});
  std::vector<OldRows> old(model.joints.size());
  std::vector<int> old_linkage(model.joints.size(), -1);
  for (std::size_t k = 0; k < before.size(); ++k)
    for (const ConstraintBlock& block : before[k].constraints.blocks())
      if (block.source >= 0) {
        old[block.source] = {&before_answers[k], block.first_row, block.rows};
        old_linkage[block.source] = static_cast<int>(k);
      }

  std::vector<int> local(model.partner_count(), -1), stood;
  for (int i = 0; i < model.partner_count(); ++i) {
    if (joints_of[i].empty()) continue;
    const int same = old_linkage[joints_of[i].front()];
    if (same >= 0 && before[same].joints == joints_of[i] && before[same].bodies == bodies_of[i] &&
        rows_fit(model, before[same], switching)) {
      linkages.push_back(std::move(before[same]));
      answers.push_back(std::move(before_answers[same]));
      stood.push_back(same);
      continue;
    }
    linkages.push_back(make_linkage(model, std::move(joints_of[i]), std::move(bodies_of[i]), local, switching));
    answers.push_back(carry_over(linkages.back(), old));
    stood.push_back(-1);
  }
  return stood;
}

}  // namespace rotule
