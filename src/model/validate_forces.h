#pragma once
// Whether particles, solids and forces make sense: masses positive, places in range, springs with two different ends, names
// known. Ends of springs that meet are found when the world is built, where centres of mass are known.
#include <rotule/scene.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/place.h"

namespace rotule {

/// Names of what forces and joints can hold on to.
class Partners {
 public:
  explicit Partners(const Scene& scene);

  /// Throws where there is no such body or particle. `groups`: whether a whole group may be named.
  void check(const Place& at, const std::string& name, bool groups = false) const;
  /// Of a name that passed the check.
  [[nodiscard]] bool is_particle(const std::string& name) const { return name != "world" && !bodies_.contains(name); }

 private:
  const Scene& scene_;
  std::unordered_set<std::string> bodies_;
  std::unordered_map<std::string, std::size_t> counts_;
};

void validate_particles(const Scene& scene);
void validate_forces(const Scene& scene);

}  // namespace rotule
