#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

#include "fuzz.h"

namespace rotule::fuzz {
namespace {

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

/// Texts on which readers stumble.
constexpr std::array<std::string_view, 26> nasty_texts{
    "0",    "-1",    "1e308",    "-1e308", "1e-320", "1e999",   "NaN",  "9223372036854775808", "4294967296", "0.1e",
    "\"\"", "null",  "[]",       "{}",     "[[",     "\\u0000", "\xff", "\xed\xa0\x80",        "true",       "../",
    "-0.0", "1e-12", "99999999", "inf",    "%s%n",   "\n"};

void change_byte(std::string& text, Random& random) {
  if (text.empty()) return;
  char& c = text[below(random, text.size())];
  switch (below(random, 4)) {
    case 0:
      c = static_cast<char>(c ^ (1 << below(random, 8)));
      break;
    case 1:
      c = static_cast<char>(random());
      break;
    case 2:
      c = static_cast<char>(c + 1);
      break;
    default:
      c = std::array{'\0', '\xff', '\x7f', '\x80'}[below(random, 4)];
  }
}

/// A whole number of the text is replaced, where there is one.
void change_number(std::string& text, Random& random) {
  std::size_t at = below(random, text.size());
  const auto digit = [&](std::size_t i) { return i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; };
  while (at < text.size() && !digit(at)) ++at;
  std::size_t end = at;
  while (end < text.size() && (digit(end) || text[end] == '.' || text[end] == 'e')) ++end;
  if (end == at) return;
  std::string with(nasty_texts[below(random, nasty_texts.size())]);
  if (below(random, 2) == 0)
    with = std::to_string(std::uniform_real_distribution<>(-1, 1)(random) *
                          std::pow(10.0, static_cast<double>(below(random, 12)) - 4));
  text.replace(at, end - at, with);
}

void change_piece(std::string& text, const std::string& other, Random& random) {
  const std::size_t at = below(random, text.size() + 1), size = std::min(text.size() - at, below(random, 64) + 1);
  switch (below(random, 5)) {
    case 0:
      text.erase(at, size);
      break;
    case 1:
      text.insert(at, text.substr(at, size));
      break;
    case 2:
      text.insert(at, nasty_texts[below(random, nasty_texts.size())]);
      break;
    case 3: {
      const std::size_t from = below(random, other.size() + 1);
      text.replace(at, size, other.substr(from, below(random, 128)));
      break;
    }
    default:
      text.resize(at);
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, Random& random) {
  constexpr std::size_t most = 1 << 20;
  if (seeds.empty()) return {};
  std::string out = seeds[below(random, seeds.size())];
  const std::string& other = seeds[below(random, seeds.size())];
  const std::size_t changes = std::size_t{1} << below(random, 5);
  for (std::size_t k = 0; k < changes; ++k) switch (below(random, 4)) {
      case 0:
        change_byte(out, random);
        break;
      case 1:
      case 2:
        change_number(out, random);
        break;
      default:
        change_piece(out, other, random);
    }
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace rotule::fuzz
