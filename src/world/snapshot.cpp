// Exact snapshots: the bits of the state and of whatever the method remembers, so that a run goes on as if never interrupted.
#include <rotule/error.h>

#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "base/snapshot_check.h"
#include "model/wear.h"
#include "step/archive.h"
#include "world/fluid_coupling.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr std::uint64_t magic = 0x39304c55544f52ull;  // "ROTUL09"

/// Copies numbers into bytes, or bytes into numbers: one description of the layout serves both ways.
class Writer {
 public:
  static constexpr bool writes = true;
  /// Over what the bytes hold, which grow where they have to: who writes as much every time allocates once.
  explicit Writer(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(T& value) {
    copy(&value, sizeof(T));
  }
  void operator()(VecX& v) {
    auto size = static_cast<std::uint64_t>(v.size());
    (*this)(size);
    copy(v.data(), sizeof(double) * static_cast<std::size_t>(v.size()));
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    std::uint64_t size = v.size();
    (*this)(size);
    copy(v.data(), sizeof(T) * v.size());
  }
  /// Cuts the bytes to what was written.
  void finish() { bytes_.resize(at_); }

 private:
  void copy(const void* from, std::size_t size) {
    if (size == 0) return;
    if (bytes_.size() - at_ < size) bytes_.resize(2 * (at_ + size));
    std::memcpy(bytes_.data() + at_, from, size);
    at_ += size;
  }

  std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

class Reader {
 public:
  static constexpr bool writes = false;
  explicit Reader(const std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(T& value) {
    if (bytes_.size() - at_ < sizeof(T)) throw Error("snapshot", "is cut short; save it again");
    if constexpr (std::is_same_v<T, bool>) require_fit(bytes_[at_] <= 1);
    std::memcpy(static_cast<void*>(&value), bytes_.data() + at_, sizeof(T));  // also for vectors of Eigen: plain numbers inside
    at_ += sizeof(T);
  }
  void operator()(VecX& v) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > (bytes_.size() - at_) / sizeof(double)) throw Error("snapshot", "is cut short; save it again");
    v.resize(static_cast<Eigen::Index>(size));
    for (double& x : v) (*this)(x);
  }
  template <class T>
  void operator()(std::vector<T>& v) {
    std::uint64_t size = 0;
    (*this)(size);
    if (size > (bytes_.size() - at_) / sizeof(T)) throw Error("snapshot", "is cut short; save it again");
    v.resize(size);
    for (T& x : v) (*this)(x);
  }
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }

 private:
  const std::vector<std::uint8_t>& bytes_;
  std::size_t at_ = 0;
};

/// Motors as the snapshot has them, checked: its bytes may come from a file.
void take_motors(WorldImplementation& w) {
  const auto joints = static_cast<int>(w.model.joints.size());
  for (const MotorSetting& motor : w.motors)
    if (motor.joint < 0 || motor.joint >= joints || motor.axis < 0 || motor.axis >= 6 || motor.kind < 0 ||
        motor.kind >= static_cast<std::int64_t>(std::variant_size_v<MotorTarget>) ||
        w.model.joints[motor.joint].locked[motor.axis])
      throw Error("snapshot", "speaks of motors that are not there; load it into the same world");
  w.apply_motors();
  if (w.stepper) w.stepper->drives_changed();
}

/// Elements as the snapshot has them, checked likewise.
void take_wear(WorldImplementation& w) {
  require_fit(w.model.wear.elements.size() == w.model.forces.elements.limits.size());
  for (const ElementWear& wear : w.model.wear.elements)
    require_fit(wear.rest.allFinite() && std::isfinite(wear.flowed) && (wear.torn == 0 || wear.torn == 1));
  if (apply_wear(w.model) && w.stepper) w.stepper->forces_changed();
}

template <class Archive>
void archive(Archive& io, WorldImplementation& w) {
  io(w.time);
  io(w.steps);
  archive_state(io, w.state, w.model.bodies.size());
  io(w.external);
  if constexpr (!Archive::writes) {
    require_fit(w.state.u.size() == w.model.velocity_count() && w.state.x.size() == 3 * w.model.particle_count() &&
                (w.external.size() == 0 || w.external.size() == w.model.velocity_count()));
    require_finite(w.model, w.state);
  }
  if (!w.model.wear.elements.empty()) {
    io(w.model.wear.elements);
    if constexpr (!Archive::writes) take_wear(w);
  }
  io(w.motors);
  if constexpr (!Archive::writes) take_motors(w);
  w.ready().archive(io);
  if (w.fluid) w.fluid->archive(io);
}

/// What a step of the bodies changes.
template <class Archive>
void archive_bodies(Archive& io, WorldImplementation& w) {
  archive_state(io, w.state, w.model.bodies.size());
  w.ready().archive(io);
}

