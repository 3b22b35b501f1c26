#pragma once
// Bytes as text (RFC 4648, section 4), for formats that carry numbers inside.
#include <string>
#include <string_view>

namespace rotule {

std::string base64(std::string_view bytes);
/// The first so many bytes that the text stands for, or as many as there are before it ends; blanks are passed over.
std::string from_base64(std::string_view text, std::size_t most);

}  // namespace rotule
