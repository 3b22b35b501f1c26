#pragma once
// The commands as plain functions: options/ fills in the options, each command has a file. They print to stdout when all is
// done and throw rotule::Error for whatever is wrong.
#include <rotule/analyse.h>
#include <rotule/robots.h>
#include <rotule/scene.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace rotule::app {

using Json = nlohmann::ordered_json;

/// A scene and what to call it: its own name, else that of its file.
struct NamedScene {
  std::string name;
  std::string origin;  // the file, or the name of the builder: what messages begin with
  Scene scene;
  std::vector<RobotRemark> told = {};  // what the file of a robot says and the scene does not
};

/// SCENE of the command line: a file (of a scene or a robot), or the name of a shipped scene or builder. Its recipe is complete,
/// unless it is wanted as written. Throws Error with the nearest name.
NamedScene find_scene(const std::string& given, bool as_written = false);
/// The names that can be given without a path, in alphabetical order.
std::vector<std::string> scene_names();

/// How exact a run should be, as the command line says it: a setting of the dial, or an accuracy; neither: as the scene says.
struct Exactness {
  std::string dial;
  std::optional<double> accuracy;
  [[nodiscard]] bool given() const { return !dial.empty() || accuracy; }
};
/// The scene with the recipe that fits it.
void apply_exactness(Scene& scene, const Exactness& exactness);

/// KEY=VALUE, each applied to the recipe.
void apply_settings(Recipe& recipe, const std::vector<std::string>& settings);

/// What the doctor has to say beyond notes, before a run, in one line; empty where that is nothing.
std::string in_one_line(const std::vector<Remark>& remarks, const std::string& scene);
/// A remark and what to do about it.
std::string text_of(const Remark& remark);
Json json_of(const Remark& remark);

