#pragma once
// Bytes as text (RFC 4648, section 4), for formats that carry numbers inside.
#include <string>
#include <string_view>

namespace rotule {

std::string base64(std::string_view bytes);

}  // namespace rotule
