#include "record/view_stream.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace rotule {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

constexpr double most_quanta = 1 << 28;
constexpr std::size_t header_size = 20, fluid_header_size = 40;
constexpr std::uint8_t run_mark = 0x80;
enum class Section : std::uint8_t {
  bodies = 1,
  particles,
  contacts,
  forces,
  velocities,
  islands,
  sleeping,
  numbers,
  loads,
  fluid
};

std::int32_t whole(double x) {
  // Rounded by adding what pushes the fraction out of the mantissa: many at once, where a call of lrint is one at a time.
  constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52
  x = x >= -most_quanta ? (x <= most_quanta ? x : most_quanta) : (x < -most_quanta ? -most_quanta : 0.0);
  return static_cast<std::int32_t>(std::bit_cast<std::int64_t>(x + shift));
}

// Where a number is expected to be: weight of the last value, weight of the one before.
struct Prediction {
  std::int32_t last = 0, before = 0;
};
Prediction prediction(int since_key) {
  return since_key <= 0 ? Prediction{} : since_key == 1 ? Prediction{1, 0} : Prediction{2, 1};
}

template <class T>
std::uint8_t* put(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

std::uint8_t* put_varint(std::uint8_t* at, std::uint32_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

std::uint32_t zigzag(std::int32_t x) { return (static_cast<std::uint32_t>(x) << 1) ^ static_cast<std::uint32_t>(x >> 31); }
std::int32_t unzigzag(std::uint32_t x) { return static_cast<std::int32_t>(x >> 1) ^ -static_cast<std::int32_t>(x & 1); }

// Items of N numbers each: a mask of those that differ from the prediction, then the differences.
template <int N>
std::uint8_t* put_items(std::uint8_t* at, std::span<const std::int32_t> values, Prediction p, std::vector<std::int32_t>& last,
                        std::vector<std::int32_t>& before) {
  std::uint32_t run = 0;
  const auto end_run = [&] {
    if (run == 0) return;
    *at++ = run_mark;
    at = put_varint(at, run);
    run = 0;
  };
  const std::int32_t* v = values.data();
  std::int32_t *l = last.data(), *b = before.data();
  for (std::size_t i = 0; i < values.size(); i += N, v += N, l += N, b += N) {
    std::int32_t sign = 1;
    if constexpr (N == 7) {  // of the two quaternions that mean the same, the one nearer to the last
      const std::int32_t dot = v[3] * l[3] + v[4] * l[4] + v[5] * l[5] + v[6] * l[6];
      sign = dot < 0 ? -1 : 1;
    }
    std::uint32_t difference[N], any = 0;
    for (int k = 0; k < N; ++k) {
      const std::int32_t now = k < 3 ? v[k] : sign * v[k];
      difference[k] = zigzag(now - (p.last * l[k] - p.before * b[k]));
      any |= difference[k];
      b[k] = l[k];
      l[k] = now;
    }
    if (any == 0) {
      ++run;
      continue;
    }
    end_run();
    std::uint8_t* const mask = at++;
    unsigned set = 0;
    for (int k = 0; k < N; ++k) {
      if (difference[k] == 0) continue;
      set |= 1u << k;
      at = put_varint(at, difference[k]);
    }
    *mask = static_cast<std::uint8_t>(set);
  }
  end_run();
  return at;
}

/// Planes follow the one before: what flows by is no straight line, so that the last value is the better guess. A first plane,
/// and one of another size, stand for themselves.
std::uint8_t* put_fluid(std::uint8_t* at, const ViewFluid& fluid, bool key, std::vector<std::int32_t>& last,
                        std::vector<std::int32_t>& before) {
  const bool fresh = key || fluid.cells.size() != last.size();
  last.resize(fluid.cells.size());
  before.resize(fluid.cells.size());
  at = put<std::uint8_t>(at, fresh ? 1 : 2);
  for (const std::uint8_t axis : fluid.axes) at = put(at, axis);
  at = put<std::uint8_t>(at, 0);
  at = put(at, fluid.columns);
  at = put(at, fluid.rows);
  for (const float x : fluid.origin) at = put(at, x);
  for (const float x : fluid.spacing) at = put(at, x);
  for (const float x : fluid.scale) at = put(at, x);
  return put_items<4>(at, fluid.cells, prediction(fresh ? 0 : 1), last, before);
}

/// Reads what is there and refuses to read more.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  std::span<const std::uint8_t> take(std::size_t count) {
    if (count > bytes_.size()) throw Error("frame", "is cut short");
    const auto out = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return out;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::uint32_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      const auto byte = take<std::uint8_t>();
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (value > 0xffffffffu) break;
        return static_cast<std::uint32_t>(value);
      }
    }
    throw Error("frame", "holds a number that does not fit");
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

