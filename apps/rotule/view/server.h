#pragma once
// The program's own small web server: the page and its files, and one socket per viewer. One thread does all of it. A viewer
// that reads too slowly is sent the newest frame when it has taken the last one, so that it loses frames and holds up nobody.
// What is malformed, comes from another page (Origin) or under another name (Host), or lacks the token closes that connection
// and nothing else.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "record/view_stream.h"

namespace rotule::app {

using ViewerId = std::uint64_t;
inline constexpr ViewerId all_viewers = 0;

struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 0;                         // 0: any that is free
  std::string token = {};               // empty: none is asked for
  std::size_t most_inbound = 64 << 10;  // bytes of a message
  bool takes_binary = false;            // whether viewers may send binary messages
};

/// Called on the server's thread.
struct ServerHandlers {
  std::function<void(ViewerId)> joined, left;
  /// Whatever they throw closes the viewer's socket, with the reason.
  std::function<void(ViewerId, std::string_view)> text;
  std::function<void(ViewerId, std::span<const std::uint8_t>)> binary;
};

/// What a text message is, for those that replace an older one that is still waiting.
enum class Say { other, scene, state, body };

class Server {
 public:
  /// Listens; throws Error where the address or port cannot be had.
  Server(const ServerOptions& options, ServerHandlers handlers);
  ~Server();

  [[nodiscard]] int port() const;
  /// What to open in a browser.
  [[nodiscard]] std::string address() const;
  /// Serves until `stop`, or until the process is interrupted.
  void run();

  /// The signal that ended `run`; 0: none did.
  [[nodiscard]] int signal() const;

  // From any thread.
  void stop();
  void say(ViewerId viewer, std::shared_ptr<const std::string> text, Say what = Say::other);
  void show(ViewerId viewer, std::shared_ptr<const ViewFrame> frame);
  void set_parts(ViewerId viewer, unsigned parts);
  /// The next frame will be a key frame.
  void want_key(ViewerId viewer);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// 128 random bits from the system, as hexadecimal digits.
std::string random_token();

}  // namespace rotule::app
