#include "record/base64.h"

#include <algorithm>
#include <cstdint>

namespace rotule {

namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) word = word << 8 | (k < here ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= here ? base64_digits[word >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

std::string from_base64(std::string_view text, std::size_t most) {
  std::string out;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    if (out.size() == most) break;
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const std::size_t digit = base64_digits.find(c);
    if (digit == base64_digits.npos) break;
    word = word << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(word >> bits & 255u);
  }
  return out;
}

}  // namespace rotule