/// What a second run says of the errors of the first (--estimate-error).
struct ErrorEstimate {
  double position = 0;        // m, the largest of any body or particle, at the end
  double worst_position = 0;  // m, at any step
  double angle = 0;           // rad, the largest turn between both at the end
  double speed = 0;           // m/s
  double energy = 0;          // J
  double order = 1;           // that the method is taken to have
  std::string whose;          // the body or particle that is furthest off at the end
  std::string second;         // how the second run was made
};
/// A second run beside the first, with half the step or a tighter tolerance. Methods of order p have errors that fall by 2^p
/// where the step is halved: what both differ by, times 2^p / (2^p - 1), is the error of the first. Beside the real-time stepper
/// the reference stepper runs.
class ErrorWatch {
 public:
  ErrorWatch(const Scene& scene, const Recipe& recipe);
  ~ErrorWatch();
  /// After each step of the first run: the second one catches up.
  void follow(const World& world);
  [[nodiscard]] ErrorEstimate estimate(const World& world) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

/// All of `text` to stdout, printable (base/printable.h); throws Error where it cannot be written.
void print(const std::string& text);
/// One line on stderr, printable, whatever the message holds.
void complain(const std::string& message);

struct RunOptions {
  std::string scene;
  std::string resume;  // a recording to go on with; of the others steps, duration, threads, problems and output may be given
  std::optional<std::int64_t> steps;
  std::optional<double> duration;
  std::optional<double> dt;
  std::optional<int> threads;
  Exactness exactness;
  std::vector<std::string> settings;
  bool estimate_error = false;
  std::string record, record_problems;
  std::string slice;                // AXIS=COORDINATE of the fluid's plane that is recorded; empty: the middle
  double slice_rate = 30;           // per second, at most
  std::int64_t every = 1;           // of so many steps one is recorded as a problem
  std::optional<int> parareal;      // slices of time
  std::vector<std::string> coarse;  // KEY=VALUE for its coarse runs
  bool until_equilibrium = false;
  bool relax = false;
  std::optional<double> force_tolerance, speed_tolerance, hold;  // N and N m; m/s and rad/s; s
  bool json = false, quiet = false;
};
void run(const RunOptions& options);

struct ListOptions {
  std::string what;  // empty: everything
  bool json = false;
  bool names = false;  // alone, one per line
};
void list(const ListOptions& options);
std::vector<std::string> list_categories();

struct CheckOptions {
  std::string scene;
  Exactness exactness;
  std::vector<std::string> settings;
  bool json = false;
};
void check(const CheckOptions& options);

struct RecipeOptions {
  std::string scene;
  Exactness exactness;
  std::vector<std::string> settings;
  bool json = false;
};
void show_recipe(const RecipeOptions& options);

struct ConvergenceOptions {
  std::string scene;
  std::vector<std::string> integrators;
  std::vector<std::int64_t> steps;
  Exactness exactness;
  std::vector<std::string> settings;
  std::string reference = "fine";  // rk4 at 8 times the finest count, or "invariant": energy alone
  std::string svg;                 // work-precision plots: error against seconds and against evaluations
  bool json = false;
};
void convergence(const ConvergenceOptions& options);

struct StabilityOptions {
  std::string scene;  // empty: the methods themselves
  std::vector<std::string> integrators;
  Exactness exactness;
  std::vector<std::string> settings;
  std::string svg;
  int steps = 2000;  // of every observed run
  bool json = false;
};
void stability(const StabilityOptions& options);

struct IkOptions {
  std::string scene;
  std::vector<std::string> targets, look, turn;  // BODY=TARGET
  std::string center;                            // x,y,z
  std::vector<std::string> hold;
  std::string method = "automatic";
  double tolerance = 1e-12;  // m, rad
  int max_iterations = 500;
  double max_rotation = 2;  // rad
  bool limits = true;
  bool join = false;  // whether points that were brought together stay so
  std::string out;    // the scene in its new pose
  bool json = false;
};
void ik(const IkOptions& options);

struct InverseOptions {
  std::string scene;   // or a recording, with its own scene
  std::string motion;  // recording
  std::vector<std::string> actuators;
  std::string csv, svg, out;
  bool check = false, json = false;
};
void inverse(const InverseOptions& options);

struct CompareOptions {
  std::string scene;
  std::optional<double> dt, duration;
  std::string svg;
  bool json = false;
};
void compare(const CompareOptions& options);

struct ModesOptions {
  std::string scene;
  bool relax = false;
  double at = 0;                 // s
  double every = 0;              // s: along the motion until then, so far apart
  bool contacts = false;         // whether those that press are held
  double contact_stiffness = 0;  // N/m
  double shear_ratio = 0;
  std::string state_space;        // file
  std::vector<std::string> axes;  // its inputs and outputs; none: all
  bool json = false;
};
void modes(const ModesOptions& options);

struct FlutterOptions {
  std::string scene;
  std::string wind;  // 5..60, 5..60:12 or 10,20,40
  std::string flow;  // empty: the only steady one
  int modes = 6;     // that are shown
  std::string svg;
  bool json = false;
};
void flutter(const FlutterOptions& options);

struct ConvertOptions {
  std::string in, out;  // their endings say what they are: .json, .urdf, .xml or .mjcf; written are .json and .urdf
  std::string base = "automatic", meshes = "hulls";
  std::string at;  // x,y,z of a URDF file's root
  std::string keyframe;
  std::vector<std::string> folders;
  bool weld = false, hold = false, self_contacts = false;
  bool for_robots = false;  // whether any of these was given
  bool verbose = false;
};
void convert(const ConvertOptions& options);
/// "12 remarks" in one line, or all of them.
std::string text_of(const std::vector<RobotRemark>& remarks, const std::string& file, bool all);

struct ExportOptions {
  std::string scene;           // or a recording
  std::string out;             // its ending says in which form; empty: the scene on stdout
  std::optional<double> rate;  // pictures per second
  std::int64_t frame = 0;      // of a file of problems
  int island = 0;
};
void export_scene(const ExportOptions& options);

struct FluidOptions {
  std::string file;
  std::string out;  // .png or .svg
  std::string quantity = "vorticity";
  std::optional<double> at;       // s; default: the end
  std::optional<double> largest;  // value of the last colour
};
void fluid_picture(const FluidOptions& options);

/// The plane of the fluid that a recording keeps: AXIS=COORDINATE, or through the middle; none where there is no fluid.
struct RecordedPlane {
  int axis = 1;
  double at = 0;
};
std::optional<RecordedPlane> recorded_plane(const World& world, const std::string& given);

/// What the steps of a run did to the fluid.
class FluidTally {
 public:
  /// After a step that took so many seconds.
  void add(const World& world, double seconds);
  [[nodiscard]] Json result(const World& world) const;
  /// For runs that go on another time.
  [[nodiscard]] Json save() const;
  void load(const Json& saved);

