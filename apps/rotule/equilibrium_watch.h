#pragma once
#include <rotule/analyse.h>
#include <rotule/world.h>

#include <optional>
#include <string>

#include "commands.h"

namespace rotule::app {

/// Watches for the moment at which everything has come to rest and stays so (B3).
class EquilibriumWatch {
 public:
  EquilibriumWatch(const World& world, const Scene& scene, const RunOptions& options);

  /// Whether equilibrium has lasted long enough.
  bool at(const World& world);

  /// Since when, for runs that go on another time.
  [[nodiscard]] Json save() const;
  void load(const Json& saved);

  [[nodiscard]] Json result(bool reached) const;

 private:
  double force_ = 0, speed_ = 0, hold_ = 0;
  std::optional<double> since_;
  Balance now_;
};

/// A result in words: a line, and one for each of those that still move.
std::string equilibrium_text(const Json& result);

}  // namespace rotule::app
