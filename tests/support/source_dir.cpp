#include "support/source_dir.h"

namespace rotule::testing {
const std::string& source_dir() {
  static const std::string folder = ROTULE_SOURCE_DIR;
  return folder;
}
}  // namespace rotule::testing
