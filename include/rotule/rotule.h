#pragma once
// All of Rotule's interface.
#include <rotule/error.h>
#include <rotule/problem.h>
#include <rotule/recipe.h>
#include <rotule/relaxation.h>
#include <rotule/results.h>
#include <rotule/scene.h>
#include <rotule/solvers.h>
#include <rotule/world.h>
