#pragma once
// Whether particles, solids and forces make sense: masses positive, places in range, springs with two different ends, names
// known. Ends of springs that meet are found when the world is built, where centres of mass are known.
#include <rotule/scene.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/place.h"

namespace rotule {

/// Names of what forces and joints can hold on to.
class PartnerNames {
 public:
  explicit PartnerNames(const Scene& scene);
  /// Bodies by name; groups of particles with how many each has.
  PartnerNames(std::vector<std::string> bodies, std::unordered_map<std::string, std::size_t> groups);

  /// Throws where there is no such group of particles.
  void check_group(const Place& at, const std::string& name) const;
  /// Throws where there is no such body or particle. `groups`: whether a whole group may be named.
  void check(const Place& at, const std::string& name, bool groups = false) const;
  /// Of a name that passed the check.
  [[nodiscard]] bool is_particle(const std::string& name) const { return name != "world" && !bodies_.contains(name); }

 private:
  std::vector<std::string> names_;  // of bodies, in their order
  std::unordered_set<std::string> bodies_;
  std::unordered_map<std::string, std::size_t> counts_;
};

void validate_particles(const Scene& scene);
void validate_forces(const Scene& scene);
void validate(const ForceDef& force, const PartnerNames& partners, const Place& place);
/// Of a force in the computed flow: throws Error where it is too thick for the fluid's cells, or for another fluid.
void require_thin(const ForceDef& force, const FluidDef& fluid, const Place& place);

}  // namespace rotule
