#include "replay.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "json_numbers.h"
#include "world/world_implementation.h"

namespace rotule::app {
namespace {

Scene recorded_scene(const TrajectoryReader& file, const std::string& path) {
  try {
    return parse_scene(file.scene(), path + ": its scene");
  } catch (const Error& error) {
    throw Error(path, fmt::format("holds a scene that cannot be read: {}", error.what()));
  }
}

/// Around all places that something is at in any frame; quanta and the film's camera come from it.
Bounds recorded_bounds(const TrajectoryReader& file, const World& world) {
  Bounds out = bounds_of(world);
  const Model& model = implementation_of(world).model;
  const std::size_t count = file.frames(), stride = std::max<std::size_t>(1, count / 200);
  for (std::size_t f = 0; f < count; f += stride) {
    const TrajectoryFrame frame = file.frame(f);
    const std::vector<double>&position = frame["position"], &particle_position = frame["particle_position"];
    for (std::size_t i = 0; i < position.size() / 3; ++i)
      if (!model.bodies[i].fixed) out.include(Eigen::Map<const Vec3>(position.data() + 3 * i));
    for (std::size_t k = 0; k < particle_position.size() / 3; ++k)
      out.include(Eigen::Map<const Vec3>(particle_position.data() + 3 * k));
  }
  return out;
}

/// Recorded contacts; those of older files are not there. Their bodies are numbers of the file, not ids.
std::vector<ContactResult> contacts_of(const TrajectoryFrame& from) {
  const std::vector<double>&point = from["contact_point"], &normal = from["contact_normal"], &force = from["contact_point_force"],
        &gap = from["contact_gap"];
  std::vector<ContactResult> out(gap.size());
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto vector = [k](const std::vector<double>& values) { return Vec3(Eigen::Map<const Vec3>(values.data() + 3 * k)); };
    out[k].point = vector(point);
    out[k].normal = vector(normal);
    out[k].force = vector(force);
    out[k].gap = gap[k];
  }
  return out;
}

Json three(const std::vector<double>& values, std::size_t i) { return {values[3 * i], values[3 * i + 1], values[3 * i + 2]}; }

}  // namespace

bool is_recording(const std::string& given) {
  const std::string ending = std::filesystem::path(given).extension();
  return ending == ".h5" || ending == ".hdf5";
}

Replay::Replay(const std::string& path, std::uint16_t generation)
    : file_(path),
      times_(file_.series("/time")),
      scene_(recorded_scene(file_, path)),
      world_(scene_),
      name_(scene_.name.empty() ? std::filesystem::path(path).stem().string() : scene_.name),
      generation_(generation) {
  if (times_.empty()) throw Error(path, "holds no frames");
  if (!std::is_sorted(times_.begin(), times_.end())) throw Error(path, "its times do not rise");
  const Model& model = implementation_of(world_).model;
  const std::size_t bodies = file_.body_names().size(), joints = file_.joint_names().size();
  if (bodies != model.bodies.size() || joints != model.joints.size() ||
      file_.particles() != static_cast<std::size_t>(model.particle_count()))
    throw Error(path, fmt::format("holds {} bodies, {} joints and {} particles, but its scene has {}, {} and {}", bodies, joints,
                                  file_.particles(), model.bodies.size(), model.joints.size(), model.particle_count()));
  const Bounds bounds = recorded_bounds(file_, world_);
  quanta_ = quanta_for(bounds);
  for (const Quantity& q : quantities)
    if (is_number(q) && file_.holds(q)) numbers_.push_back(&q);
  std::optional<FluidPlane> plane;
  if (FluidSliceReader::in(path)) {
    slices_.emplace(path);
    plane = FluidPlane{slices_->across(), slices_->slice(0).origin[slices_->across()]};
  }
  const SceneMessage about{generation_, false, name_, times_.back(), pace(), bounds, quanta_, numbers_, {}, plane};
  scene_text_ = std::make_shared<const std::string>(scene_message(about, scene_, world_));
}

double Replay::pace() const {
  const double frames = static_cast<double>(times_.size() - 1);
  return natural_pace(frames > 0 ? (times_.back() - times_.front()) / frames : 0, times_.back());
}

int Replay::bodies() const { return implementation_of(world_).model.body_count(); }

const TrajectoryFrame& Replay::read(std::int64_t frame) {
  if (frame != number_) frame_ = file_.frame(static_cast<std::size_t>(frame));
  number_ = frame;
  return frame_;
}

