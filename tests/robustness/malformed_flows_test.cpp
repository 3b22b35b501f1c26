// Bad flows, fluid forces and structures: one line with place and remedy, before anything runs.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

namespace rotule {
namespace {

struct BadFlow {
  std::string text;      // what follows {"rotule": 1, ...
  std::string expected;  // fragment of the message
};

const std::string hull =
    R"("bodies": [{"name": "hull", "mass": 1, "shape": {"sphere": {"radius": 1}}}, {"name": "point", "mass": 1}])";

/// Of mass 2 each, with these numbers between their velocities along x.
std::string two_coupled(const std::string& above, const std::string& below) {
  return hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "point"], "translation": [[2, 0, 0, )" + above +
         R"(, 0, 0], [0, 2, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0], [)" + below +
         R"(, 0, 0, 2, 0, 0], [0, 0, 0, 0, 2, 0], [0, 0, 0, 0, 0, 2]]}}])";
}

const std::vector<BadFlow> bad_flows{
    {R"("flows": [{"wind": {}}])", "unknown flow \"wind\""},
    {R"("flows": [{"uniform": {}}])", "/flows/0/uniform: missing key \"velocity\""},
    {R"("flows": [{"uniform": {"velocity": ["sin(", 0, 0]}}])", "/flows/0/uniform/velocity"},
    {R"("flows": [{"power_law": {"speed": -1}}])", "/flows/0/power_law/speed: must be at least 0, is -1"},
    {R"("flows": [{"log_law": {"roughness": 20}}])", "/flows/0/log_law/reference_height: must be above the roughness"},
    {R"("flows": [{"waves": {"direction": [0, 0, 1]}}])", "/flows/0/waves/direction: must not be along up"},
    {R"("flows": [{"uniform": {"name": "a", "velocity": [1, 0, 0]}}, {"uniform": {"name": "a", "velocity": [1, 0, 0]}}])",
     "\"a\" is already the name of /flows/0"},
    {hull +
         R"(, "forces": [{"drag": {"viscous": 1, "in": ["wnd"]}}], "flows": [{"uniform": {"name": "wind", "velocity": [1, 0, 0]}}])",
     "/forces/0/drag/in/0: unknown flow \"wnd\"; did you mean \"wind\"?"},
    {hull + R"(, "forces": [{"section": {"on": "hull"}}])", "missing key \"angles\""},
    {hull + R"(, "forces": [{"section": {"on": "hull", "angles": []}}])", "must hold at least one angle"},
    {hull + R"(, "forces": [{"section": {"on": "hull", "angles": [0, 0]}}])", "angles/1: must be greater than the one before it"},
    {hull + R"(, "forces": [{"section": {"on": "hull", "angles": [-180, 180]}}])", "are they in degrees?"},
    {hull + R"(, "forces": [{"section": {"on": "hull", "angles": [0, 1], "lift": [1]}}])",
     "must be one for each of the 2 angles, has 1"},
    {hull + R"(, "forces": [{"section": {"on": "hull", "angles": [0, 3, 6.283185307179586], "drag": [1, 2, 3]}}])",
     "must end as it begins"},
    {hull + R"(, "forces": [{"section": {"on": "world", "angles": [0]}}])", "/forces/0/section/on: must be a body"},
    {hull + R"(, "forces": [{"section": {"on": "hull", "normal": [1, 0, 0], "angles": [0]}}])", "must not be along the chord"},
    {hull + R"(, "forces": [{"buoyancy": {"on": "point"}}])", "the body has no shape to compute it from"},
    {hull + R"(, "forces": [{"buoyancy": {"on": "point", "volume": 1, "surface": 0}}])", "needs a body with a shape"},
    {hull + R"(, "forces": [{"added_mass": {"on": "hull", "translation": [1, -1, 1]}}])", "must not have negative directions"},
    {hull + R"(, "forces": [{"added_mass": {"on": "hull", "translation": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}])",
     "must be symmetric"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull"], "translation": [[1]]}}])",
     "/forces/0/coupled_added_mass/on: must name two bodies or more, names 1"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "hull"], "translation": [[1]]}}])", "names \"hull\" again"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "world"], "translation": [[1]]}}])",
     "must be a body; what never moves is a body that is fixed"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "point"]}}])", "needs translation, rotation or both"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "point"], "translation": [[1, 0], [0, 1]]}}])",
     "translation: must be 6 x 6 numbers for 2 bodies, is 2 x 2"},
    {hull + R"(, "forces": [{"coupled_added_mass": {"on": ["hull", "point"], "translation": [[1, 0], [0]]}}])",
     "translation/1: must have 2 numbers as the first row has, has 1"},
    {R"("bodies": [{"name": "a", "mass": 1}, {"name": "b", "mass": 1, "kinematic": true}], "forces": [{"coupled_added_mass": {"on": ["a", "b"],
        "rotation": [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}}])",
     "on/1: must not be a body whose motion is given"},
    {two_coupled("0", "3"), "must be symmetric"},
    {two_coupled("3", "3"), "must not have negative directions"},
    {R"("structures": [{"bridge": {}}])", "unknown structure \"bridge\""},
    {R"("structures": [{"beam": {"to": [0, 0, 0]}}])", "/structures/0/beam/to: must not be where it begins"},
    {R"("structures": [{"beam": {"to": [0, 0, 1]}}])", "/structures/0/beam/up: must not be along the structure"},
    {R"("structures": [{"beam": {"to": [1, 0, 0], "elements": 0}}])", "/structures/0/beam/elements: must be at least 1"},
    {R"("structures": [{"beam": {"to": [1, 0, 0], "end": "loose"}}])",
     "/structures/0/beam/end: must be free, clamped, pinned or rolling"},
    {R"("structures": [{"beam": {"to": [1, 0, 0], "start_on": "wall"}}])", "unknown body"},
    {R"("structures": [{"cable": {"name": "a", "to": [1, 0, 0]}}, {"cable": {"name": "a", "to": [1, 0, 0]}}])",
     "/structures/1/cable/name: \"a\" is taken"},
};

class MalformedFlows : public ::testing::TestWithParam<BadFlow> {};

TEST_P(MalformedFlows, AreRefusedWithPlaceAndRemedy) {
  try {
    const World world(parse_scene("{\"rotule\": 1, " + GetParam().text + "}"));
    FAIL() << "was taken: " << GetParam().text;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().expected), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(All, MalformedFlows, ::testing::ValuesIn(bad_flows),
                         [](const auto& test) { return "flow_" + std::to_string(test.index); });

}  // namespace
}  // namespace rotule