template <int N>
void take_items(Bytes in, bool key, Prediction p, std::vector<std::int32_t>& last, std::vector<std::int32_t>& before,
                std::vector<std::int32_t>& out) {
  if (key) {
    last.clear();
    before.clear();
  }
  out.clear();
  const auto predicted = [&](std::size_t at) {
    const auto value = [at](const std::vector<std::int32_t>& v) {
      return at < v.size() ? static_cast<std::uint32_t>(v[at]) : 0u;
    };
    return static_cast<std::uint32_t>(p.last) * value(last) - static_cast<std::uint32_t>(p.before) * value(before);
  };
  while (!in.empty()) {
    const auto mask = in.take<std::uint8_t>();
    if (mask == run_mark) {
      const std::uint32_t run = in.varint();
      if (run == 0 || (!key && run > (last.size() - std::min(last.size(), out.size())) / N) || run > (1u << 26))
        throw Error("frame", "holds a run that does not fit");
      for (std::uint32_t i = 0; i < run * N; ++i) out.push_back(static_cast<std::int32_t>(predicted(out.size())));
      continue;
    }
    if (mask == 0 || mask >> N) throw Error("frame", "holds a mask that says nothing");
    for (int k = 0; k < N; ++k) {
      const auto difference = mask >> k & 1 ? static_cast<std::uint32_t>(unzigzag(in.varint())) : 0u;
      out.push_back(static_cast<std::int32_t>(predicted(out.size()) + difference));
    }
  }
  if (!key && out.size() != last.size()) throw Error("frame", "is of another size than the one before");
  before = last;
  last = out;
}

template <class T>
void take_array(Bytes in, std::vector<T>& out) {
  if (in.size() % sizeof(T) != 0) throw Error("frame", "holds an array that is cut short");
  out.resize(in.size() / sizeof(T));
  const auto bytes = in.take(in.size());
  if (!bytes.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
}

void take_fluid(Bytes in, ViewFluid& fluid, std::vector<std::int32_t>& last, std::vector<std::int32_t>& before) {
  const auto kind = in.take<std::uint8_t>();
  if (kind != 1 && kind != 2) throw Error("frame", fmt::format("holds a fluid of unknown kind {}", kind));
  for (std::uint8_t& axis : fluid.axes) axis = in.take<std::uint8_t>();
  in.take<std::uint8_t>();
  fluid.columns = in.take<std::uint16_t>();
  fluid.rows = in.take<std::uint16_t>();
  for (float& x : fluid.origin) x = in.take<float>();
  for (float& x : fluid.spacing) x = in.take<float>();
  for (float& x : fluid.scale) x = in.take<float>();
  take_items<4>(in, kind == 1, prediction(kind == 1 ? 0 : 1), last, before, fluid.cells);
  if (fluid.cells.size() != std::size_t{4} * fluid.columns * fluid.rows) throw Error("frame", "miscounts the cells of its fluid");
}

}  // namespace

void ViewFrame::set_bodies(std::span<const double> positions, std::span<const double> orientations, const ViewQuanta& quanta) {
  const std::size_t count = positions.size() / 3;
  bodies.resize(7 * count);
  const double per_metre = 1 / quanta.position, per_one = 1 / quanta.quaternion;
  for (std::size_t i = 0; i < count; ++i) {
    std::int32_t* out = bodies.data() + 7 * i;
    for (std::size_t k = 0; k < 3; ++k) out[k] = whole(per_metre * positions[3 * i + k]);
    for (std::size_t k = 0; k < 4; ++k) out[3 + k] = whole(per_one * std::clamp(orientations[4 * i + k], -1.0, 1.0));
  }
}

void ViewFrame::set_particles(std::span<const double> positions, const ViewQuanta& quanta) {
  const double per_metre = 1 / quanta.position;
  particles.resize(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) particles[i] = whole(per_metre * positions[i]);
}

void ViewFrame::set_contacts(std::span<const ContactResult> results) {
  std::vector<std::size_t> order(results.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > view_most_contacts) {
    std::partial_sort(order.begin(), order.begin() + view_most_contacts, order.end(), [&](std::size_t a, std::size_t b) {
      return results[a].force.squaredNorm() > results[b].force.squaredNorm();
    });
    order.resize(view_most_contacts);
  }
  contacts.clear();
  for (const std::size_t k : order) {
    const ContactResult& c = results[k];
    for (const Vec3& part : {c.point, c.normal, c.force})
      for (const double x : part) contacts.push_back(static_cast<float>(x));
    contacts.push_back(static_cast<float>(c.gap));
  }
}

