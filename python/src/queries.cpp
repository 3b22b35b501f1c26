// Where things are: rays, moving shapes, overlaps, distances.
#include <rotule/queries.h>

#include <map>

#include "interrupts.h"
#include "record/scene_json.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Handle = WorldHandle;
using Rows = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Keyword arguments that say which bodies are looked at.
BodyFilter filter_of(const py::kwargs& given) {
  BodyFilter filter;
  for (const auto& [key, value] : given) {
    const std::string name = py::cast<std::string>(key);
    if (name == "fixed")
      filter.fixed = py::cast<bool>(value);
    else if (name == "moving")
      filter.moving = py::cast<bool>(value);
    else if (name == "untouched")
      filter.untouched = py::cast<bool>(value);
    else if (name == "without_group")
      filter.without_group = py::cast<int>(value);
    else if (name == "sensors")
      filter.sensors = py::cast<bool>(value);
    else if (name == "layers")
      filter.layers = py::cast<std::vector<std::string>>(value);
    else
      throw py::type_error("a query takes fixed, moving, untouched, without_group, sensors and layers besides, not " + name);
  }
  return filter;
}

QueryShape shape_of(const py::object& shape) { return parse_shape(json_of(shape)); }

py::object cast_rays(Handle& self, const Rows& origins, const Rows& directions, double reach, int threads,
                     const py::kwargs& filter) {
  if (origins.ndim() != 2 || origins.shape(1) != 3 || directions.ndim() != 2 || directions.shape(1) != 3 ||
      origins.shape(0) != directions.shape(0))
    throw py::value_error("origins and directions must both have the shape (rays, 3)");
  std::vector<Ray> rays;
  for (py::ssize_t i = 0; i < origins.shape(0); ++i) {
    const double *o = origins.data(i, 0), *d = directions.data(i, 0);
    rays.push_back({Vec3(o[0], o[1], o[2]), Vec3(d[0], d[1], d[2]), reach});
  }
  const BodyFilter wanted = filter_of(filter);
  World& world = self.world();
  const WorldHandle::AtWork here(self);
  const auto found = at_once([&] { return rotule::cast_rays(world, rays, wanted, threads); });
  std::vector<double> distances(rays.size(), infinity), normals(3 * rays.size(), 0.0);
  std::vector<std::int64_t> bodies(rays.size(), -1);
  std::map<BodyId, std::int64_t> rows;
  for (const BodyId id : world.bodies()) rows.emplace(id, static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rays.size(); ++i) {
    if (!found[i]) continue;
    distances[i] = found[i]->distance;
    bodies[i] = rows.at(found[i]->body);
    for (std::size_t k = 0; k < 3; ++k) normals[3 * i + k] = found[i]->normal[static_cast<Eigen::Index>(k)];
  }
  const auto count = static_cast<py::ssize_t>(rays.size());
  return py::make_tuple(array_of(std::move(distances), {count}), array_of(std::move(bodies), {count}),
                        array_of(std::move(normals), {count, 3}));
}

void add_answers(py::module_& module) {
  Record<RayResult>(module, "RayResult", "Where a ray meets a body.")
      .field("body", &RayResult::body, "its id")
      .field("distance", &RayResult::distance, "m from the origin; 0 where it lies inside")
      .field("point", &RayResult::point, "m")
      .field("normal", &RayResult::normal, "of the surface, against the ray")
      .field("part", &RayResult::part, "of a compound or of convex parts")
      .field("triangle", &RayResult::triangle, "of a mesh or height field; -1 elsewhere");
  Record<CastResult>(module, "CastResult", "Where a moving shape first touches a body.")
      .field("body", &CastResult::body, "its id")
      .field("fraction", &CastResult::fraction, "of the path, 0 to 1")
      .field("point", &CastResult::point, "m, where they touch then")
      .field("normal", &CastResult::normal, "from the shape to the body")
      .field("part", &CastResult::part, "of the body")
      .field("triangle", &CastResult::triangle, "of the body");
  Record<DistanceResult>(module, "DistanceResult", "How far a shape and a body are from each other.")
      .field("body", &DistanceResult::body, "its id")
      .field("distance", &DistanceResult::distance, "m; negative: how deep they overlap")
      .field("on_shape", &DistanceResult::on_shape, "m, the nearest or deepest point of the shape")
      .field("on_body", &DistanceResult::on_body, "m, that of the body")
      .field("normal", &DistanceResult::normal, "from the shape to the body")
      .field("part", &DistanceResult::part, "of the body")
      .field("triangle", &DistanceResult::triangle, "of the body");
}

}  // namespace

void add_queries(py::module_& module) {
  add_answers(module);
  WorldClass world = world_class(module);
  world
      .def(
          "cast_ray",
          [](Handle& self, const Vec3& origin, const Vec3& direction, double reach, const py::kwargs& filter) {
            return rotule::cast_ray(self.world(), {origin, direction, reach}, filter_of(filter));
          },
          py::arg("origin"), py::arg("direction"), py::arg("reach") = infinity,
          "The first body that the ray meets, or None. Besides: fixed, moving, untouched, without_group, sensors, layers.")
      .def(
          "cast_ray_through",
          [](Handle& self, const Vec3& origin, const Vec3& direction, double reach, const py::kwargs& filter) {
            return cast_ray_through(self.world(), {origin, direction, reach}, filter_of(filter));
          },
          py::arg("origin"), py::arg("direction"), py::arg("reach") = infinity, "All that it meets, nearest first.")
      .def("cast_rays", &cast_rays, py::arg("origins"), py::arg("directions"), py::arg("reach") = infinity,
           py::arg("threads") = 0,
           "Many rays at once, on so many threads (0: all): distances (inf where nothing is met), rows of bodies (-1), normals.")
      .def(
          "sweep",
          [](Handle& self, const py::object& shape, const Vec3& position, const Vec3& path, const WXYZ& orientation,
             const py::kwargs& filter) {
            return cast_shape(self.world(), shape_of(shape), pose(position, orientation), path, filter_of(filter));
          },
          py::arg("shape"), py::arg("position"), py::arg("path"), py::arg("orientation") = unturned,
          "The first body that the shape, {\"sphere\": {\"radius\": 0.1}}, touches on its path (m), or None.")
      .def(
          "overlap",
          [](Handle& self, const py::object& shape, const Vec3& position, const WXYZ& orientation, const py::kwargs& filter) {
            return overlapping(self.world(), shape_of(shape), pose(position, orientation), filter_of(filter));
          },
          py::arg("shape"), py::arg("position"), py::arg("orientation") = unturned, "Bodies that overlap the shape.")
      .def(
          "bodies_at",
          [](Handle& self, const Vec3& point, const py::kwargs& filter) {
            return bodies_at(self.world(), point, filter_of(filter));
          },
          py::arg("point"), "Bodies that hold the point.")
      .def(
          "nearest_body",
          [](Handle& self, const Vec3& point, double reach, const py::kwargs& filter) {
            return nearest_body(self.world(), point, reach, filter_of(filter));
          },
          py::arg("point"), py::arg("reach") = infinity,
          "The body nearest to a point, or None; inside, the distance is negative.")
      .def(
          "distance",
          [](Handle& self, const BodyName& a, const BodyName& b) {
            return distance(self.world(), find(self.world(), a), find(self.world(), b));
          },
          py::arg("a"), py::arg("b"), "Between two bodies, the first as the shape.");
}

}  // namespace rotule::python
