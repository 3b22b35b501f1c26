#pragma once
// The viewer's stream (A13): frames of a motion as short binary messages, little endian; docs/viewer_stream.md has the layout.
// Positions and quaternions become whole numbers of quanta; what is sent is their difference from a prediction,
//   key frame: 0;   first frame after it: last;   later: 2 last - last but one,
// which uniform motion meets exactly and free fall misses by g dt^2. A difference takes one byte where it is below 64 quanta; a
// body without any costs a share of a run. Numbers beyond +-2^28 quanta saturate there, and so do those that are not finite.
#include <rotule/contacts.h>

#include <cstdint>
#include <span>
#include <vector>

#include "record/view_fluid.h"

namespace rotule {

struct ViewQuanta {
  double position = 1e-4;          // m
  double quaternion = 1.0 / 4096;  // of a component
};

/// Sections that not everybody wants to see; bits.
enum ViewParts : unsigned {
  view_contacts = 1,
  view_forces = 2,
  view_velocities = 4,
  view_islands = 8,
  view_loads = 16,
  view_fluid = 32
};

/// One moment, in quanta.
struct ViewFrame {
  std::uint16_t generation = 0;  // of the set of bodies
  double time = 0;               // s
  std::uint32_t step = 0;
  std::vector<std::int32_t> bodies;     // 7 each: position, then quaternion w, x, y, z
  std::vector<std::int32_t> particles;  // 3 each
  std::vector<double> numbers;
  unsigned parts = 0;                  // which of the following are there
  std::vector<float> contacts;         // 10 each: point, normal, force, gap
  std::vector<float> forces;           // 6 per joint: point, force
  std::vector<float> velocities;       // 3 per body
  std::vector<std::uint16_t> islands;  // per body; 0xffff: none
  std::vector<float> loads;            // N, per body: the sizes of all forces of contacts and joints on it, added up
  ViewFluid fluid;                     // a plane of it

  /// From metres: 3 and 4 numbers per body, 3 per particle.
  void set_bodies(std::span<const double> positions, std::span<const double> orientations, const ViewQuanta& quanta);
  void set_particles(std::span<const double> positions, const ViewQuanta& quanta);
  /// The view_most_contacts that press hardest.
  void set_contacts(std::span<const ContactResult> results);
};

inline constexpr std::size_t view_most_contacts = 4096;

/// Turns the frames of one stream into messages. Keeps its memory from frame to frame.
class ViewEncoder {
 public:
  /// A delta to the frame encoded last; a key frame where asked for, for the first one, and where generation or sizes changed.
  /// `parts` of those that the frame has are written. The bytes are valid until the next call.
  std::span<const std::uint8_t> encode(const ViewFrame& frame, unsigned parts, bool key = false);

 private:
  std::vector<std::uint8_t> out_;
  std::vector<std::int32_t> body_last_, body_before_, particle_last_, particle_before_, fluid_last_, fluid_before_;
  std::uint32_t number_ = 0;
  std::uint16_t generation_ = 0;
  int since_key_ = -1;  // frames; -1: there was none
};

/// The other direction, for the memory of a run and for tests.
class ViewDecoder {
 public:
  /// Throws Error where the bytes are no frame, or a delta to another one than that decoded last.
  void decode(std::span<const std::uint8_t> bytes, ViewFrame& frame);
  [[nodiscard]] std::uint32_t number() const { return number_; }

 private:
  std::vector<std::int32_t> body_last_, body_before_, particle_last_, particle_before_, fluid_last_, fluid_before_;
  std::uint32_t number_ = 0;
  int since_key_ = -1;
};

}  // namespace rotule
