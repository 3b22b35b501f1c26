// The only file that includes Boost.Beast, which takes its time to compile.
#include "server.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <utility>  // Asio 1.74 takes it for included

#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/zlib.hpp>
#include <cctype>
#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "page.h"

namespace rotule::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
// On the one executor that there is: Asio's usual types, which take any, are a third more to compile. Nor does anybody ask for
// packed messages.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Signals = asio::basic_signal_set<Executor>;
using Timer = asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;
using Stream = beast::basic_stream<tcp, Executor>;
using SocketOfPage = websocket::stream<Stream, false>;
using Failure = beast::error_code;
using Clock = std::chrono::steady_clock;
using Request = http::request<http::empty_body>;
using Response = http::response<http::span_body<const char>>;

constexpr std::size_t most_connections = 64, most_viewers = 16, most_waiting = 256;
/// Messages of one that has not yet shown that it listens.
constexpr std::size_t most_early = 16;
/// A viewer that has not taken what it was sent for so long gives way to a new one where there are too many.
constexpr std::chrono::milliseconds stalled_after{1000};
/// How often viewers are asked whether they still listen: what a system buffers for one that never reads may take it a minute to
/// fill.
constexpr std::chrono::milliseconds ask_every{250};
/// A new viewer that listens waits so long, so often, for a place.
constexpr std::chrono::milliseconds room_interval{50};
constexpr int room_tries = 30;
constexpr std::string_view subprotocol = "rotule.1";

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

std::string_view kind_of_file(std::string_view path) {
  static constexpr std::pair<std::string_view, std::string_view> kinds[] = {{".html", "text/html; charset=utf-8"},
                                                                            {".js", "text/javascript"},
                                                                            {".css", "text/css"},
                                                                            {".svg", "image/svg+xml"},
                                                                            {".webp", "image/webp"},
                                                                            {".png", "image/png"},
                                                                            {".ico", "image/x-icon"},
                                                                            {".json", "application/json"},
                                                                            {".woff2", "font/woff2"},
                                                                            {".wasm", "application/wasm"}};
  for (const auto& [ending, kind] : kinds)
    if (path.ends_with(ending)) return kind;
  return "application/octet-stream";
}

/// The value of a key of the query, as it stands: tokens need no escapes.
std::string_view query_value(std::string_view target, std::string_view key) {
  const auto question = target.find('?');
  if (question == target.npos) return {};
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    if (pair.starts_with(key) && pair.size() > key.size() && pair[key.size()] == '=') return pair.substr(key.size() + 1);
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
  }
  return {};
}

/// Takes as long for a wrong one as for the right one.
bool same_token(std::string_view given, std::string_view wanted) {
  unsigned difference = given.size() != wanted.size();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    difference |= static_cast<unsigned char>(i < given.size() ? given[i] : 0) ^ static_cast<unsigned char>(wanted[i]);
  return difference == 0;
}

/// host:port as browsers write it, which leave out the usual port.
std::string authority(std::string_view host, int port) {
  constexpr int usual_port = 80;
  return port == usual_port ? std::string(host) : fmt::format("{}:{}", host, port);
}
std::string authority(const asio::ip::address& address, int port) {
  return authority(address.is_v6() ? fmt::format("[{}]", address.to_string()) : address.to_string(), port);
}

/// Whether `Accept-Encoding` takes gzip: by name or by *, and not with a weight of 0.
bool takes_gzip(std::string_view accepted) {
  bool any = false;
  while (!accepted.empty()) {
    const std::string_view item = accepted.substr(0, accepted.find(','));
    accepted.remove_prefix(std::min(accepted.size(), item.size() + 1));
    std::string word;  // without spaces
    for (const char c : item)
      if (c != ' ' && c != '\t') word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string coding = word.substr(0, word.find(';'));
    const auto weight = word.find(";q=");
    const bool wanted = weight == word.npos || word.find_first_not_of("0.", weight + 3) != word.npos;
    if (coding == "gzip" || coding == "x-gzip") return wanted;
    if (coding == "*") any = wanted;
  }
  return any;
}

/// What was packed by gzip without optional header fields but a name, as the page's files are.
std::string unpacked(std::span<const std::uint8_t> packed) {
  constexpr std::size_t header = 10, trailer = 8;
  constexpr unsigned has_name = 8;
  if (packed.size() < header + trailer) return {};
  std::size_t begin = header;
  if (packed[3] & has_name)
    begin = static_cast<std::size_t>(std::find(packed.begin() + header, packed.end(), 0) - packed.begin()) + 1;
  std::uint32_t size = 0;  // stands at the end
  for (std::size_t k = 1; k <= 4; ++k) size = size << 8 | packed[packed.size() - k];
  std::string out(size, '\0');
  beast::zlib::inflate_stream inflate;
  beast::zlib::z_params z;
  z.next_in = packed.data() + begin;
  z.avail_in = packed.size() - begin - trailer;
  z.next_out = out.data();
  z.avail_out = out.size();
  Failure failure;
  inflate.write(z, beast::zlib::Flush::sync, failure);
  return out;
}

}  // namespace

