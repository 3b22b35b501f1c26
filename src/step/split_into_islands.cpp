#include "step/split_into_islands.h"

namespace rotule {

int split_into_islands(const Model& model, const IslandParts& parts, std::vector<Island>& out, IslandSearch& search) {
  auto& tied = search.tied;
  auto& island_of = search.island_of;
  const int partners = model.partner_count();
  tied.reset(static_cast<std::size_t>(partners));
  for (const Linkage& linkage : parts.linkages)
    for (const int body : linkage.bodies) tied.join(linkage.bodies.front(), body);
  for (const Contact& c : parts.contacts)
    if (model.movable(c.a) && model.movable(c.b)) tied.join(c.a, c.b);

  for (const std::vector<int>& group : model.added_mass.groups)
    for (const int body : group) tied.join(group.front(), body);

  // Numbered in the order of their first bodies.
  island_of.assign(partners, -1);
  const auto mark = [&](int body) { island_of[tied.root(body)] = 0; };
  for (const Linkage& linkage : parts.linkages) mark(linkage.bodies.front());
  for (const Contact& c : parts.contacts) mark(model.movable(c.a) ? c.a : c.b);
  int count = 0;
  for (int i = 0; i < partners; ++i)
    if (model.movable(i) && tied.root(i) == i && island_of[i] == 0) island_of[i] = count++;
  if (count > static_cast<int>(out.size())) out.resize(count);
  for (int k = 0; k < count; ++k) {
    out[k].slots.clear();
    for (std::vector<int>* list : {&out[k].bodies, &out[k].linkages, &out[k].drives, &out[k].contacts}) list->clear();
  }

  search.local_of.assign(partners, -1);
  for (int i = 0; i < partners; ++i) {
    if (!model.movable(i) || island_of[tied.root(i)] < 0) continue;
    Island& island = out[island_of[tied.root(i)]];
    search.local_of[i] = static_cast<int>(island.bodies.size());
    island.bodies.push_back(i);
    island.slots.push_back(model.slot(i));
  }
  const auto island_with = [&](int a, int b) -> Island& { return out[island_of[tied.root(model.movable(a) ? a : b)]]; };
  for (std::size_t j = 0; j < parts.linkages.size(); ++j) {
    const int body = parts.linkages[j].bodies.front();
    island_with(body, body).linkages.push_back(static_cast<int>(j));
  }
  for (std::size_t k = 0; k < parts.drives.size(); ++k)
    island_with(parts.drives[k].a, parts.drives[k].b).drives.push_back(static_cast<int>(k));
  for (std::size_t k = 0; k < parts.contacts.size(); ++k)
    island_with(parts.contacts[k].a, parts.contacts[k].b).contacts.push_back(static_cast<int>(k));
  return count;
}

}  // namespace rotule
