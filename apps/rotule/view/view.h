#pragma once
// What `rotule view` and `rotule film` share.

namespace rotule::app {

/// Throws Error, with the remedy, where the program was built without the page.
void require_page();

}  // namespace rotule::app