/// A connection that is no viewer yet, in the list of those that give way to newer ones where there are too many.
class Guest {
 public:
  explicit Guest(std::list<Guest*>& guests) : guests_(guests), place_(guests.insert(guests.end(), this)) {}
  virtual ~Guest() { forget(); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  virtual void drop() = 0;

 protected:
  /// It has not been idle until now.
  void freshen() {
    if (listed_) guests_.splice(guests_.end(), guests_, place_);
  }
  void forget() {
    if (std::exchange(listed_, false)) guests_.erase(place_);
  }
  [[nodiscard]] bool listed() const { return listed_; }

 private:
  std::list<Guest*>& guests_;
  std::list<Guest*>::iterator place_;
  bool listed_ = true;
};

struct Server::Implementation {
  class Connection;  // requests for files, and for a socket
  class Viewer;

  Implementation(const ServerOptions& o, ServerHandlers h) : options(o), handlers(std::move(h)) {}

  ServerOptions options;
  ServerHandlers handlers;
  int port = 0, signal = 0;
  ViewerId next_viewer = 1;
  std::list<Guest*> guests;  // the one that has waited longest first; outlives `io`, whose end ends connections
  asio::io_context io{1};
  Acceptor acceptor{io};
  Signals signals{io};
  Timer asking{io};
  std::map<ViewerId, std::shared_ptr<Viewer>> viewers;

  void accept();
  /// Asks all viewers, now and from now on, whether they listen.
  void ask();
  /// Whether there is room for one more: else a viewer that takes nothing any more is let go.
  bool make_room();
  template <class Work>
  void for_viewers(ViewerId viewer, Work work);
  [[nodiscard]] bool right_host(const Request& request, const Socket& socket) const;
};

/// One socket of a page. Texts wait in order; of frames only the newest does. It is a guest until it has answered once, as
/// browsers do by themselves, and only then takes a viewer's place: those that never read take nobody's.
class Server::Implementation::Viewer : public Guest, public std::enable_shared_from_this<Viewer> {
 public:
  Viewer(Implementation& server, Socket socket, ViewerId id)
      : Guest(server.guests), server_(server), socket_(std::move(socket)), id_(id) {}

  void start(const Request& request) {
    socket_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    socket_.set_option(websocket::stream_base::decorator([](websocket::response_type& answer) {
      answer.set(http::field::sec_websocket_protocol, beast::string_view(subprotocol.data(), subprotocol.size()));
    }));
    socket_.read_message_max(server_.options.most_inbound);
    socket_.auto_fragment(false);
    socket_.async_accept(request, [self = shared_from_this()](Failure failure) {
      if (failure || !self->listed()) return;
      self->socket_.control_callback([viewer = self.get()](websocket::frame_type kind, beast::string_view) {
        if (kind == websocket::frame_type::pong) viewer->answered();
      });
      self->ask();
      self->read();
    });
  }

  void say(std::shared_ptr<const std::string> text, Say what) {
    if (!open_) return;
    if (what == Say::scene) {  // frames of another scene are of no use any more, and the decoder begins anew
      frame_.reset();
      key_ = true;
    }
    if (what == Say::state || what == Say::body)
      for (auto& [waiting, kind] : texts_)
        if (kind == what && &waiting != writing_) {
          waiting = std::move(text);
          return;
        }
    if (texts_.size() >= most_waiting) return close(websocket::close_code::try_again_later, "too slow");
    texts_.emplace_back(std::move(text), what);
    write();
  }

  void show(std::shared_ptr<const ViewFrame> frame) {
    if (!open_) return;
    frame_ = std::move(frame);
    write();
  }

  void set_parts(unsigned parts) { parts_ = parts; }
  void want_key() { key_ = true; }

  /// Whether it listens: whoever reads what comes answers, a browser does so by itself.
  void ask() {
    if (asked_) return;
    asked_ = Clock::now();
    socket_.async_ping({}, [self = shared_from_this()](Failure) {});
  }

