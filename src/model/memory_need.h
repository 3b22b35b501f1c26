#pragma once
// How much memory a scene will take, before any of it is taken. A few words of a file may stand for billions of particles or
// cells: who asks for more than there is hears so at once, and not after minutes from a system that kills.
#include <rotule/scene.h>

#include <string>

namespace rotule {

struct MemoryNeed {
  double bytes = 0;       // estimate for a world with one recipe by impulses; factorisations with much fill-in take more
  std::string largest{};  // what takes most of them: "2.7e+08 cells of /fluid/grid"
};
MemoryNeed memory_need(const Scene& scene);

/// Throws Error where there is not as much.
void require_memory(const Scene& scene);

}  // namespace rotule
