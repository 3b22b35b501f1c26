#pragma once
// HTML pages that stand alone: style and script inside, nothing fetched, light or dark as the reader has it. The script shows the
// numbers of a plot (svg_plot.h) under the pointer, or, with the keyboard, under a cursor that the arrow keys move.
#include <string>
#include <string_view>

#include "base/markup.h"

namespace rotule {

/// JSON that may stand in a <script>: no "<" is left in it.
std::string script_safe(std::string_view json);

/// The page around `body`, which is HTML.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace rotule
