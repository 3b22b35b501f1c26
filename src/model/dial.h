#pragma once
// From a setting of the dial, or an accuracy, and what a scene contains, to a full recipe; and from a recipe that does not fit to
// the one nearest to it that does.
#include <rotule/scene.h>

#include <optional>
#include <string>

#include "model/content.h"

namespace rotule {

/// How exact a run should be: a setting, or a relative error.
struct Wish {
  Dial dial = Dial::balanced;
  std::optional<double> accuracy = {};
};

/// Which fields of a recipe somebody gave: those are kept, the others chosen.
struct GivenFields {
  bool dt = false, duration = false, threads = false, stepper = false, integrator = false, formulation = false,
       correction = false, coordinates = false, contacts = false, solver = false, implicit_solver = false;
  /// By the field's name.
  void add(std::string_view field);
};

/// Those that differ from a recipe that nobody has touched.
GivenFields given_in(const Recipe& recipe);

/// `given` where it is given, the rest so that the whole fits the content and the wish. Where nothing fits what is given,
/// contacts are left out; where not even that helps the result is refused by check_combination.
Recipe fitted(const SceneContent& content, const Recipe& given, const GivenFields& which, const Wish& wish);

/// The least change of the recipe's choices after which it fits, as "--set KEY=VALUE --set …", and as JSON; empty where there is
/// none.
struct Remedy {
  std::string flags, json;
};
Remedy remedy_for(const Recipe& recipe, const JointNeeds& needs);

/// The reason why the recipe makes no sense; empty where it does (step/combinations.cpp holds the table).
std::string misfit(const Recipe& recipe, const JointNeeds& needs);

/// Whether both are the same in every field.
bool same_recipe(const Recipe& a, const Recipe& b);

}  // namespace rotule
