#include "world_handle.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "constraint/joint_coordinates.h"
#include "interrupts.h"
#include "model/joint_kinds.h"
#include "world/world_implementation.h"

namespace rotule::python {

World& WorldHandle::world() {
  if (working_) throw Error("the world is being stepped by another thread; wait for it");
  return world_;
}

StepReport WorldHandle::step(std::int64_t n, double h) {
  if (n < 1) throw py::value_error("the number of steps must be at least 1");
  StepReport report;
  std::int64_t done = 0;
  const double seconds = std::isnan(h) ? world().recipe().dt : h;
  const auto follow = [&] {
    if (report.broken > 0)
      reshaped();
    else
      changed();
  };
  while (done < n) {
    try {
      const AtWork here(*this);
      without_lock([&] {
        for (; done < n; ++done) {
          if (done > 0) Budget::listen();
          const StepReport& last = world_.step(seconds);
          if (done == 0)
            report = last;
          else
            put_together(report, last);
        }
      });
    } catch (const Interrupted&) {
      // The world is as it was before the step that was interrupted. Where the user's handler raises nothing, it is made again.
      follow();
      if (!interrupt_bell().rung()) throw;
      answer_interrupt();
    } catch (const Error& error) {
      follow();
      throw StepFailed(error.what());
    }
  }
  follow();
  return report;
}

std::vector<py::ssize_t> WorldHandle::extent(Quantity quantity) {
  const State& state = implementation_of(world_).state;
  const py::ssize_t bodies = state.bodies(), particles = state.particles();
  switch (quantity) {
    case Quantity::orientations:
      return {bodies, 4};
    case Quantity::forces:
      return {bodies, 6};
    case Quantity::joint_positions:
    case Quantity::joint_rates:
      return {static_cast<py::ssize_t>(coordinates().size())};
    case Quantity::particle_positions:
    case Quantity::particle_velocities:
      return {particles, 3};
    default:
      return {bodies, 3};
  }
}

void WorldHandle::write(Quantity quantity, double* out) {
  const WorldImplementation& w = implementation_of(world_);
  const State& state = w.state;
  const auto put = [&out](const auto& v) {
    for (Eigen::Index k = 0; k < v.size(); ++k) *out++ = v[k];
  };
  const auto each_coordinate = [&](auto&& values_of) {
    JointCoordinates values = JointCoordinates::Zero();
    int joint = -1;
    for (const Coordinate& c : coordinates()) {
      if (c.joint != joint) values = values_of(w.model.joints[c.joint]);
      joint = c.joint;
      *out++ = values[c.axis];
    }
  };
  switch (quantity) {
    case Quantity::positions:
      for (int i = 0; i < state.bodies(); ++i) put(body_frame(w.model, state, i).position);
      break;
    case Quantity::orientations:
      for (int i = 0; i < state.bodies(); ++i) put(wxyz(state.theta[i]));
      break;
    case Quantity::centers_of_mass:
      for (int i = 0; i < state.bodies(); ++i) put(state.p[i]);
      break;
    case Quantity::velocities:
      for (int i = 0; i < state.bodies(); ++i) put(state.v(i));
      break;
    case Quantity::angular_velocities:
      for (int i = 0; i < state.bodies(); ++i) put(state.omega(i));
      break;
    case Quantity::forces:
      std::copy_n(w.external.data(), 6 * state.bodies(), out);
      break;
    case Quantity::joint_positions:
      each_coordinate([&](const Joint& joint) { return joint_position(w.model, joint, state); });
      break;
    case Quantity::joint_rates:
      each_coordinate([&](const Joint& joint) { return joint_rate(w.model, joint, state); });
      break;
    case Quantity::particle_positions:
      put(state.x);
      break;
    case Quantity::particle_velocities:
      put(state.u.tail(state.x.size()));
      break;
  }
}

const py::object& WorldHandle::array(Quantity quantity) {
  static_cast<void>(world());
  Following& following = arrays_[static_cast<std::size_t>(quantity)];
  if (!following.array) {
    py::array_t<double> array(extent(quantity));
    following.data = array.mutable_data();
    write(quantity, following.data);
    array.attr("flags").attr("writeable") = false;
    following.array = std::move(array);
  }
  return following.array;
}

void WorldHandle::changed() {
  for (std::size_t k = 0; k < quantity_kinds; ++k)
    if (arrays_[k].array) write(static_cast<Quantity>(k), arrays_[k].data);
}

void WorldHandle::reshaped() {
  coordinates_known_ = false;
  arrays_.fill({});
}

const std::vector<Coordinate>& WorldHandle::coordinates() {
  if (!coordinates_known_) {
    const Model& model = implementation_of(world_).model;
    coordinates_.clear();
    for (std::size_t j = 0; j < model.joints.size(); ++j)
      for (const int axis : free_axes(model, model.joints[j])) coordinates_.push_back({static_cast<int>(j), axis});
    coordinates_known_ = true;
  }
  return coordinates_;
}

std::vector<std::string> WorldHandle::coordinate_names() {
  const Model& model = implementation_of(world()).model;
  const std::vector<Coordinate>& all = coordinates();
  std::vector<std::string> out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool alone = (k == 0 || all[k - 1].joint != all[k].joint) && (k + 1 == all.size() || all[k + 1].joint != all[k].joint);
    std::string name = model.joints[all[k].joint].name;
    if (!alone) name += "." + std::string(axis_names[static_cast<std::size_t>(all[k].axis)]);
    out.push_back(std::move(name));
  }
  return out;
}

Coordinate WorldHandle::coordinate(const std::string& name) {
  const std::vector<std::string> names = coordinate_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    std::string known;
    for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
    throw UnknownName("there is no free axis of a joint \"" + name + "\"; there are: " + known);
  }
  return coordinates_[static_cast<std::size_t>(found - names.begin())];
}

}  // namespace rotule::python