  /// How much longer than it may it has not taken what it was sent, or not answered; at most zero where all is well.
  [[nodiscard]] Clock::duration overdue() const {
    const auto now = Clock::now();
    const auto since = std::min(writing_now_ ? write_began_ : now, asked_.value_or(now));
    return now - since - stalled_after;
  }
  /// Without a word, which it would not take.
  void drop() override {
    leave();
    beast::get_lowest_layer(socket_).close();
  }

  void close(websocket::close_code code, std::string_view reason) {
    if (!open_ && !listed()) return;
    leave();
    const std::string_view shown = reason.substr(0, 100);
    socket_.async_close(websocket::close_reason(code, beast::string_view(shown.data(), shown.size())),
                        [self = shared_from_this()](Failure) {});
  }

 private:
  void answered() {
    asked_.reset();
    if (!open_ && !std::exchange(joining_, true)) join(room_tries);
  }

  /// Becomes a viewer as soon as there is room.
  void join(int tries) {
    if (!listed()) return;
    if (server_.make_room()) {
      forget();
      server_.viewers.emplace(id_, shared_from_this());
      open_ = true;
      if (server_.handlers.joined) server_.handlers.joined(id_);
      for (const std::string& text : std::exchange(early_, {}))
        if (open_) heed([&] { server_.handlers.text(id_, text); });
    } else if (tries == 0) {
      close(websocket::close_code::try_again_later, "too many viewers");
    } else {
      waiting_.expires_after(room_interval);
      waiting_.async_wait([self = shared_from_this(), tries](Failure failure) {
        if (!failure) self->join(tries - 1);
      });
    }
  }

  void leave() {
    forget();
    if (!std::exchange(open_, false)) return;
    server_.viewers.erase(id_);
    if (server_.handlers.left) server_.handlers.left(id_);
  }

  void read() {
    socket_.async_read(inbound_, [self = shared_from_this()](Failure failure, std::size_t) {
      if (failure) return self->leave();
      if (!self->open_ && !self->listed()) return;
      self->heed([&] { self->take(); });
      self->inbound_.consume(self->inbound_.size());
      if (self->open_ || self->listed()) self->read();
    });
  }

  template <class Work>
  void heed(Work work) {
    try {
      work();
    } catch (const std::exception& error) {
      close(websocket::close_code::policy_error, error.what());
    }
  }

  void take() {
    const auto bytes = inbound_.data();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    if (!socket_.got_text()) {
      if (!server_.options.takes_binary) throw Error("message", "must be text");
      server_.handlers.binary(id_, {static_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    } else if (open_) {
      server_.handlers.text(id_, text);
    } else {
      if (early_.size() == most_early) throw Error("too many messages at once");
      early_.emplace_back(text);
    }
  }

  void write() {
    if (writing_now_ || !open_) return;
    write_began_ = Clock::now();
    if (!texts_.empty()) {
      writing_now_ = true;
      writing_ = &texts_.front().first;
      socket_.text(true);
      socket_.async_write(asio::buffer(*texts_.front().first), [self = shared_from_this()](Failure failure, std::size_t) {
        self->writing_now_ = false;
        self->writing_ = nullptr;
        self->texts_.pop_front();
        if (failure) return self->leave();
        self->write();
      });
    } else if (frame_) {
      writing_now_ = true;
      const auto bytes = encoder_.encode(*frame_, parts_, std::exchange(key_, false));
      frame_.reset();
      socket_.binary(true);
      socket_.async_write(asio::buffer(bytes.data(), bytes.size()), [self = shared_from_this()](Failure failure, std::size_t) {
        self->writing_now_ = false;
        if (failure) return self->leave();
        self->write();
      });
    }
  }

  Implementation& server_;
  SocketOfPage socket_;
  ViewerId id_;
  bool open_ = false, joining_ = false, writing_now_ = false, key_ = true;
  Timer waiting_{server_.io};
  std::vector<std::string> early_;  // what it said as a guest
  Clock::time_point write_began_;
  std::optional<Clock::time_point> asked_;  // and no answer yet
  unsigned parts_ = 0;
  beast::flat_buffer inbound_;
  std::deque<std::pair<std::shared_ptr<const std::string>, Say>> texts_;
  const std::shared_ptr<const std::string>* writing_ = nullptr;
  std::shared_ptr<const ViewFrame> frame_;
  ViewEncoder encoder_;
};

class Server::Implementation::Connection : public Guest, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Implementation& server, Socket socket) : Guest(server.guests), server_(server), stream_(std::move(socket)) {}

  void drop() override {
    forget();
    stream_.close();
  }

