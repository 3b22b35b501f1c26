#pragma once
// The lists of fields of flows (scene_fields.h says what they are for).
#include <rotule/flow.h>

#include "model/field_lists.h"

namespace rotule {

template <>
struct Kind<UniformFlow> {
  static constexpr std::string_view name = "uniform", summary = "the same everywhere, constant or as expressions of the time t";
};
template <>
struct SceneFields<UniformFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"velocity", "m/s", "numbers or expressions of t"}, s.velocity, Need::required);
  }
};

template <>
struct Kind<PowerLawFlow> {
  static constexpr std::string_view name = "power_law", summary = "wind over ground, by a power of the height";
};
template <>
struct SceneFields<PowerLawFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"direction", "", "where it blows to"}, s.direction, Need::direction);
    visit(Field{"speed", "m/s", "at the reference height", 0, 1e6}, s.speed);
    visit(Field{"reference_height", "m", "above ground", 0, 1e9, true}, s.reference_height);
    visit(Field{"exponent", "", "of the height", 0, 10}, s.exponent);
    visit(Field{"up", "", "away from the ground"}, s.up, Need::direction);
    visit(Field{"ground", "m", "its height along up"}, s.ground);
  }
};

template <>
struct Kind<LogLawFlow> {
  static constexpr std::string_view name = "log_law", summary = "wind over ground, by the logarithm of the height";
};
template <>
struct SceneFields<LogLawFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"direction", "", "where it blows to"}, s.direction, Need::direction);
    visit(Field{"speed", "m/s", "at the reference height", 0, 1e6}, s.speed);
    visit(Field{"reference_height", "m", "above ground; above the roughness", 0, 1e9, true}, s.reference_height);
    visit(Field{"roughness", "m", "height below which there is no wind", 0, 1e6, true}, s.roughness);
    visit(Field{"up", "", "away from the ground"}, s.up, Need::direction);
    visit(Field{"ground", "m", "its height along up"}, s.ground);
  }
};

template <>
struct Kind<GustFlow> {
  static constexpr std::string_view name = "gust", summary = "one minus cosine, everywhere at once or travelling";
};
template <>
struct SceneFields<GustFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"velocity", "m/s", "at its height"}, s.velocity, Need::required);
    visit(Field{"start", "s", "when it begins at the origin"}, s.start);
    visit(Field{"duration", "s", "from beginning to end", 0, 1e9, true}, s.duration);
    visit(Field{"celerity", "m/s", "at which it travels; 0: everywhere at once", 0, 1e9}, s.celerity);
    visit(Field{"travels", "", "where to; else along its velocity"}, s.travels, Need::direction);
  }
};

template <>
struct Kind<TurbulentFlow> {
  static constexpr std::string_view name = "turbulence", summary = "von Karman's spectrum, frozen and carried along; seeded";
};
template <>
struct SceneFields<TurbulentFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"mean", "m/s", "velocity that carries it, which is not part of it"}, s.mean);
    visit(Field{"intensity", "m/s", "standard deviation of each component", 0, 1e6}, s.intensity);
    visit(Field{"length", "m", "longitudinal integral length", 0, 1e9, true}, s.length);
    visit(Field{"waves", "", "how many it is the sum of", 1, 100000}, s.waves);
    visit(Field{"seed", "", "of its random numbers", 0, 2147483647}, s.seed);
  }
};

template <>
struct Kind<VortexFlow> {
  static constexpr std::string_view name = "vortices", summary = "a row of vortices that travel";
};
template <>
struct SceneFields<VortexFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"at", "m", "a point of the first one's axis at the start"}, s.at);
    visit(Field{"velocity", "m/s", "at which they travel"}, s.velocity);
    visit(Field{"axis", "", "about which they turn"}, s.axis, Need::direction);
    visit(Field{"circulation", "m^2/s", "right-handed about the axis"}, s.circulation);
    visit(Field{"core", "m", "radius at which they are fastest", 0, 1e9, true}, s.core);
    visit(Field{"count", "", "how many", 1, 100000}, s.count);
    visit(Field{"spacing", "m", "from one to the next"}, s.spacing);
    visit(Field{"alternating", "", "whether every other one turns the other way"}, s.alternating);
  }
};

template <>
struct Kind<WaveFlow> {
  static constexpr std::string_view name = "waves", summary = "a water wave of small height (Airy)";
};
template <>
struct SceneFields<WaveFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"direction", "", "where it travels"}, s.direction, Need::direction);
    visit(Field{"amplitude", "m", "half its height", 0, 1e6}, s.amplitude);
    visit(Field{"period", "s", "from crest to crest", 0, 1e9, true}, s.period);
    visit(Field{"depth", "m", "of the water; none: deep", 0, 1e9, true}, s.depth);
    visit(Field{"level", "m", "height of the still surface along up"}, s.level);
    visit(Field{"phase", "rad", "at the origin and the start"}, s.phase);
    visit(Field{"gravity", "m/s^2", "by which it runs", 0, 1e6, true}, s.gravity);
    visit(Field{"up", "", "out of the water"}, s.up, Need::direction);
  }
};

template <>
struct Kind<GridFlow> {
  static constexpr std::string_view name = "file", summary = "velocities on a grid, in time, from HDF5 or VTK";
};
template <>
struct SceneFields<GridFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
    visit(Field{"file", "", ".h5, .vti, .vtk or .pvd, seen from the scene's own folder"}, s.file, Need::required);
    visit(Field{"array", "", "of the file, three numbers for each point"}, s.array);
    visit(Field{"outside", "", "of its grid and its times: refuse, hold (as at its edge) or zero"}, s.outside);
    visit(Field{"shift", "m", "by which the file's places are moved", -1e30, 1e30}, s.shift);
    visit(Field{"start", "s", "at which the file's time is zero", -1e30, 1e30}, s.start);
  }
};

template <>
struct Kind<ComputedFlow> {
  static constexpr std::string_view name = "computed",
                                    summary = "the scene's fluid on its grid, which gets back what forces take";
};
template <>
struct SceneFields<ComputedFlow> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what forces call it"}, s.name);
  }
};

}  // namespace rotule
