#pragma once
// Words that other engines have for what scenes say in other words.
#include <span>
#include <string>
#include <string_view>

namespace rotule {

/// What to write in place of a word that is not known here: what other engines call one of `known`, else the nearest of them,
/// else all.
std::string remedy_for_word(std::string_view word, std::span<const std::string> known);

}  // namespace rotule
