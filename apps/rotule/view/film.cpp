// rotule film: the viewer's page in a browser without a window draws picture after picture; ffmpeg makes a film of them.
#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "../commands.h"
#include "../progress.h"
#include "../signals.h"
#include "base/text.h"
#include "command.h"
#include "live.h"
#include "page.h"
#include "process.h"
#include "record/beside_file.h"
#include "replay.h"
#include "server.h"
#include "view.h"

namespace rotule::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double most_pictures = 1e6;
constexpr std::size_t most_memory = std::size_t{4} << 30;  // of a live run's frames
constexpr auto patience = std::chrono::seconds(120);       // for one picture

/// A folder for the browser's profile and what the programs say; gone afterwards.
struct Workshop {
  fs::path folder;
  Workshop() {
    std::string name = (fs::temp_directory_path() / "rotule_film_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(name, "cannot be made");
    folder = name;
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  /// The last line that a program said.
  [[nodiscard]] std::string last_words(const char* log) const {
    std::ifstream file(folder / log);
    std::string line, last = "it said nothing";
    while (std::getline(file, line))
      if (line.find_first_not_of(" \r") != line.npos) last = line;
    return one_line(last.substr(0, 200));
  }
};

struct Job {
  std::string kind;  // "mp4", ...
  int width = 0, height = 0;
  double fps = 60;
  bool still = false;
  std::string camera;
};

Job plan(const FilmOptions& options) {
  Job job;
  job.kind = fs::path(options.out).extension().string();
  if (!job.kind.empty()) job.kind.erase(0, 1);
  if (job.kind != "mp4" && job.kind != "gif" && job.kind != "webp" && job.kind != "png")
    throw Error(fmt::format("--out {}: must end in .mp4, .gif, .webp or .png", in_quotes(options.out)));
  const auto x = options.size.find('x');
  const auto width = to_integer(std::string_view(options.size).substr(0, x));
  const auto height = x == options.size.npos ? std::nullopt : to_integer(std::string_view(options.size).substr(x + 1));
  if (!width || !height || *width < 16 || *height < 16 || *width > 8192 || *height > 8192)
    throw Error(fmt::format("--size {}: must be WIDTHxHEIGHT, each from 16 to 8192, such as 1280x720", in_quotes(options.size)));
  job.width = static_cast<int>(*width);
  job.height = static_cast<int>(*height);
  if (job.kind == "mp4" && (job.width % 2 != 0 || job.height % 2 != 0))
    throw Error("--size: width and height of an mp4 must be even");
  job.still = options.at || job.kind == "png";
  if (options.at && job.kind != "png" && job.kind != "webp") throw Error("--at: is one picture; give a .png or .webp");
  job.fps = options.fps.value_or(job.kind == "gif" ? 25 : job.kind == "webp" ? 30 : 60);
  if (!options.camera.empty()) {
    std::istringstream rest(options.camera);
    std::string part;
    int count = 0;
    while (std::getline(rest, part, ',') && to_double(part)) ++count;
    if (count != 6 || !rest.eof()) throw Error("--camera: must be six numbers, x,y,z,tx,ty,tz: where from, and where to");
  }
  for (const char c : options.show)
    if (!(std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ','))
      throw Error("--show: must be words, separated by commas");
  return job;
}

/// What is filmed, and which of its frames are the film's pictures.
struct Footage {
  std::unique_ptr<Live> live;
  std::unique_ptr<Replay> replay;
  std::vector<std::int64_t> frames;
  [[nodiscard]] Show& show() const { return live ? static_cast<Show&>(*live) : *replay; }
};

std::int64_t picture_count(double duration, double fps) {
  const double count = std::floor(duration * fps * (1 + 1e-12)) + 1;
  if (count > most_pictures)
    throw Error(fmt::format("--duration: {:.3g} pictures are too many; take fewer seconds or a lower --fps", count));
  return static_cast<std::int64_t>(count);
}

Footage shoot_recording(const FilmOptions& options, const Job& job) {
  if (!options.settings.empty()) throw Error("--set: a recording has been made already; give a scene");
  Footage out;
  out.replay = std::make_unique<Replay>(options.what, 1);
  const Replay& replay = *out.replay;
  if (job.still) {
    out.frames = {replay.at(options.at.value_or(0))};
    return out;
  }
  const double start = replay.time(0);
  const double length = std::min(options.duration.value_or(infinity), replay.duration() - start);
  for (std::int64_t k = 0; k < picture_count(length, job.fps); ++k)
    out.frames.push_back(replay.at(start + static_cast<double>(k) / job.fps * (1 + 1e-12)));
  return out;
}

/// Simulates first and looks at it afterwards, so that the camera knows where things will go.
Footage shoot_scene(const FilmOptions& options, const Job& job) {
  NamedScene named = find_scene(options.what);
  apply_exactness(named.scene, options.exactness);
  apply_settings(named.scene.recipe, options.settings);
  Footage out;
  try {
    out.live = std::make_unique<Live>(named.name, std::move(named.scene), 1, most_memory);
    Live& live = *out.live;
    const double h = live.world().recipe().dt;
    const double length = job.still ? options.at.value_or(0) : options.duration.value_or(live.duration());
    const std::int64_t pictures = job.still ? 1 : picture_count(length, job.fps);
    ProgressBar bar(std::max<std::int64_t>(1, job.still ? std::llround(length / h) : pictures), !options.quiet,
                    job.still ? "step" : "moment");
    Bounds bounds = bounds_of(live.world());
    for (std::int64_t k = job.still ? 0 : 1; k < pictures; ++k) {
      const double until = job.still ? length : static_cast<double>(k) / job.fps;
      while (live.world().time() + 0.5 * h < until) {
        live.step();
        if (job.still) bar.at(live.world().steps());
      }
      live.capture(~0u);
      const Bounds now = bounds_of(live.world());
      if (job.still) bounds = now;
      bounds.include(now.low);
      bounds.include(now.high);
      if (!job.still) bar.at(k);
    }
    if (live.first() > 0) throw Error("the film does not fit into memory; take fewer seconds or a lower --fps");
    live.set_bounds(bounds);
    for (std::int64_t k = job.still ? live.last() : 0; k <= live.last(); ++k) out.frames.push_back(k);
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  return out;
}

std::vector<std::string> ffmpeg_words(const std::string& ffmpeg, const Job& job, const std::string& out) {
  std::vector<std::string> words{ffmpeg,         "-nostdin",
                                 "-hide_banner", "-loglevel",
                                 "error",        "-y",
                                 "-f",           "image2pipe",
                                 "-c:v",         job.kind == "mp4" || job.kind == "webp" ? "mjpeg" : "png",
                                 "-framerate",   shortest(job.fps),
                                 "-i",           "-"};
  const auto add = [&](std::initializer_list<const char*> more) { words.insert(words.end(), more.begin(), more.end()); };
  if (job.kind == "mp4")
    add({"-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt", "yuv420p", "-movflags", "+faststart"});
  if (job.kind == "gif")
    add({"-filter_complex", "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4", "-loop",
         "0"});
  if (job.kind == "webp" && job.still) add({"-frames:v", "1", "-c:v", "libwebp", "-quality", "80"});
  if (job.kind == "webp" && !job.still) add({"-c:v", "libwebp_anim", "-quality", "70", "-loop", "0"});
  add({"-f", job.kind.c_str()});
  words.push_back(out);
  return words;
}

/// Sends the frames one by one and takes a picture for each.
class Camera {
 public:
  using Take = std::function<void(std::span<const std::uint8_t>)>;
  Camera(Footage& footage, Take take, ProgressBar& bar) : footage_(footage), take_(std::move(take)), bar_(bar) {}

  void set_server(Server& server) { server_ = &server; }
  [[nodiscard]] bool done() const { return taken_ == footage_.frames.size(); }
  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] Clock::time_point last_sign() const { return last_sign_; }

  void joined(ViewerId viewer) {
    if (viewer_ != 0) return stop("a second page came in");
    viewer_ = viewer;
    Show& show = footage_.show();
    server_->say(viewer, show.scene(show.frame(footage_.frames[0])->generation), Say::scene);
  }
  void left(ViewerId viewer) {
    if (viewer == viewer_ && !done()) stop("the page went away");
  }
  void text(ViewerId viewer, std::string_view text) {
    const Command command = parse_command(text);
    const auto* parts = std::get_if<ask::Parts>(&command);
    if (parts == nullptr || viewer != viewer_) return;
    server_->set_parts(viewer, parts->parts);
    if (!begun_) send();
    begun_ = true;
  }
  void picture(ViewerId viewer, std::span<const std::uint8_t> bytes) {
    if (viewer != viewer_ || done()) return;
    std::uint32_t number = 0;
    if (bytes.size() < 5) throw Error("picture", "is empty");
    std::memcpy(&number, bytes.data(), sizeof number);
    if (number != taken_) throw Error("picture", fmt::format("is of frame {}, not of {}", number, taken_));
    try {
      take_(bytes.subspan(4));
    } catch (const Error& error) {
      return stop(error.what());
    }
    ++taken_;
    last_sign_ = Clock::now();
    bar_.at(static_cast<std::int64_t>(taken_));
    if (done())
      server_->stop();
    else
      send();
  }
  void stop(const std::string& why) {
    if (trouble_.empty()) trouble_ = why;
    server_->stop();
  }

 private:
  void send() { server_->show(viewer_, footage_.show().frame(footage_.frames[taken_])); }

  Footage& footage_;
  Take take_;
  ProgressBar& bar_;
  Server* server_ = nullptr;
  ViewerId viewer_ = 0;
  bool begun_ = false;
  std::size_t taken_ = 0;
  std::string trouble_;
  std::atomic<Clock::time_point> last_sign_ = Clock::now();
};

/// Ends the server where the browser is gone or too long about a picture.
class Watch {
 public:
  Watch(Server& server, Camera& camera, Process& browser)
      : thread_([&, this] {
          while (!ended_) {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            gone_ = browser.ended();
            if (gone_ || Clock::now() - camera.last_sign() > patience) return server.stop();
          }
        }) {}
  ~Watch() { end(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  void end() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  std::atomic<bool> ended_ = false, gone_ = false;
  std::thread thread_;
};

void write_file(const std::string& path, std::span<const std::uint8_t> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw Error(path, "cannot be written");
}

}  // namespace

void film(const FilmOptions& options) {
  require_page();
  const Job job = plan(options);
  const std::string chromium = find_program({"chromium", "chromium-browser", "google-chrome"});
  if (chromium.empty()) throw Error("chromium is missing, which draws the pictures (Debian: apt-get install chromium)");
  const bool encodes = job.kind != "png";
  const std::string ffmpeg = encodes ? find_program({"ffmpeg"}) : "";
  if (encodes && ffmpeg.empty()) throw Error("ffmpeg is missing, which makes the film (Debian: apt-get install ffmpeg)");

  const fs::path place = place_for_file(options.out);
  const fs::path beside = place_for_file(fs::path(place).replace_filename(place.filename().string() + ".part").string());
  write_file(beside.string(), {});  // what cannot be written is noticed before an hour's work
  struct Remover {
    const fs::path& file;
    ~Remover() {
      std::error_code ignored;
      fs::remove(file, ignored);
    }
  } const remover{beside};

  Footage footage = is_recording(options.what) ? shoot_recording(options, job) : shoot_scene(options, job);
  const Workshop workshop;
  std::optional<Process> encoder;
  if (encodes) encoder.emplace(ffmpeg_words(ffmpeg, job, beside.string()), (workshop.folder / "ffmpeg.log").string(), true);
  const auto pictures = static_cast<std::int64_t>(footage.frames.size());
  std::optional<ProgressBar> bar(std::in_place, pictures, !options.quiet, "picture");
  Camera camera(
      footage,
      [&](std::span<const std::uint8_t> bytes) {
        if (encoder)
          encoder->write(bytes);
        else
          write_file(beside.string(), bytes);
      },
      *bar);
  Server server({.token = random_token(), .most_inbound = 64 << 20, .takes_binary = true},
                {.joined = [&](ViewerId viewer) { camera.joined(viewer); },
                 .left = [&](ViewerId viewer) { camera.left(viewer); },
                 .text = [&](ViewerId viewer, std::string_view text) { camera.text(viewer, text); },
                 .binary = [&](ViewerId viewer, std::span<const std::uint8_t> bytes) { camera.picture(viewer, bytes); }});
  camera.set_server(server);
  std::string address = fmt::format("{}&film={}x{}", server.address(), job.width, job.height);
  if (job.kind == "mp4" || job.kind == "webp") address += "&format=jpeg";
  if (!options.camera.empty()) address += "&camera=" + options.camera;
  if (!options.show.empty()) address += "&show=" + options.show;
  if (options.dark) address += "&theme=dark";
  Process browser({chromium, "--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
                   // Software drawing without a process in between: several times the pictures per second.
                   "--in-process-gpu", "--disable-gpu-rasterization", "--ignore-gpu-blocklist", "--hide-scrollbars",
                   "--mute-audio", "--no-first-run", "--disable-extensions", "--disable-background-timer-throttling",
                   "--disable-renderer-backgrounding", "--user-data-dir=" + (workshop.folder / "profile").string(),
                   fmt::format("--window-size={},{}", job.width, job.height), address},
                  (workshop.folder / "chromium.log").string(), false);
  {
    Watch watch(server, camera, browser);
    server.run();
    watch.end();
    bar.reset();
    if (!camera.trouble().empty())
      throw Error("film", encoder && encoder->ended() ? "ffmpeg: " + workshop.last_words("ffmpeg.log") : camera.trouble());
    if (!camera.done() && watch.gone()) throw Error("film", "chromium ended: " + workshop.last_words("chromium.log"));
    if (!camera.done() && Clock::now() - camera.last_sign() > patience)
      throw Error("film",
                  fmt::format("chromium drew nothing for {} s: {}", patience.count(), workshop.last_words("chromium.log")));
    if (!camera.done()) {
      receive(server.signal());
      throw Interrupted();
    }
  }
  if (encoder && encoder->finish() != 0) throw Error("film", "ffmpeg: " + workshop.last_words("ffmpeg.log"));
  std::error_code error;
  fs::rename(beside, place, error);
  if (error) throw Error(options.out, "cannot be written: " + error.message());
  if (!options.quiet)
    print(fmt::format("{}: {} {} of {}x{}, {:.3g} MB\n", options.out, pictures, pictures == 1 ? "picture" : "pictures", job.width,
                      job.height, static_cast<double>(fs::file_size(options.out)) / 1e6));
}

}  // namespace rotule::app
