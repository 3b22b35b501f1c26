// rotule view: a scene in motion, or a recording, in the browser.
#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <cstdlib>

#include "../commands.h"
#include "page.h"
#include "process.h"
#include "session.h"
#include "view.h"

namespace rotule::app {
namespace {

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host == "127.0.0.1"; }

bool has_screen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return ::isatty(STDOUT_FILENO) == 1;
  return false;
}

}  // namespace

void require_page() {
  if (page_files().empty())
    throw Error("this program was built without the viewer's page; install npm (Debian: npm) and build again");
}

void view(const ViewOptions& options) {
  require_page();
  std::unique_ptr<Live> live;
  std::unique_ptr<Replay> recording;
  std::string name;
  if (is_recording(options.what)) {
    if (!options.settings.empty() || options.exactness.given())
      throw Error("--set: a recording has been made already; give a scene");
    recording = std::make_unique<Replay>(options.what, 1);
    name = recording->name();
  } else {
    NamedScene named = find_scene(options.what.empty() ? "mannequin" : options.what);
    apply_exactness(named.scene, options.exactness);
    const bool real_time = !options.exactness.given() && options.settings.empty() && watch_in_real_time(named.scene);
    keep_to_the_clock(named.scene.recipe);
    apply_settings(named.scene.recipe, options.settings);
    name = named.name;
    try {
      live = std::make_unique<Live>(named.name, std::move(named.scene), 1);
      if (options.exactness.given() && options.settings.empty())
        live->note_dial({options.exactness.dial, options.exactness.accuracy});
      if (real_time) live->note_real_time();
    } catch (const Error& error) {
      throw Error(named.origin, error.what());
    }
  }
  Session session(std::move(live), std::move(recording), {.duration = options.duration});
  ServerOptions serving{.host = options.host, .port = options.port};
  if (!is_loopback(options.host)) serving.token = random_token();
  Server server(serving, {.joined = [&](ViewerId viewer) { session.joined(viewer); },
                          .left = [&](ViewerId viewer) { session.left(viewer); },
                          .text = [&](ViewerId viewer, std::string_view text) { session.ask(viewer, parse_command(text)); },
                          .binary = {}});
  print(fmt::format("{}: {}\nCtrl-C ends it.\n", name, server.address()));
  session.start(server);
  if (options.open && has_screen()) open_in_browser(server.address());
  server.run();
  session.end();
  if (const Live* shown = session.live())
    print(fmt::format("\n{}: step {}, {:.6g} s, state hash {:016x}\n", shown->name(), shown->world().steps(),
                      shown->world().time(), shown->world().state_hash()));
}

}  // namespace rotule::app
