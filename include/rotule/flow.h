#pragma once
// Moving fluid that a scene gives (C6): velocities u(x, t) of air or water as functions of place and time, which bodies do not
// change; and the fluid that it computes, which they do. A scene may have several, each with a name; what forces feel is the sum
// of those they name, or of all.
#include <rotule/formula.h>
#include <rotule/types.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rotule {

/// The same everywhere: u = velocity(t).
struct UniformFlow {
  std::string name = {};
  Formula3 velocity = {};  // m/s
};

/// Wind over ground by the power law, u = speed (z / reference_height)^exponent along `direction`, with z the height above
/// `ground`. Below a hundredth of the reference height it falls linearly to zero, so that its slope stays finite.
struct PowerLawFlow {
  std::string name = {};
  Vec3 direction{1, 0, 0};
  double speed = 0;              // m/s, at the reference height
  double reference_height = 10;  // m
  double exponent = 0.14;
  Vec3 up{0, 0, 1};
  double ground = 0;  // m, along `up`
};

/// Wind over ground by the logarithmic law, u = speed ln(z / roughness) / ln(reference_height / roughness); nothing below
/// z = roughness.
struct LogLawFlow {
  std::string name = {};
  Vec3 direction{1, 0, 0};
  double speed = 0;              // m/s, at the reference height
  double reference_height = 10;  // m
  double roughness = 0.03;       // m
  Vec3 up{0, 0, 1};
  double ground = 0;  // m, along `up`
};

/// A gust of the form "one minus cosine", u = velocity (1 - cos(2 pi s / duration)) / 2 for 0 < s < duration, with
/// s = t - start - n . x / celerity where it travels along n, the direction of its velocity or of `travels`.
struct GustFlow {
  std::string name = {};
  Vec3 velocity{1, 0, 0};  // m/s, at its height
  double start = 0;        // s, at the origin
  double duration = 1;     // s
  double celerity = 0;     // m/s; 0: everywhere at once
  std::optional<Vec3> travels = {};
};

/// Turbulence of von Karman's spectrum, homogeneous and isotropic, frozen and carried along by `mean` (Taylor): so many waves
///   u = sum 2 sqrt(E(k) dk) d cos(k . (x - mean t) + phase),  d . k = 0,
/// of random directions and phases (R. H. Kraichnan, Phys. Fluids 13, 1970), with
///   E(k) = 55 Gamma(5/6) / (9 sqrt(pi) Gamma(1/3)) intensity^2 l (k l)^4 / (1 + (k l)^2)^(17/6),  l = 1.339 length.
/// What two points feel of it is as coherent as the spectrum has it. The mean itself is not part of it: give that beside it.
struct TurbulentFlow {
  std::string name = {};
  Vec3 mean{10, 0, 0};   // m/s, that carries it
  double intensity = 1;  // m/s, standard deviation of each component
  double length = 50;    // m, longitudinal integral length
  int waves = 400;
  int seed = 1;
};

/// A row of vortices that travel: each turns the fluid about its axis by u = circulation r / (2 pi (r^2 + core^2)). The n-th one
/// is at `at` + n `spacing` + velocity t.
struct VortexFlow {
  std::string name = {};
  Vec3 at = Vec3::Zero();
  Vec3 velocity = Vec3::Zero();  // m/s
  Vec3 axis{0, 1, 0};
  double circulation = 1;  // m^2/s
  double core = 0.1;       // m
  int count = 1;
  Vec3 spacing = Vec3::Zero();  // m, from one to the next
  bool alternating = false;     // whether every other one turns the other way
};

/// A water wave of small height (Airy) on water of some depth: the surface stands at level + amplitude cos(k n . x - omega t +
/// phase), omega^2 = g k tanh(k depth), and below it, with z the height above the still level,
///   u = amplitude omega (cosh(k (z + depth)) n cos(...) + sinh(k (z + depth)) up sin(...)) / sinh(k depth).
/// Above the still level it is as on it.
struct WaveFlow {
  std::string name = {};
  Vec3 direction{1, 0, 0};
  double amplitude = 0;              // m
  double period = 5;                 // s
  std::optional<double> depth = {};  // m; default: deep
  double level = 0;                  // m, along `up`
  double phase = 0;                  // rad
  double gravity = 9.81;             // m/s^2
  Vec3 up{0, 0, 1};
};

/// Velocities at the points of a regular grid, at one moment or several.
struct FlowGrid {
  std::array<int, 3> points{1, 1, 1};  // along x, y and z; one: the same all along that axis
  Vec3 origin = Vec3::Zero();          // m, of the first point
  Vec3 spacing = Vec3::Ones();         // m, from point to point
  std::vector<double> times = {0};     // s, ascending; one: the same at all times
  std::vector<Vec3> velocity = {};     // m/s: x runs fastest, then y, z and time
};

/// A field from a file on a grid: cubic between its points and its moments, with slopes by differences of the second order, so
/// that it is continuously differentiable; its error falls with the third power of the spacing.
struct GridFlow {
  std::string name = {};
  std::string file = {};                      // .h5, .vti, .vtk (structured points), or .pvd (.vti files in time)
  std::string array = "velocity";             // of the file
  std::string outside = "refuse";             // what is beyond the grid or its times: refuse, hold (as at its edge), zero
  Vec3 shift = Vec3::Zero();                  // m, by which the file's places are moved
  double start = 0;                           // s, at which the file's time is zero
  std::shared_ptr<const FlowGrid> grid = {};  // what was read (`read_flow`); scene files name the file
};

/// The scene's own fluid (rotule/fluid.h): what is thinner than its cells feels it as it feels any flow, and gives it back what
/// it gets. There is one at most.
struct ComputedFlow {
  std::string name = {};
};

using FlowDef =
    std::variant<UniformFlow, PowerLawFlow, LogLawFlow, GustFlow, TurbulentFlow, VortexFlow, WaveFlow, GridFlow, ComputedFlow>;

/// Reads a field. HDF5: an array of the shape (z, y, x, 3), beside it arrays `origin` and `spacing` of three numbers; of several
/// moments (time, z, y, x, 3) and an array `time`. Image data of VTK, .vti or legacy .vtk: of points or of cells, as text, base64
/// or raw, not compressed; a .pvd lists .vti files by time. Throws Error, one line with the file, where it cannot be read or
/// holds what is not a number.
FlowGrid read_flow(const std::string& path, const std::string& array = "velocity");

}  // namespace rotule