 private:
  std::int64_t substeps_ = 0, iterations_ = 0;
  double seconds_ = 0;
  double residual_ = 0, cfl_ = 0, divergence_ = 0;
  double momentum_left_over_ = 0;  // kg m/s, in a step
  Vec3 left_over_before_ = Vec3::Zero();
};

/// The lines of a run's summary on what that found.
std::string fluid_text(const Json& result);

struct PlotOptions {
  std::string file;
  std::vector<std::string> quantities;  // empty: the usual ones
  std::string svg, html;                // neither, and not `open`: SVG on stdout
  bool open = false;
  bool list = false;  // what there is to plot, and no more
};
void plot(const PlotOptions& options);

struct ReportOptions {
  std::string file;
  std::string out;  // empty: beside the recording, and said on stdout
  bool open = false;
};
void report(const ReportOptions& options);

/// Throws where a command would write over what it reads.
void require_other_file(const std::string& out, const std::string& in);
/// By the desktop's own program; throws Error where there is none.
void show_page(const std::string& path);

struct SolveOptions {
  std::string file;
  std::int64_t frame = 0;
  int island = 0;
  std::vector<std::string> solvers;  // empty: prox_newton
  std::vector<std::string> settings;
  std::vector<double> goals;  // empty: each solver's own
  double limit = 60;          // s, per solver
  std::string write;          // file for the problem with its answer; empty: none
  std::string svg;            // picture of how residuals fall; empty: none
  bool json = false;
};
void solve_recorded(const SolveOptions& options);

struct TournamentOptions {
  std::vector<std::string> files;
  std::vector<std::string> solvers;  // empty: all
  std::vector<std::string> settings;
  std::vector<double> goals;  // empty: 1e-2, 1e-4, 1e-6, 1e-8
  int frames = 5;             // of a file of rotule's own, at most
  double limit = 10;          // s, per solver and problem
  std::string csv, svg, html;
  std::string others;  // a table of contestants that were measured elsewhere
  bool json = false, open = false;
};
/// False where some file was left out: it could not be read, and the others were played all the same.
bool tournament(const TournamentOptions& options);

/// What `tune` and `study` have in common.
struct TuningChoices {
  std::vector<std::string> parameters;  // empty: alpha, kappa
  std::string objective = "error", friction = "box", precision = "double", restarts = "none";
  double error = 1e-4, change = 1e-9;  // D4: e, and |delta x| of a sweep
  double warm = 0;                     // part of the recorded warm start from which solves begin
  double resolution = 1;               // times each parameter's own
  int sweeps = 200, population = 24;
  std::uint64_t seed = 1;
  int threads = 0;
};

struct TuneOptions {
  std::string file;
  TuningChoices choices;
  int frames = 0;  // at most, evenly spread; 0: all
  int every = 1;
  std::string out;  // .csv or .json; empty: no file
  bool json = false, quiet = false;
};
void tune_recording(const TuneOptions& options);

struct StudyOptions {
  std::vector<std::string> scenes;  // empty: D's four
  TuningChoices choices;
  int frames = 600;
  int every = 1;
  std::string out = "study";
  std::vector<std::string> settings;
  bool json = false, quiet = false;
};
void study(const StudyOptions& options);

struct LearnOptions {
  std::vector<std::string> files;
  int sweeps = 30;  // that every candidate makes
  int frames = 20;  // of each recording, at most
  std::string out;  // the learned file; empty: none
  bool json = false;
};
void learn(const LearnOptions& options);

struct WishOptions {
  std::string scene;
  std::optional<double> error;     // relative
  std::optional<double> budget;    // ms of CPU per frame of 1/60 s
  std::optional<double> duration;  // s of the scene that are compared; default: the recipe's, at most 2
  double limit = 60;               // s of CPU for all of it
  std::string out, svg;
  bool json = false;
};
/// 0 where the wish is met, 1 where the nearest is given.
int wish_command(const WishOptions& options);

struct ViewOptions {
  std::string what;  // scene or recording
  std::string host = "127.0.0.1";
  int port = 8765;  // 0: any that is free
  bool open = true;
  std::optional<double> duration;
  Exactness exactness;
  std::vector<std::string> settings;
};
void view(const ViewOptions& options);

struct FilmOptions {
  std::string what;  // scene or recording
  std::string out;   // .mp4, .gif, .webp or .png
  std::string size = "1920x1080";
  std::optional<double> fps;       // default: 60; 25 for .gif and 30 for .webp
  std::optional<double> duration;  // s; default: the recipe's, or the recording's length
  std::optional<double> at;        // s: one picture of this moment
  std::string camera;              // x,y,z,tx,ty,tz; empty: all of the run in view
  std::string show;                // layers to switch on, separated by commas
  bool dark = false, quiet = false;
  Exactness exactness;
  std::vector<std::string> settings;
};
void film(const FilmOptions& options);

/// What an energy change is measured against: all the energy where there is no weight, else the most motion that there was.
double energy_scale(const Vec3& gravity, double initial_energy, double largest_kinetic);

}  // namespace rotule::app
