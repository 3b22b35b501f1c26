#include "model/other_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace rotule {
namespace {

/// `words`, between spaces, mean something where `key` is known.
struct OtherWord {
  std::string_view words, key, remedy;
};

constexpr std::string_view of_a_material =
    R"(it is a material's: "materials": [{"name": "m", "friction": 0.5, "restitution": 0}], and "material": "m" here)";
constexpr std::string_view of_a_shape =
    R"(it is a shape's: "shape": {"sphere": {"radius": 0.5}} or {"box": {"size": [1, 1, 1]}})";
constexpr std::string_view of_the_recipe = R"(it belongs into "recipe": {...})";

constexpr std::array other_words{
    // Kinds of joints.
    OtherWord{" revolute pin pivot ", "hinge", R"(it is called "hinge" here)"},
    OtherWord{" prismatic translational linear ", "slider", R"(it is called "slider" here)"},
    OtherWord{" spherical point point2point point_to_point ball_and_socket socket ball_joint ", "ball",
              R"(it is called "ball" here)"},
    OtherWord{" fixed rigid lock glue ", "weld", R"(it is called "weld" here)"},
    OtherWord{" distance link massless_rod ", "rod", R"(it is called "rod" here; one that gives way is a spring, in "forces")"},
    OtherWord{" cardan hooke ", "universal", R"(it is called "universal" here)"},
    OtherWord{" generic 6dof d6 ", "locked_axes", R"(it is called "locked_axes" here)"},
    OtherWord{" rope cable ", "pulley", R"(a rope is a "pulley", or one of "solids")"},
    OtherWord{" spring damper spring_damper ", "hinge",
              R"(springs are in "forces"; those of a joint are its own "stiffness", "damping" and "rest")"},
    OtherWord{" motor ", "hinge", R"(motors are of a joint's axis: "motor_speed" and "motor_strength" of a hinge or slider)"},
    // Keys of joints.
    OtherWord{" limits limit range ", "lower", R"(it is "lower" and "upper" here, in rad or m)"},
    OtherWord{" min minimum lower_limit low ", "lower", R"(it is called "lower" here, in rad or m)"},
    OtherWord{" max maximum upper_limit high ", "upper", R"(it is called "upper" here, in rad or m)"},
    OtherWord{" motor actuator ", "motor_speed", R"(it is "motor_speed" and "motor_strength" here)"},
    OtherWord{" speed target_speed motor_velocity target_velocity ", "motor_speed", R"(it is called "motor_speed" here)"},
    OtherWord{" max_force max_torque effort max_motor_torque motor_force ", "motor_strength",
              R"(it is called "motor_strength" here)"},
    OtherWord{" target target_position setpoint ", "rest", R"(a servo is "rest" with "stiffness" and "damping" here)"},
    OtherWord{" parent child body_a body_b body_0 body_1 body1 body2 bodya bodyb bodies a b ", "between",
              R"(it is "between": ["one", "other"] here; "world" is what never moves)"},
    OtherWord{" anchor pivot position origin point pos ", "at", R"(it is called "at" here, a point of the world)"},
    OtherWord{" k spring_constant ", "stiffness", R"(it is called "stiffness" here)"},
    OtherWord{" c d damper damping_coefficient ", "damping", R"(it is called "damping" here)"},
    OtherWord{" l0 natural_length resting_length slack_length ", "rest_length", R"(it is called "rest_length" here)"},
    // Keys of bodies.
    OtherWord{" friction mu restitution bounce bounciness elasticity ", "material", of_a_material},
    OtherWord{" radius size box sphere cylinder half_extents extents height length geometry geom collider collision ", "shape",
              of_a_shape},
    OtherWord{" static is_static immovable anchored ", "fixed", R"(it is called "fixed": true here)"},
    OtherWord{" type body_type ", "fixed", R"(it is "fixed": true or "kinematic": true here; without them a body moves)"},
    OtherWord{" rotation rot quaternion quat angle euler rpy ", "orientation",
              R"(it is "orientation" here: {"axis": [x, y, z], "angle": rad}, or a quaternion w, x, y, z)"},
    OtherWord{" angular_vel omega spin w ", "angular_velocity", R"(it is called "angular_velocity" here)"},
    OtherWord{" com centre_of_mass centroid ", "center_of_mass", R"(it is called "center_of_mass" here)"},
    OtherWord{" translation location origin xyz ", "position", R"(it is called "position" here)"},
    OtherWord{" is_sensor trigger is_trigger ", "sensor", R"(it is called "sensor": true here)"},
    // Keys of shapes.
    OtherWord{" half_extents halfextents half_size extents dimensions lengths ", "size",
              R"("size" has the full lengths of the edges)"},
    OtherWord{" diameter ", "radius", R"("radius" is half of it)"},
    OtherWord{" length ", "height", R"(it is called "height" here)"},
    OtherWord{" height ", "length", R"(it is called "length" here, of the cylindrical part)"},
    OtherWord{" cube cuboid ", "box", R"(it is called "box" here)"},
    OtherWord{" ball circle ", "sphere", R"(it is called "sphere" here)"},
    OtherWord{" ground floor ", "bodies", R"(a floor is a body: {"name": "floor", "fixed": true, "shape": {"plane": {}}})"},
    OtherWord{" ground floor halfspace half_space ", "plane", R"(it is called "plane" here)"},
    OtherWord{" mesh trimesh ", "triangle_mesh", R"(it is called "triangle_mesh" here)"},
    OtherWord{" hull convex ", "convex_hull", R"(it is called "convex_hull" here)"},
    // Keys of recipes, and of the top.
    OtherWord{" timestep time_step step h delta_t ", "dt", R"(it is called "dt" here, in seconds)"},
    OtherWord{" time t_end end_time total_time ", "duration", R"(it is called "duration" here, in seconds)"},
    OtherWord{" iterations solver_iterations ", "solver", R"(it is "solver": {"name": "pgs", "max_iterations": 50} here)"},
    OtherWord{" dt timestep time_step duration time steps integrator solver contacts formulation threads iterations ", "recipe",
              of_the_recipe},
    OtherWord{" constraints ", "joints", R"(it is called "joints" here)"},
    OtherWord{" links objects rigid_bodies ", "bodies", R"(it is called "bodies" here)"},
    OtherWord{" springs loads ", "forces", R"(it is "forces": [{"spring": {...}}] here)"},
    OtherWord{" version format ", "rotule", R"(it is "rotule": 1 here)"},
    // Names that nobody gave.
    OtherWord{" ground fixed earth origin base root none null ", "world", R"(what never moves is called "world")"}};

}  // namespace

std::string remedy_for_word(std::string_view word, std::span<const std::string> known) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string between_spaces = " " + lower + " ";
  const auto is_known = [&](std::string_view key) { return std::find(known.begin(), known.end(), key) != known.end(); };
  if (lower.find(' ') == std::string::npos)
    for (const OtherWord& other : other_words)
      if (is_known(other.key) && other.words.find(between_spaces) != std::string_view::npos) return std::string(other.remedy);
  return suggestion(word, known);
}

}  // namespace rotule
