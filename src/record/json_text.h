#pragma once
// JSON text to a tree, with what a file from anywhere needs: line and column of what is wrong, duplicate keys refused, depth
// limited. Numbers too large for a double are refused here.
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace rotule {

using Json = nlohmann::ordered_json;

/// Throws Error: `line 3, column 7: ...` for syntax, a JSON pointer for duplicate keys and depth.
Json parse_json(std::string_view text);

/// A discarded value where the text is not JSON.
Json parse_if_json(std::string_view text);

/// "a number", "an object", ... for messages.
std::string_view type_of(const Json& json);

/// All of a file as text; throws Error with the file's name for what is missing, a folder, empty or larger than 1 GiB.
std::string read_text_file(const std::string& path);
/// Writes beside, then renames; throws Error and leaves nothing on failure.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace rotule