std::span<const std::uint8_t> ViewEncoder::encode(const ViewFrame& frame, unsigned parts, bool key) {
  key = key || since_key_ < 0 || frame.generation != generation_ || frame.bodies.size() != body_last_.size() ||
        frame.particles.size() != particle_last_.size();
  generation_ = frame.generation;
  since_key_ = key ? 0 : std::min(since_key_ + 1, 2);
  for (auto* v : {&body_last_, &body_before_}) v->resize(frame.bodies.size());
  for (auto* v : {&particle_last_, &particle_before_}) v->resize(frame.particles.size());
  parts &= frame.parts;

  // The most that this frame can take: a mask and numbers of five bytes for each item.
  const std::size_t bound = header_size + 9 * 5 + 16 + 36 * (frame.bodies.size() / 7 + 1) +
                            16 * (frame.particles.size() / 3 + 1) + 8 * frame.numbers.size() +
                            4 * (frame.contacts.size() + frame.forces.size() + frame.velocities.size() + frame.loads.size()) +
                            2 * frame.islands.size() + fluid_header_size + 5 + 9 * (frame.fluid.cells.size() / 4 + 1);
  if (out_.size() < bound) out_.resize(bound);
  std::uint8_t* at = out_.data();
  at = put<std::uint8_t>(at, key ? 1 : 2);
  at = put<std::uint8_t>(at, 0);
  at = put(at, frame.generation);
  at = put(at, number_++);
  at = put(at, frame.time);
  at = put(at, frame.step);

  const auto section = [&](Section id, auto&& write) {
    at = put(at, static_cast<std::uint8_t>(id));
    std::uint8_t* const length = at;
    at += 4;
    write();
    put(length, static_cast<std::uint32_t>(at - length - 4));
  };
  const auto array = [&](const auto& values) {
    const std::size_t bytes = values.size() * sizeof values[0];
    if (bytes > 0) std::memcpy(at, values.data(), bytes);
    at += bytes;
  };
  const Prediction p = prediction(since_key_);
  section(Section::bodies, [&] { at = put_items<7>(at, frame.bodies, p, body_last_, body_before_); });
  section(Section::particles, [&] { at = put_items<3>(at, frame.particles, p, particle_last_, particle_before_); });
  if (parts & view_contacts)
    section(Section::contacts, [&] {
      at = put(at, static_cast<std::uint32_t>(frame.contacts.size() / 10));
      array(frame.contacts);
    });
  if (parts & view_forces) section(Section::forces, [&] { array(frame.forces); });
  if (parts & view_velocities) section(Section::velocities, [&] { array(frame.velocities); });
  if (parts & view_islands) section(Section::islands, [&] { array(frame.islands); });
  if (parts & view_loads) section(Section::loads, [&] { array(frame.loads); });
  if (parts & view_fluid)
    section(Section::fluid, [&] { at = put_fluid(at, frame.fluid, key, fluid_last_, fluid_before_); });
  else
    fluid_last_.clear();
  section(Section::numbers, [&] { array(frame.numbers); });
  return {out_.data(), at};
}

void ViewDecoder::decode(std::span<const std::uint8_t> bytes, ViewFrame& frame) {
  Bytes in(bytes);
  const auto kind = in.take<std::uint8_t>();
  if (kind != 1 && kind != 2) throw Error("frame", fmt::format("is of unknown kind {}", kind));
  const bool key = kind == 1;
  in.take<std::uint8_t>();
  frame.generation = in.take<std::uint16_t>();
  const auto number = in.take<std::uint32_t>();
  if (!key && (since_key_ < 0 || number != number_ + 1)) throw Error("frame", "is a delta to a frame that is not here");
  number_ = number;
  frame.time = in.take<double>();
  frame.step = in.take<std::uint32_t>();
  since_key_ = key ? 0 : std::min(since_key_ + 1, 2);
  frame.parts = 0;
  const Prediction p = prediction(since_key_);
  while (!in.empty()) {
    const auto id = static_cast<Section>(in.take<std::uint8_t>());
    const auto length = in.take<std::uint32_t>();
    Bytes payload(in.take(length));
    switch (id) {
      case Section::bodies:
        take_items<7>(payload, key, p, body_last_, body_before_, frame.bodies);
        break;
      case Section::particles:
        take_items<3>(payload, key, p, particle_last_, particle_before_, frame.particles);
        break;
      case Section::contacts:
        if (payload.take<std::uint32_t>() * std::uint64_t{40} != payload.size()) throw Error("frame", "miscounts its contacts");
        take_array(payload, frame.contacts);
        frame.parts |= view_contacts;
        break;
      case Section::forces:
        take_array(payload, frame.forces);
        frame.parts |= view_forces;
        break;
      case Section::velocities:
        take_array(payload, frame.velocities);
        frame.parts |= view_velocities;
        break;
      case Section::islands:
        take_array(payload, frame.islands);
        frame.parts |= view_islands;
        break;
      case Section::loads:
        take_array(payload, frame.loads);
        frame.parts |= view_loads;
        break;
      case Section::fluid:
        take_fluid(payload, frame.fluid, fluid_last_, fluid_before_);
        frame.parts |= view_fluid;
        break;
      case Section::numbers:
        take_array(payload, frame.numbers);
        break;
      default:
        break;  // of a later version
    }
  }
}

}  // namespace rotule
