#include "analyse/linkage_count.h"

#include <map>
#include <string_view>
#include <unordered_map>

#include "base/union_find.h"

namespace rotule {

std::vector<LinkageCount> count_linkages(const Model& model, const std::vector<Redundancy>& redundant) {
  UnionFind linked(static_cast<std::size_t>(model.partner_count()));
  for (const Joint& joint : model.joints) {
    int first = world_body;
    for_each_partner(joint, [&](int partner) {
      if (!model.movable(partner)) return;
      if (first == world_body)
        first = partner;
      else
        linked.join(first, partner);
    });
  }
  std::unordered_map<std::string_view, int> superfluous;  // rows, by the joint's name
  for (const Redundancy& r : redundant) superfluous[r.joint] += r.rows;
  std::map<int, LinkageCount> by_root;
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    int root = world_body;
    for_each_partner(joint, [&](int partner) {
      if (model.movable(partner)) root = linked.root(partner);
    });
    LinkageCount& linkage = by_root[root];
    linkage.joints.push_back(j);
    if (joint.equations && joint.equations->one_sided) continue;  // it bounds, and locks nothing
    linkage.rows += joint.rows();
    linkage.rank += joint.rows();
    if (const auto found = superfluous.find(joint.name); found != superfluous.end()) linkage.rank -= found->second;
  }
  for (int i = 0; i < model.partner_count(); ++i)
    if (model.movable(i))
      if (const auto found = by_root.find(linked.root(i)); found != by_root.end()) {
        found->second.bodies.push_back(i);
        found->second.movable += model.is_particle(i) ? 3 : 6;
      }
  std::vector<LinkageCount> out;
  for (auto& [root, linkage] : by_root) out.push_back(std::move(linkage));
  return out;
}

}  // namespace rotule
