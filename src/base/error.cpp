// Apart from the header, since nearly every file throws one.
#include <rotule/error.h>

namespace rotule {

Error::Error(const std::string& message) : std::runtime_error(message) {}
Error::Error(const std::string& place, const std::string& message)
    : std::runtime_error(place.empty() ? message : place + ": " + message) {}

}  // namespace rotule
