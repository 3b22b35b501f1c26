#pragma once
// Text for HTML, SVG and XML.
#include <string>
#include <string_view>

namespace rotule {

/// With &, <, > and quotes as entities; control characters, which XML does not allow, become spaces.
std::string markup_escaped(std::string_view text);

}  // namespace rotule
