#pragma once
// Text on its way to a terminal. Names come from scene files, and whoever wrote one may have put sequences into it that move the
// cursor, colour what follows or turn the direction of reading round: whatever a terminal would obey is written as \u001b.
#include <string>
#include <string_view>

namespace rotule {

/// The text with control characters (below 32 but newlines and tabs, 127 to 159), marks that change the direction of reading, and
/// bytes that are not UTF-8 escaped, as JSON escapes them: what was valid JSON stays so.
std::string printable(std::string_view text);

/// A name as tables and messages show it: on one line, and with the middle left out (…) where it is longer than about 80
/// characters.
std::string shown(std::string_view name);

/// A message in one line in which no word is longer than a line or two, beginning and end of it kept.
std::string shown_message(std::string_view message);

}  // namespace rotule