  void read() {
    freshen();
    parser_.emplace();
    parser_->header_limit(8 << 10);
    parser_->body_limit(0);
    stream_.expires_after(std::chrono::seconds(20));
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](Failure failure, std::size_t) {
      if (!failure) self->answer();
    });
  }

 private:
  void answer() {
    const Request& request = parser_->get();
    const std::string target(view(request.target()));
    std::string_view path(target);
    path = path.substr(0, path.find('?'));
    if (!server_.right_host(request, stream_.socket()))
      return refuse(http::status::forbidden, "this server goes by another name");
    const bool wants_token = path == "/" || path == "/index.html" || path == "/stream";
    if (wants_token && !server_.options.token.empty() && !same_token(query_value(target, "token"), server_.options.token))
      return refuse(http::status::forbidden, "the token is missing or wrong; open the address that the program printed");
    if (path == "/stream") return upgrade(request);
    if (request.method() != http::verb::get && request.method() != http::verb::head)
      return refuse(http::status::method_not_allowed, "only GET is known here");
    if (path == "/") path = "/index.html";
    for (const PageFile& file : page_files())
      if (file.path == path)
        return send_file(file, request.method() == http::verb::head, takes_gzip(view(request[http::field::accept_encoding])));
    refuse(http::status::not_found, "there is no such file");
  }

  void upgrade(const Request& request) {
    if (!websocket::is_upgrade(request)) return refuse(http::status::upgrade_required, "this is a socket");
    const std::string origin(view(request[http::field::origin])), host(view(request[http::field::host]));
    if (origin != "http://" + host) return refuse(http::status::forbidden, "this socket is for the program's own page");
    if (view(request[http::field::sec_websocket_protocol]) != subprotocol)
      return refuse(http::status::bad_request, "the subprotocol must be rotule.1");
    stream_.expires_never();
    forget();
    std::make_shared<Viewer>(server_, stream_.release_socket(), server_.next_viewer++)->start(parser_->get());
  }

  void begin_answer(http::status status) {
    response_ = {};
    response_.result(status);
    response_.version(11);
    response_.set(http::field::server, "rotule");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Referrer-Policy", "no-referrer");
    // The socket is named, for browsers that do not take it for the page's own.
    response_.set(
        "Content-Security-Policy",
        fmt::format("default-src 'self'; connect-src 'self'{}; style-src 'self' 'unsafe-inline'; img-src 'self' data: "
                    "blob:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
                    status == http::status::ok ? fmt::format(" ws://{}", view(parser_->get()[http::field::host])) : ""));
    response_.keep_alive(parser_->get().keep_alive() && status == http::status::ok);
  }

  void send_file(const PageFile& file, bool head_only, bool packed) {
    begin_answer(http::status::ok);
    const std::string_view kind = kind_of_file(file.path);
    response_.set(http::field::content_type, beast::string_view(kind.data(), kind.size()));
    response_.set(http::field::vary, "Accept-Encoding");
    if (packed) response_.set(http::field::content_encoding, "gzip");
    // Names under /assets/ change with what is in them.
    response_.set(http::field::cache_control, file.path.starts_with("/assets/") ? "max-age=31536000, immutable" : "no-cache");
    if (!packed) text_ = unpacked(file.bytes);
    const beast::span<const char> body =
        packed ? beast::span<const char>(reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size())
               : beast::span<const char>(text_.data(), text_.size());
    response_.content_length(body.size());
    if (!head_only) response_.body() = body;
    send(head_only);
  }

  void refuse(http::status status, std::string why) {
    text_ = std::move(why) + "\n";
    begin_answer(status);
    response_.set(http::field::content_type, "text/plain; charset=utf-8");
    response_.body() = {text_.data(), text_.size()};
    response_.prepare_payload();
    send(false);
  }

  void send(bool head_only) {
    const auto sent = [self = shared_from_this()](Failure failure, std::size_t) {
      if (failure) return;
      if (self->response_.keep_alive()) return self->read();
      self->stream_.socket().shutdown(Socket::shutdown_send, failure);
    };
    serializer_.emplace(response_);
    if (head_only)
      http::async_write_header(stream_, *serializer_, sent);
    else
      http::async_write(stream_, *serializer_, sent);
  }

  Implementation& server_;
  Stream stream_;
  beast::flat_buffer buffer_{16 << 10};
  std::optional<http::request_parser<http::empty_body>> parser_;
  Response response_;
  std::optional<http::response_serializer<http::span_body<const char>>> serializer_;
  std::string text_;
};

bool Server::Implementation::right_host(const Request& request, const Socket& socket) const {
  const std::string_view host = view(request[http::field::host]);
  Failure failure;
  const auto local = socket.local_endpoint(failure);
  return host == authority("localhost", port) || host == authority(options.host, port) ||
         (!failure && host == authority(local.address(), port));
}