struct Header {
  std::uint64_t magic_number = magic;
  std::uint64_t checksum = 0;  // of all that follows the header
  std::uint64_t bodies = 0, particles = 0, joints = 0, rows = 0, stepper = 0, integrator = 0, formulation = 0, fluid_cells = 0;
  friend bool operator==(const Header&, const Header&) = default;
};

/// FNV-1a over bytes.
std::uint64_t checksum_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ull;
  return hash;
}

Header header_of(const WorldImplementation& w, const Model& model) {
  Header header;
  header.bodies = static_cast<std::uint64_t>(model.body_count());
  header.particles = static_cast<std::uint64_t>(model.particle_count());
  header.joints = model.joints.size();
  for (const Joint& joint : model.joints) header.rows += static_cast<std::uint64_t>(joint.rows());
  header.stepper = w.recipe.stepper.index();
  header.integrator = w.recipe.integrator.index();
  // What a method remembers is in its coordinates; both in one number, which is that of before where they are maximal.
  header.formulation = w.recipe.formulation.index() + 16 * w.recipe.coordinates.index();
  if (w.fluid) header.fluid_cells = static_cast<std::uint64_t>(w.fluid->grid().cells());
  return header;
}

}  // namespace

const std::shared_ptr<const WorldShape>& WorldImplementation::present_shape() {
  ready();  // which may cut meshes
  if (!shape)
    shape = std::make_shared<const WorldShape>(WorldShape{model, materials, body_of_name, body_slots, joint_slots, force_count});
  return shape;
}

void WorldImplementation::install(const std::shared_ptr<const WorldShape>& other) {
  if (other == shape) return;
  recipe_changed();
  model = other->model;
  materials = other->materials;
  body_of_name = other->body_of_name;
  body_slots = other->body_slots;
  joint_slots = other->joint_slots;
  force_count = other->force_count;
  shape = other;
  forget_queries(*this);
}

void WorldImplementation::remember() {
  Writer writer(before_step);
  archive(writer, *this);
}

void WorldImplementation::go_back() {
  ++revision;
  ready().drop_work();
  Reader reader(before_step);
  archive(reader, *this);
}

void WorldImplementation::remember_bodies(std::vector<std::uint8_t>& bytes) {
  Writer writer(bytes);
  archive_bodies(writer, *this);
}

void WorldImplementation::recall_bodies(const std::vector<std::uint8_t>& bytes) {
  Reader reader(bytes);
  archive_bodies(reader, *this);
}

Snapshot World::save() const {
  Snapshot snapshot;
  Writer writer(snapshot.bytes);
  snapshot.shape = implementation_->present_shape();
  Header header = header_of(*implementation_, implementation_->model);
  writer(header);
  archive(writer, *implementation_);
  writer.finish();
  header.checksum = checksum_of(std::span(snapshot.bytes).subspan(sizeof header));
  std::memcpy(snapshot.bytes.data(), &header, sizeof header);
  return snapshot;
}

void World::load(const Snapshot& snapshot) {
  Reader reader(snapshot.bytes);
  Header header;
  reader(header);
  if (header.magic_number != magic) throw Error("snapshot", "does not come from World::save of this version");
  const std::uint64_t checksum = std::exchange(header.checksum, 0);
  WorldImplementation& w = *implementation_;
  const std::shared_ptr<const WorldShape> shape = snapshot.shape ? snapshot.shape : w.present_shape();
  if (!(header == header_of(w, shape->model)))
    throw Error(
        "snapshot",
        "was saved with other bodies, particles, joints, stepper, integrator, formulation or fluid; load it into the same world");
  if (checksum != checksum_of(std::span(snapshot.bytes).subspan(sizeof header)))
    throw Error("snapshot", "is damaged; save it again");
  // A bad snapshot must not leave a world half loaded: keep the present state to go back to.
  const Snapshot before = save();
  ++w.revision;
  const auto take = [&](const Snapshot& from, const std::shared_ptr<const WorldShape>& its_shape) {
    Reader bytes(from.bytes);
    Header ignored;
    bytes(ignored);
    w.install(its_shape);
    archive(bytes, w);
    if (!bytes.done()) throw Error("snapshot", "is longer than its world; it was saved by another one");
  };
  // A stepper made anew remembers nothing of what others told it.
  const auto take_anew = [&](const Snapshot& from, const std::shared_ptr<const WorldShape>& its_shape) {
    w.stepper.reset();
    take(from, its_shape);
  };
  try {
    take(snapshot, shape);
  } catch (const Error&) {
    try {
      take_anew(snapshot, shape);
    } catch (...) {
      take_anew(before, before.shape);
      throw;
    }
  } catch (...) {
    take_anew(before, before.shape);
    throw;
  }
  w.events.clear();
  w.ready().set_external(w.external);
}

}  // namespace rotule
