#pragma once
// Text for messages and files: quoting that stays on one line, the nearest known word, numbers that read back to the same bits.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// The text with whatever would break a line, or a terminal would obey, escaped (base/printable.h).
std::string one_line(std::string_view text);
/// The same in double quotes, shortened where longer than a line deserves.
std::string in_quotes(std::string_view text);

/// Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, if any is near enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// `did you mean "mass"?` of what is near, or has the word for a part; else `known are: mass, density` (the first few).
std::string suggestion(std::string_view word, std::span<const std::string> candidates);

/// The shortest decimal that reads back to the same double; "-0.0" keeps its sign, and there is no such text for NaN and
/// infinity.
std::string shortest(double value);

/// All of `text` as a number, or nothing.
std::optional<double> to_double(std::string_view text);
std::optional<long long> to_integer(std::string_view text);

}  // namespace rotule
