#pragma once
// A client for tests of the viewer's server, down at the socket, so that it can also do what no browser would.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rotule::testing {

struct Message {
  int kind = 0;  // 1 text, 2 binary, 8 close, 9 ping
  std::string payload;
};

/// A frame as clients must send it, masked; `kind` may hold any bits.
inline std::string web_frame(std::string_view payload, int kind = 0x81) {
  std::string out(1, static_cast<char>(kind));
  const std::size_t size = payload.size();
  if (size < 126) {
    out += static_cast<char>(0x80 | size);
  } else {
    const bool is_short = size < 65536;
    out += static_cast<char>(0x80 | (is_short ? 126 : 127));
    for (int k = is_short ? 1 : 7; k >= 0; --k) out += static_cast<char>(size >> (8 * k) & 0xff);
  }
  constexpr unsigned char mask[4] = {0x12, 0x34, 0x56, 0x78};
  for (const unsigned char byte : mask) out += static_cast<char>(byte);
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(static_cast<unsigned char>(payload[i]) ^ mask[i % 4]);
  return out;
}

class WebClient {
 public:
  explicit WebClient(int port, const char* address = "127.0.0.1") {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &to.sin_addr);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) ::close(std::exchange(socket_, -1));
    const int on = 1;
    if (socket_ >= 0) ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  WebClient(WebClient&& other) noexcept : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}
  ~WebClient() {
    if (socket_ >= 0) ::close(socket_);
  }
  [[nodiscard]] bool connected() const { return socket_ >= 0; }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Up to and including `end`; what has come where the connection ends or `seconds` pass.
  std::string read_until(std::string_view end, double seconds = 10) {
    const auto limit = after(seconds);
    std::size_t at;
    while ((at = buffer_.find(end)) == buffer_.npos)
      if (!receive(limit)) return std::exchange(buffer_, {});
    std::string out = buffer_.substr(0, at + end.size());
    buffer_.erase(0, at + end.size());
    return out;
  }
  /// The next message; none where the connection ends or `seconds` pass. Pings are answered, as browsers do by themselves.
  std::optional<Message> read_message(double seconds = 10) {
    const auto limit = after(seconds);
    for (;;) {
      std::optional<Message> message = read_frame(limit);
      if (!message || message->kind != ping) return message;
      send(web_frame(message->payload, 0x80 | pong));
    }
  }
  /// Whether the server ends the connection within `seconds`.
  bool is_closed_within(double seconds) {
    const auto limit = after(seconds);
    while (std::chrono::steady_clock::now() < limit) {
      const auto message = read_message(std::chrono::duration<double>(limit - std::chrono::steady_clock::now()).count());
      if (!message) return ended_;
      if (message->kind == 8) return true;
    }
    return false;
  }

 private:
  static constexpr int ping = 9, pong = 10;

  std::optional<Message> read_frame(std::chrono::steady_clock::time_point limit) {
    const auto need = [&](std::size_t count) {
      while (buffer_.size() < count)
        if (!receive(limit)) return false;
      return true;
    };
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(buffer_[at]); };
    if (!need(2)) return {};
    std::size_t length = byte(1) & 0x7f, head = 2;
    if (length >= 126) {
      const std::size_t bytes = length == 126 ? 2 : 8;
      if (!need(head + bytes)) return {};
      length = 0;
      for (std::size_t k = 0; k < bytes; ++k) length = length << 8 | byte(head + k);
      head += bytes;
    }
    if (!need(head + length)) return {};
    Message out{byte(0) & 0x0f, buffer_.substr(head, length)};
    buffer_.erase(0, head + length);
    return out;
  }
  static std::chrono::steady_clock::time_point after(double seconds) {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(static_cast<long>(1000 * seconds));
  }
  bool receive(std::chrono::steady_clock::time_point limit) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now()).count();
    pollfd wait{socket_, POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
    char bytes[65536];
    const ssize_t count = ::recv(socket_, bytes, sizeof bytes, 0);
    ended_ = count <= 0;
    if (!ended_) buffer_.append(bytes, static_cast<std::size_t>(count));
    return !ended_;
  }

  int socket_ = -1;
  bool ended_ = false;
  std::string buffer_;
};

/// What a browser asks for the socket with. Replace parts to be somebody else.
struct Handshake {
  std::string target = "/stream", host, origin, protocol = "rotule.1", version = "13", connection = "Upgrade";
  explicit Handshake(int port, const std::string& address = "127.0.0.1")
      : host(address + ":" + std::to_string(port)), origin("http://" + host) {}
  [[nodiscard]] std::string text() const {
    return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\nUpgrade: websocket\r\nConnection: " + connection +
           "\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: " + version +
           (origin.empty() ? "" : "\r\nOrigin: " + origin) + (protocol.empty() ? "" : "\r\nSec-WebSocket-Protocol: " + protocol) +
           "\r\n\r\n";
  }
};

}  // namespace rotule::testing