std::shared_ptr<const ViewFrame> Replay::frame(std::int64_t frame) {
  const TrajectoryFrame& from = read(frame);
  const Model& model = implementation_of(world_).model;
  auto out = std::make_shared<ViewFrame>();
  out->generation = generation_;
  out->time = from.number("time");
  out->step = static_cast<std::uint32_t>(frame);
  out->set_bodies(from["position"], from["orientation"], quanta_);
  out->set_particles(from["particle_position"], quanta_);
  for (const Quantity* q : numbers_) out->numbers.push_back(from.number(*q));
  out->parts = view_contacts | view_forces | view_velocities | view_loads;
  const std::vector<ContactResult> contacts = contacts_of(from);
  out->set_contacts(contacts);
  // What a body bears: forces that hold each other in balance count all the same.
  out->loads.assign(model.bodies.size(), 0);
  const auto load = [&](int body, double force) {
    if (body >= 0 && !model.is_particle(body)) out->loads[static_cast<std::size_t>(body)] += static_cast<float>(force);
  };
  for (std::size_t k = 0; k < contacts.size(); ++k)
    for (const std::size_t side : {0U, 1U})
      load(static_cast<int>(from["contact_bodies"][2 * k + side]), contacts[k].force.norm());
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    Vec3 point = joint.X_B.position;
    if (model.is_particle(joint.b)) {
      point = Eigen::Map<const Vec3>(from["particle_position"].data() + 3 * model.particle_of(joint.b));
    } else if (joint.b != world_body) {
      const auto b = static_cast<std::size_t>(joint.b);
      const double* q = from["orientation"].data() + 4 * b;
      point = Eigen::Map<const Vec3>(from["position"].data() + 3 * b) +
              Quat(q[0], q[1], q[2], q[3]) * (model.bodies[b].center_of_mass + point);
    }
    for (const double x : point) out->forces.push_back(static_cast<float>(x));
    for (std::size_t k = 0; k < 3; ++k) out->forces.push_back(static_cast<float>(from["joint_force"][3 * j + k]));
    const double force = Eigen::Map<const Vec3>(from["joint_force"].data() + 3 * j).norm();
    for (const int partner : {joint.a, joint.b}) load(partner, force);
  }
  for (const double x : from["velocity"]) out->velocities.push_back(static_cast<float>(x));
  if (slices_) {
    out->parts |= view_fluid;
    out->fluid = view_of(slices_->slice(slices_->nearest(out->time)), fluid_scale_);
    fluid_scale_ = out->fluid.scale;
  }
  return out;
}

Json Replay::body(int body, std::int64_t frame) {
  if (body < 0 || body >= bodies()) return nullptr;
  const TrajectoryFrame& from = read(frame);
  const Model& model = implementation_of(world_).model;
  const Body& about = model.bodies[body];
  const auto i = static_cast<std::size_t>(body);
  const Eigen::Map<const Vec3> v(from["velocity"].data() + 3 * i), omega(from["angular_velocity"].data() + 3 * i);
  const double* w = from["orientation"].data() + 4 * i;
  const Quat q(w[0], w[1], w[2], w[3]);
  const Vec3 spin = q.conjugate() * omega;
  const Vec3 center = Eigen::Map<const Vec3>(from["position"].data() + 3 * i) + q * about.center_of_mass;
  Vec3 force = Vec3::Zero();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    const Eigen::Map<const Vec3> on_b(from["joint_force"].data() + 3 * j);
    if (model.joints[j].b == body) force += on_b;
    if (model.joints[j].a == body) force -= on_b;
  }
  int touching = 0;
  const std::vector<ContactResult> contacts = contacts_of(from);
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const auto side = [&](std::size_t s) { return static_cast<int>(from["contact_bodies"][2 * k + s]); };
    if (side(0) != body && side(1) != body) continue;
    force += side(1) == body ? contacts[k].force : Vec3(-contacts[k].force);
    touching += contacts[k].force.squaredNorm() > 0;
  }
  const double energy = about.fixed ? 0
                                    : 0.5 * about.mass * v.squaredNorm() + 0.5 * spin.dot(about.inertia * spin) -
                                          about.mass * model.gravity.dot(center);
  return {{"say", "body"},
          {"body", body},
          {"name", about.name},
          {"position", three(from["position"], i)},
          {"orientation", {w[0], w[1], w[2], w[3]}},
          {"velocity", three(from["velocity"], i)},
          {"angular_velocity", three(from["angular_velocity"], i)},
          {"mass", about.fixed ? 0 : about.mass},
          {"energy", energy},
          {"contacts", touching},
          {"force", {force.x(), force.y(), force.z()}}};
}

}  // namespace rotule::app
