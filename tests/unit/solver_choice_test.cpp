// The choice of a solver as a value: what was put in comes out, by type or by the names of its fields.
#include <gtest/gtest.h>
#include <rotule/recipe.h>
#include <rotule/solvers/homotopy.h>
#include <rotule/solvers/pgs.h>

#include <set>
#include <string>

#include "model/solver_list.h"

namespace rotule {
namespace {

TEST(SolverChoice, HoldsWhatItWasGiven) {
  Recipe recipe;
  EXPECT_EQ(recipe.solver.name(), "ldlt");
  recipe.solver = PgsSettings{.relaxation = 1.4, .order = RandomOrder{.seed = 7}, .max_iterations = 12};
  const SolverChoice copy = recipe.solver;
  recipe.solver = HomotopySettings{};
  ASSERT_NE(copy.get_if<PgsSettings>(), nullptr);
  EXPECT_EQ(copy.get_if<PgsSettings>()->relaxation, 1.4);
  EXPECT_EQ(std::get<RandomOrder>(copy.get_if<PgsSettings>()->order).seed, 7);
  EXPECT_EQ(copy.get_if<HomotopySettings>(), nullptr);
  EXPECT_TRUE(recipe.solver.holds<HomotopySettings>());
  EXPECT_FALSE(copy.same_solver(recipe.solver));
  EXPECT_TRUE(copy.same_solver(PgsSettings{}));
  EXPECT_EQ(copy.family(), "sweep");
}

TEST(SolverChoice, FieldsAreReachedByName) {
  SolverChoice choice = PgsSettings{};
  *choice.find<double>("tolerance") = 1e-3;
  *choice.find<int>("max_iterations") = 5;
  EXPECT_EQ(choice.get_if<PgsSettings>()->tolerance, 1e-3);
  EXPECT_EQ(choice.get_if<PgsSettings>()->max_iterations, 5);
  EXPECT_EQ(choice.find<int>("tolerance"), nullptr);  // it is no whole number
  EXPECT_EQ(choice.find<double>("warm_up"), nullptr);

  std::string names;
  choice.visit_fields([&](const Field& field, const auto&) { names += std::string(field.name) + " "; });
  EXPECT_EQ(names,
            "relaxation regularisation adaptive_relaxation storage order tolerance error_tolerance change_tolerance "
            "max_iterations ");
}

TEST(SolverChoice, ListNamesEachOnce) {
  std::set<std::string> names;
  int recommended = 0;
  for (const NamedSolver& solver : solver_list()) {
    EXPECT_TRUE(names.insert(std::string(solver.name)).second) << solver.name;
    EXPECT_FALSE(solver.settings.family().empty()) << solver.name;
    EXPECT_TRUE(solver.settings.same_solver(named_solver(solver.name, Place()).settings)) << solver.name;
    recommended += !solver.preset() && !solver.settings.recommended_for().empty();
    EXPECT_TRUE(!solver.preset() || names.contains(std::string(solver.settings.name()))) << solver.name;
  }
  EXPECT_GE(recommended, 5);
  EXPECT_LE(recommended, 10);  // a choice of few
  EXPECT_EQ(named_solver("nsgs", Place()).name, "block_gauss_seidel");
}

}  // namespace
}  // namespace rotule
