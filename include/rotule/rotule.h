#pragma once
// All of Rotule's interface.
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/inverse.h>
#include <rotule/inverse_dynamics.h>
#include <rotule/mass_properties.h>
#include <rotule/meshes.h>
#include <rotule/problem.h>
#include <rotule/queries.h>
#include <rotule/recipe.h>
#include <rotule/results.h>
#include <rotule/robots.h>
#include <rotule/scene.h>
#include <rotule/solve.h>
#include <rotule/solvers.h>
#include <rotule/world.h>
