#include "commands.h"

namespace rotule::app {

void export_scene(const ExportOptions& options) {
  const NamedScene named = find_scene(options.scene);
  if (options.out.empty()) {
    print(to_json(named.scene));
  } else {
    save_scene(named.scene, options.out);
  }
}

}  // namespace rotule::app
