// The viewer's server under attack, over real sockets: ten thousand hostile messages close the sockets that they come by, and
// nothing else happens. The simulation ends in the very state in which it would have been without them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rotule/world.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>

#include "model/dial.h"
#include "scenes/builders.h"
#include "support/files.h"
#include "support/web_client.h"

namespace rotule {
namespace {

using testing::Handshake;
using testing::web_frame;
using testing::WebClient;

/// `rotule view` in a process of its own.
class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    words.insert(words.begin(), {ROTULE_PROGRAM, "view"});
    id_ = ::fork();
    if (id_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    ::close(ends[1]);
    output_ = ends[0];
    while (text_.find("Ctrl-C") == text_.npos && read_more()) {
    }
  }
  ~Program() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      ::waitpid(id_, nullptr, 0);
    }
    ::close(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool has_no_page() const { return text_.find("without the viewer's page") != text_.npos; }
  [[nodiscard]] int port() const {
    const auto slashes = text_.find("http://");
    return slashes == text_.npos ? 0 : std::atoi(text_.c_str() + text_.find(':', slashes + 7) + 1);
  }
  /// Interrupts it, and returns its exit status; what it said is then all in `text`.
  int interrupt() {
    ::kill(id_, SIGINT);
    return wait();
  }
  int wait() {
    while (read_more()) {
    }
    int status = 0;
    ::waitpid(std::exchange(id_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  bool read_more() {
    char bytes[4096];
    const ssize_t count = ::read(output_, bytes, sizeof bytes);
    if (count > 0) text_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }
  pid_t id_ = -1;
  int output_ = -1;
  std::string text_;
};

WebClient viewer(int port) {
  WebClient client(port);
  client.send(Handshake(port).text());
  EXPECT_TRUE(client.read_until("\r\n\r\n").starts_with("HTTP/1.1 101")) << "a browser's own handshake";
  return client;
}

const std::string ball = R"({"do":"throw","from":[0,0,1],"velocity":[0,0,-5],"radius":0.5,"mass":50})";

/// Messages that close the socket.
std::vector<std::string> malformed() {
  std::vector<std::string> out;
  for (const char* text : {"",
                           "{",
                           "play",
                           "[]",
                           "{}",
                           R"({"do":"explode"})",
                           R"({"do":5})",
                           R"({"do":"play","why":1})",
                           R"({"do":"step","count":-1})",
                           R"({"do":"step","count":1e9})",
                           R"({"do":"speed","factor":"fast"})",
                           R"({"do":"seek","time":1e999})",
                           R"({"do":"throw","from":[0,0],"velocity":[0,0,0]})",
                           R"({"do":"throw","from":[0,0,1],"velocity":[0,0,null],"mass":50})",
                           R"({"do":"throw","from":[0,0,1],"velocity":[0,0,-5],"mass":-50})",
                           R"({"do":"drag","body":0.5,"at":[0,0,0],"to":[9,9,9]})",
                           R"({"do":"drag","body":0,"at":[0,0,0],"to":"up"})",
                           R"({"do":"recipe","changes":{"dt":{}}})",
                           R"({"do":"recipe"})",
                           R"({"do":"open","scene":["mannequin"]})",
                           R"({"do":"show","parts":"all"})",
                           R"({"do":"pick","body":-7})"})
    out.push_back(web_frame(text));
  out.push_back(web_frame(std::string(3000, '[')));
  out.push_back(web_frame("{\"do\":\"open\",\"scene\":\"" + std::string(5000, 'x') + "\"}"));
  out.push_back(web_frame(ball + std::string(70 << 10, ' ')));                      // larger than any message may be
  out.push_back(web_frame("\xff\xfe\xfd"));                                         // not UTF-8
  out.push_back(web_frame(ball, 0x82));                                             // binary
  out.push_back(web_frame(ball, 0xf1));                                             // reserved bits
  out.push_back(web_frame(ball, 0x83));                                             // an unknown opcode
  out.push_back(web_frame(ball, 0x80));                                             // goes on with nothing
  out.push_back(web_frame(std::string(200, 'x'), 0x89));                            // a ping that is too long
  out.push_back("\x81\x05" + std::string("hello"));                                 // not masked
  out.push_back("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff" + std::string("abcd"));  // of nine exabytes
  return out;
}

/// Messages that are well formed and refused, with an error for their sender alone.
const std::vector<std::string> refused_messages{R"({"do":"drag","body":99999,"at":[0,0,0],"to":[9,9,9]})",
                                                R"({"do":"drag","body":0,"at":[0,0,0],"to":[9,9,9]})",  // the floor
                                                R"({"do":"open","scene":"/etc/passwd"})",
                                                R"({"do":"open","scene":"../scenes/mannequin.json"})",
                                                R"({"do":"recipe","changes":{"dt":-1}})",
                                                R"({"do":"recipe","changes":{"nothing.such":1}})",
                                                R"({"do":"recipe","changes":{"integrator":"rk4"}})",  // knows no contacts
                                                R"({"do":"pick","body":4000000})"};

/// Handshakes that must not become viewers; each is followed at once by a message that would change the run.
std::vector<std::string> strangers(int port) {
  std::vector<std::string> out;
  const auto add = [&](auto&& change) {
    Handshake h(port);
    change(h);
    out.push_back(h.text() + web_frame(ball));
  };
  add([](Handshake& h) { h.origin = "http://evil.example"; });
  add([](Handshake& h) { h.origin = "null"; });
  add([](Handshake& h) { h.origin = ""; });
  add([](Handshake& h) { h.origin = "https://" + h.host; });
  add([](Handshake& h) { h.origin += ".evil.example"; });
  add([](Handshake& h) { h.host = "evil.example:80"; });
  add([](Handshake& h) { h.host = h.origin = "evil.example"; });
  add([](Handshake& h) { h.host = ""; });
  add([](Handshake& h) { h.protocol = ""; });
  add([](Handshake& h) { h.protocol = "rotule.99"; });
  add([](Handshake& h) { h.version = "12"; });
  add([](Handshake& h) { h.connection = "close"; });
  add([](Handshake& h) { h.target = "/"; });
  add([](Handshake& h) { h.target = "/../../etc/passwd"; });
  add([](Handshake& h) { h.target = "/stream/" + std::string(2000, 'a'); });
  out.push_back("POST / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nContent-Length: 999999999\r\n\r\n" + ball);
  out.push_back("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(100000, 'a') + "\r\n\r\n");
  out.push_back(std::string(1000, '\0'));
  out.push_back("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03");  // TLS
  return out;
}

/// Whether the program's farewell names the state that the scene has after as many steps by itself.
bool ended_as_alone(const std::string& farewell) {
  long steps = 0;
  unsigned long long hash = 0;
  const auto at = farewell.rfind("step ");
  if (at == farewell.npos || std::sscanf(farewell.c_str() + at, "step %ld, %*f s, state hash %llx", &steps, &hash) != 2) {
    ADD_FAILURE() << farewell;
    return false;
  }
  EXPECT_GT(steps, 0);
  const Scene scene = *scenes::build("bouncing_ball");
  World alone(scene, recipe_for(scene, Dial::realtime));  // as the viewer runs what touches
  for (long k = 0; k < steps; ++k) alone.step();
  return alone.state_hash() == hash;
}

/// s, of the scene (docs/viewer_stream.md).
double time_of_frame(const std::string& frame) {
  double time = 0;
  if (frame.size() >= 16) std::memcpy(&time, frame.data() + 8, sizeof time);
  return time;
}

TEST(ViewServer, TenThousandHostileMessagesChangeNothing) {
  Program program({"bouncing_ball", "--no-open", "--port", "0"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer's page";
  const int port = program.port();
  ASSERT_GT(port, 0) << program.text();
  WebClient witness = viewer(port);  // the simulation runs while somebody watches
  while (const auto message = witness.read_message())
    if (message->kind == 2) break;
  const WebClient sleeper = viewer(port);  // never reads
  std::mt19937 random(1);
  int sent = 0, closed = 0, expected = 0;

  // Those who get in and then misbehave: a burst, the last of which is malformed for certain.
  const std::vector<std::string> bad = malformed();
  const std::vector<std::string> harmless{R"({"do":"key"})", R"({"do":"pick","body":1})",
                                          R"({"do":"show","parts":["contacts"]})"};
  for (int k = 0; sent < 8500; ++k) {
    WebClient client = viewer(port);
    std::string burst;
    const auto add = [&](const std::string& frame) {
      burst += frame;
      ++sent;
    };
    for (int n = 0; n < 6; ++n) {
      if (n % 2 == 0) {
        add(web_frame(refused_messages[random() % refused_messages.size()]));
      } else {  // a harmless message with some of its letters exchanged
        std::string text = harmless[random() % harmless.size()];
        for (auto m = random() % 3; m > 0; --m) text[random() % text.size()] = static_cast<char>(random() % 96 + 32);
        add(web_frame(text));
      }
    }
    add(bad[static_cast<std::size_t>(k) % bad.size()]);
    add(web_frame(ball));  // too late: the socket is closed already
    client.send(burst);
    ++expected;
    closed += client.is_closed_within(20);
  }
  EXPECT_EQ(closed, expected) << "a malformed message closes its socket";

  // Those who must not get in at all, and handshakes that break off.
  const std::vector<std::string> outside = strangers(port);
  for (int k = 0; k < 1500; ++k, ++sent) {
    WebClient client(port);
    ASSERT_TRUE(client.connected());
    std::string text = outside[static_cast<std::size_t>(k) % outside.size()];
    const bool whole = k % 3 != 0;
    if (!whole) text = Handshake(port).text().substr(0, random() % 150);
    client.send(text);
    if (whole && text.starts_with("GET") && text.size() < 4000) {
      EXPECT_FALSE(client.read_until("\r\n").starts_with("HTTP/1.1 101")) << text;
    }
  }
  EXPECT_GE(sent, 10000);

  // The witness is still served, and sees the ball move.
  witness.send(web_frame(R"({"do":"key"})"));
  bool moved = false;
  for (int n = 0; n < 5000 && !moved; ++n) {
    const auto message = witness.read_message(60);
    ASSERT_TRUE(message) << "the witness's socket is open";
    ASSERT_NE(message->kind, 8);
    moved = message->kind == 2 && time_of_frame(message->payload) > 0;
  }
  EXPECT_TRUE(moved);

  ASSERT_EQ(program.interrupt(), 0) << program.text();
  EXPECT_TRUE(ended_as_alone(program.text()));
}

// The same ball from somebody who may throw it does change the run: the test above can fail.
TEST(ViewServer, AFriendlyViewersBallIsThrown) {
  Program program({"bouncing_ball", "--no-open", "--port", "0"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer's page";
  WebClient client = viewer(program.port());
  client.send(web_frame(ball));
  bool thrown = false, moving = false;
  for (int n = 0; n < 1000 && !moving; ++n) {
    const auto message = client.read_message();
    ASSERT_TRUE(message);
    thrown = thrown || (message->kind == 1 && message->payload.find("\"ball_1\"") != std::string::npos);
    moving = thrown && message->kind == 2 && message->payload[16] != 0;  // its step
  }
  EXPECT_TRUE(thrown);
  // Until it has moved: at the first step the ball is only there.
  for (bool moved = false; !moved;) {
    const auto message = client.read_message();
    ASSERT_TRUE(message);
    moved = message->kind == 2 && message->payload.size() > 20 && message->payload[16] != 0;
  }
  ASSERT_EQ(program.interrupt(), 0);
  EXPECT_FALSE(ended_as_alone(program.text()));
}

TEST(ViewServer, AnotherAddressAsksForItsToken) {
  Program program({"pendulum", "--no-open", "--port", "0", "--host", "127.0.0.2"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer's page";
  const int port = program.port();
  const auto at = program.text().find("?token=");
  ASSERT_NE(at, std::string::npos) << program.text();
  const std::string token = program.text().substr(at + 7, 32);
  const auto answer = [&](const std::string& target) {
    WebClient client(port, "127.0.0.2");
    Handshake h(port, "127.0.0.2");
    h.target = target;
    client.send(h.text());
    return client.read_until("\r\n");
  };
  EXPECT_TRUE(answer("/stream?token=" + token).starts_with("HTTP/1.1 101"));
  std::mt19937 random(2);
  for (int k = 0; k < 200; ++k) {
    std::string wrong = token;
    wrong[random() % wrong.size()] ^= 1;
    if (k % 4 == 0) wrong.pop_back();
    EXPECT_TRUE(answer("/stream?token=" + wrong).starts_with("HTTP/1.1 403"));
  }
  EXPECT_TRUE(answer("/stream").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(answer("/").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(answer("/?token=" + token).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(program.interrupt(), 0);
}

TEST(ViewServer, AnswersAreInTheCodingThatWasAskedFor) {
  const Program program({"bouncing_ball", "--port", "0", "--no-open"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer";
  const auto answer = [&](const std::string& accepted) {
    WebClient client(program.port());
    client.send("GET / HTTP/1.1\r\nConnection: close\r\nHost: localhost:" + std::to_string(program.port()) + accepted +
                "\r\n\r\n");
    const std::string head = client.read_until("\r\n\r\n");
    return std::pair(head, client.read_until("\xff\xff\xff never", 5));
  };
  for (const char* accepted : {"\r\nAccept-Encoding: gzip, deflate, br", "\r\nAccept-Encoding: br;q=1, *;q=0.5"}) {
    const auto [head, body] = answer(accepted);
    EXPECT_NE(head.find("Content-Encoding: gzip"), head.npos) << accepted;
    EXPECT_TRUE(body.starts_with("\x1f\x8b")) << accepted;
  }
  for (const char* accepted : {"", "\r\nAccept-Encoding: identity", "\r\nAccept-Encoding: gzip;q=0, deflate"}) {
    const auto [head, body] = answer(accepted);
    EXPECT_EQ(head.find("Content-Encoding"), head.npos) << accepted;
    EXPECT_NE(body.find("<!doctype html>"), body.npos) << accepted << body.substr(0, 100);
    EXPECT_NE(body.find("</html>"), body.npos) << accepted;
    EXPECT_NE(head.find("Content-Length: " + std::to_string(body.size())), head.npos) << accepted << head;
  }
}

// s; who is kept out by others waits 20 and more. On an idle machine it takes a few hundredths of one; asked are 2.
constexpr double locked_out = 15;

/// From the first knock on, until a frame has come; who is turned away while all places are taken knocks again, as the page does.
double seconds_to_first_picture(int port) {
  const auto begun = std::chrono::steady_clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  while (passed() < locked_out) {
    WebClient honest(port);
    honest.send(Handshake(port).text());
    if (honest.read_until("\r\n\r\n").starts_with("HTTP/1.1 101"))
      while (const auto message = honest.read_message(locked_out))
        if (message->kind == 2) return passed();
    ::usleep(50000);
  }
  return passed();
}

TEST(ViewServer, ThoseWhoDawdleKeepNobodyOut) {
  const Program program({"bouncing_ball", "--port", "0", "--no-open"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer";
  std::vector<WebClient> dawdlers;
  for (int k = 0; k < 300; ++k) {
    dawdlers.emplace_back(program.port());
    if (k % 2 == 0) dawdlers.back().send("GET / HTTP/1.1\r\nHost: loc");
  }
  EXPECT_LT(seconds_to_first_picture(program.port()), locked_out);
}

// What they are sent is buffered by the system, for long in a scene as small as this one: only an answer shows that somebody
// listens. However many there are, and whatever they say.
TEST(ViewServer, ThoseWhoNeverReadKeepNobodyOut) {
  const Program program({"bouncing_ball", "--port", "0", "--no-open"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer";
  std::vector<WebClient> deaf;
  for (const int more : {60, 300}) {
    for (int k = 0; k < more; ++k) {
      deaf.emplace_back(program.port());
      deaf.back().send(Handshake(program.port()).text() + (k % 2 == 0 ? web_frame(R"({"do":"key"})") : ""));
    }
    EXPECT_LT(seconds_to_first_picture(program.port()), 0.3 * locked_out);
  }
}

// Sixteen that have listened once and then no more are those that a new one takes a place from.
TEST(ViewServer, ThoseWhoStopReadingGiveTheirPlaceAway) {
  const Program program({"bouncing_ball", "--port", "0", "--no-open"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer";
  std::vector<WebClient> tired;
  for (int k = 0; k < 16; ++k) {
    tired.push_back(viewer(program.port()));
    while (const auto message = tired.back().read_message())
      if (message->kind == 2) break;
  }
  EXPECT_LT(seconds_to_first_picture(program.port()), 0.5 * locked_out);
}

// A step that would not end is no reason to show nobody what there is.
TEST(ViewServer, ANewViewerIsShownWhatThereIsWhileAStepLasts) {
  const Program program({"brick_wall", "--set", "solver=pgs", "--set", "solver.tolerance=1e-300", "--set",
                         "solver.max_iterations=1000000000", "--set", "budget_seconds=0", "--port", "0", "--no-open"});
  if (program.has_no_page()) GTEST_SKIP() << "built without the viewer";
  WebClient first = viewer(program.port());
  while (const auto message = first.read_message())
    if (message->kind == 2) break;
  ::usleep(500000);  // by now it is in its first step
  EXPECT_LT(seconds_to_first_picture(program.port()), 0.3 * locked_out);
}

TEST(ViewServer, APortInUseIsToldInOneLine) {
  Program first({"pendulum", "--no-open", "--port", "0"});
  if (first.has_no_page()) GTEST_SKIP() << "built without the viewer's page";
  const std::string port = std::to_string(first.port());
  Program second({"pendulum", "--no-open", "--port", port});
  EXPECT_EQ(second.wait(), 2);
  EXPECT_EQ(second.text(), "rotule: port " + port + " is in use; choose another by --port, or 0 for any that is free\n");
  EXPECT_EQ(first.interrupt(), 0);
}

TEST(Film, WhatIsMissingOrWrongIsToldInOneLine) {
  const testing::Folder folder("film_test");
  const auto said = [&](const std::string& arguments, const std::string& before) {
    const std::string err = (folder.path / "err").string();
    const int status =
        std::system((before + " '" ROTULE_PROGRAM "' film pendulum " + arguments + " >/dev/null 2>'" + err + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2) << arguments;
    char text[1000] = {};
    FILE* file = std::fopen(err.c_str(), "r");
    [[maybe_unused]] const auto count = std::fread(text, 1, sizeof text - 1, file);
    std::fclose(file);
    std::filesystem::remove(err);
    EXPECT_EQ(folder.files(), 0) << arguments << " left something behind";
    return std::string(text);
  };
  const std::string out = "--out '" + (folder.path / "film.mp4").string() + "'";
  const std::string first = said(out, "PATH=/nowhere");
  if (first.find("without the viewer's page") != first.npos) GTEST_SKIP() << "built without the viewer's page";
  EXPECT_EQ(first, "rotule: chromium is missing, which draws the pictures (Debian: apt-get install chromium)\n");
  EXPECT_NE(said(out + " --size 1920", "").find("--size \"1920\": must be WIDTHxHEIGHT"), std::string::npos);
  EXPECT_NE(said(out + " --size 641x480", "").find("must be even"), std::string::npos);
  EXPECT_NE(said(out + " --camera 1,2,3", "").find("must be six numbers"), std::string::npos);
  EXPECT_NE(said(out + " --at 1", "").find("is one picture"), std::string::npos);
  EXPECT_NE(said("--out film.avi", "").find("must end in .mp4"), std::string::npos);
}

}  // namespace
}  // namespace rotule
