// Recipes by dotted names, as the command line sets them.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/recipe.h>

namespace rotule {
namespace {

TEST(Recipe, SetReachesEveryLevel) {
  Recipe recipe;
  set(recipe, "dt", "0.25");
  set(recipe, "threads", "3");
  set(recipe, "integrator", "midpoint");
  set(recipe, "solver", "sor");
  set(recipe, "solver.relaxation", "1.4");
  set(recipe, "solver", "sor");  // naming it again keeps the setting
  set(recipe, "formulation", "velocity");
  set(recipe, "formulation.geometric_stiffness", "false");
  EXPECT_EQ(recipe.dt, 0.25);
  EXPECT_EQ(recipe.threads, 3);
  EXPECT_EQ(name_of(recipe.integrator), "rk2");
  EXPECT_EQ(*recipe.solver.find<double>("relaxation"), 1.4);
  EXPECT_FALSE(std::get<VelocitySettings>(recipe.formulation).geometric_stiffness);
}

TEST(Recipe, OldNamesOfSolversArePresets) {
  Recipe recipe;
  set(recipe, "solver", "psor");
  EXPECT_EQ(name_of(recipe.solver), "pgs");
  EXPECT_EQ(*recipe.solver.find<double>("relaxation"), 1.3);
  set(recipe, "solver.relaxation", "1.5");
  set(recipe, "solver", "psor");  // a preset is a number, too: naming it sets that again
  EXPECT_EQ(*recipe.solver.find<double>("relaxation"), 1.3);
  set(recipe, "solver", "gauss_seidel");
  EXPECT_EQ(name_of(recipe.solver), "sor");
  EXPECT_EQ(*recipe.solver.find<double>("relaxation"), 1);
}

TEST(Recipe, SetRefusesWithARemedy) {
  struct Case {
    const char *key, *value, *expected;
  };
  const Case cases[] = {{"dt", "0", "dt: must be greater than 0, is 0"},
                        {"dt", "fast", "dt: must be a number, is \"fast\""},
                        {"dt", "nan", "dt: must be a finite number"},
                        {"dt", "", "dt: must be a number"},
                        {"threads", "1.5", "threads: must be a whole number"},
                        {"threads", "99999999999", "threads: must be at most 1024"},
                        {"integrator", "rk44", "did you mean \"rk4\"?"},
                        {"solvr", "sor", "unknown key \"solvr\"; did you mean \"solver\"?"},
                        {"solver.relaxation", "1", "ldlt has no field \"relaxation\""},
                        {"integrator.order", "1", "rk4 has no fields"},
                        {"correction.tolerance", "-1", "correction.tolerance: must be greater than 0, is -1"}};
  for (const Case& c : cases) {
    Recipe recipe;
    try {
      set(recipe, c.key, c.value);
      ADD_FAILURE() << c.key << "=" << c.value << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(c.expected), std::string::npos) << error.what();
    }
  }
}

TEST(Recipe, Presets) {
  EXPECT_EQ(name_of(recipes::exact().integrator), "rk4");
  EXPECT_EQ(name_of(recipes::exact().formulation), "acceleration");
  EXPECT_EQ(recipes::realtime().dt, 1.0 / 60);
  EXPECT_EQ(name_of(recipes::realtime().integrator), "semi_implicit_euler");
  EXPECT_EQ(name_of(recipes::realtime().formulation), "velocity");
  EXPECT_EQ(name_of(recipes::realtime().correction), "projection");
  EXPECT_EQ(name_of(recipes::realtime().solver), "auto");
}

}  // namespace
}  // namespace rotule