void Server::Implementation::accept() {
  acceptor.async_accept([this](Failure failure, Socket socket) {
    if (failure == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (!failure) {
      // Who asks is answered at once; who has been asking longest gives way: those that dawdle cannot keep others out.
      if (guests.size() >= most_connections) guests.front()->drop();
      Failure ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      socket.set_option(asio::socket_base::send_buffer_size(256 << 10), ignored);
      std::make_shared<Connection>(*this, std::move(socket))->read();
    }
    accept();
  });
}

void Server::Implementation::ask() {
  for (const auto& [id, each] : viewers) each->ask();
  asking.expires_after(ask_every);
  asking.async_wait([this](Failure failure) {
    if (!failure) ask();
  });
}

bool Server::Implementation::make_room() {
  if (viewers.size() < most_viewers) return true;
  const auto slowest = std::max_element(viewers.begin(), viewers.end(),
                                        [](const auto& a, const auto& b) { return a.second->overdue() < b.second->overdue(); });
  if (slowest->second->overdue() < Clock::duration::zero()) return false;
  std::shared_ptr(slowest->second)->drop();
  return true;
}

template <class Work>
void Server::Implementation::for_viewers(ViewerId viewer, Work work) {
  asio::post(io, [this, viewer, work = std::move(work)] {
    if (viewer != all_viewers) {
      if (const auto found = viewers.find(viewer); found != viewers.end()) work(*std::shared_ptr(found->second));
      return;
    }
    const auto everybody = viewers;  // one that leaves changes the map
    for (const auto& [id, each] : everybody) work(*each);
  });
}

Server::Server(const ServerOptions& options, ServerHandlers handlers)
    : implementation_(std::make_unique<Implementation>(options, std::move(handlers))) {
  Implementation& s = *implementation_;
  Failure failure;
  const auto address = asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, failure);
  if (failure)
    throw Error("--host", fmt::format("\"{}\" is not an address; give one such as 127.0.0.1 or 0.0.0.0", options.host));
  const tcp::endpoint endpoint(address, static_cast<unsigned short>(options.port));
  const auto check = [&](const char* what) {
    if (!failure) return;
    if (failure == asio::error::address_in_use)
      throw Error(fmt::format("port {} is in use; choose another by --port, or 0 for any that is free", options.port));
    throw Error(fmt::format("{}:{}: cannot {}: {}", options.host, options.port, what, failure.message()));
  };
  s.acceptor.open(endpoint.protocol(), failure);
  check("open a socket");
  s.acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  check("set up the socket");
  s.acceptor.bind(endpoint, failure);
  check("listen there");
  s.acceptor.listen(asio::socket_base::max_listen_connections, failure);
  check("listen there");
  s.port = s.acceptor.local_endpoint().port();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) s.signals.add(signal);
  s.signals.async_wait([&s](Failure stopped, int signal) {
    if (stopped) return;
    s.signal = signal;
    s.io.stop();
  });
  s.accept();
  s.ask();
}

Server::~Server() = default;

int Server::port() const { return implementation_->port; }
int Server::signal() const { return implementation_->signal; }

std::string Server::address() const {
  const Implementation& s = *implementation_;
  Failure failure;
  const auto address = asio::ip::make_address(s.options.host, failure);
  const bool anywhere = failure || address.is_unspecified();
  const std::string where = anywhere ? authority("localhost", s.port) : authority(address, s.port);
  return fmt::format("http://{}/{}{}", where, s.options.token.empty() ? "" : "?token=", s.options.token);
}

void Server::run() { implementation_->io.run(); }
void Server::stop() { implementation_->io.stop(); }

void Server::say(ViewerId viewer, std::shared_ptr<const std::string> text, Say what) {
  implementation_->for_viewers(viewer, [text = std::move(text), what](auto& v) { v.say(text, what); });
}
void Server::show(ViewerId viewer, std::shared_ptr<const ViewFrame> frame) {
  implementation_->for_viewers(viewer, [frame = std::move(frame)](auto& v) { v.show(frame); });
}
void Server::set_parts(ViewerId viewer, unsigned parts) {
  implementation_->for_viewers(viewer, [parts](auto& v) { v.set_parts(parts); });
}
void Server::want_key(ViewerId viewer) {
  implementation_->for_viewers(viewer, [](auto& v) { v.want_key(); });
}

std::string random_token() {
  std::random_device system;
  std::string out;
  for (int i = 0; i < 4; ++i) out += fmt::format("{:08x}", static_cast<std::uint32_t>(system()));
  return out;
}

}  // namespace rotule::app
