#include "base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "base/text.h"

namespace rotule {
namespace {

/// Bytes of the character that begins here and its number; a length of 1 and the replacement character where it is none.
struct Character {
  std::size_t bytes = 1;
  std::uint32_t number = 0xfffd;
};

Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return {1, first};
  const std::size_t bytes = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first >= 0xf5 || at + bytes > text.size()) return {};
  std::uint32_t number = first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80) return {};
    number = number << 6 | (byte(at + i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = number >= 0xd800 && number < 0xe000;
  return number < least[bytes] || number > 0x10ffff || surrogate ? Character{} : Character{bytes, number};
}

bool is_obeyed(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || c == 0xfffd;
}

std::string escaped(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (is_obeyed(c.number) && !(keep_lines && (c.number == '\n' || c.number == '\t')))
      out += fmt::format("\\u{:04x}", c.number);
    else
      out += text.substr(at, c.bytes);
    at += c.bytes;
  }
  return out;
}

/// Of escaped text; cuts between characters.
std::string shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80; };
  std::size_t head = longest / 2, tail = text.size() - longest / 4;
  while (head > 0 && inside(head)) --head;
  while (tail < text.size() && inside(tail)) ++tail;
  return fmt::format("{}…{}", text.substr(0, head), text.substr(tail));
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, true); }

std::string one_line(std::string_view text) { return escaped(text, false); }

std::string shown(std::string_view name) {
  constexpr std::size_t longest = 80;
  return shortened(escaped(name, false), longest);
}

std::string shown_message(std::string_view message) {
  constexpr std::size_t longest_word = 240, longest = 4000;  // paths are words too
  std::string out;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t end = std::min(message.find_first_of(" \n\r\t", at), message.size());
    out += shortened(escaped(message.substr(at, end - at), false), longest_word);
    if (end < message.size()) out += ' ';
    at = end + 1;
  }
  return shortened(out, longest);
}

}  // namespace rotule
