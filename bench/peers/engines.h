#pragma once
// The engines that are compared. Each makes a world of a scene, with its own default solver settings, nothing sleeping.
#include <memory>

#include "peers/scene.h"

namespace peers {

struct RotuleOptions {
  bool realtime = true;  // else the reference, by the dial's setting `realtime`
  int threads = 1;
  int substeps = 0;  // 0: by default
};

std::unique_ptr<Engine> make_rotule(const Scene& scene, const RotuleOptions& options);
#ifdef ROTULE_BENCH_BULLET
std::unique_ptr<Engine> make_bullet(const Scene& scene);
#endif

}  // namespace peers
