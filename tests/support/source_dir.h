#pragma once
// Where the sources lie, for tests that read the data shipped with them. A function, so that one small file alone depends on it
// and compiled tests can be shared between checkouts.
#include <string>

namespace rotule::testing {
const std::string& source_dir();
}
