#pragma once
// The kinds of rows that joints have. Order matters: it is the order of the blocks of an island.
#include <tuple>
#include <type_traits>

#include "constraint/pool/function.h"
#include "constraint/pool/gear.h"
#include "constraint/pool/locked_axes.h"
#include "constraint/pool/rod.h"
#include "constraint/pool/user.h"

namespace rotule {

template <Pool... Kinds>
using PoolsOf = std::tuple<Kinds...>;
using Pools = PoolsOf<LockedAxesPool, RodPool, UserPool, GearPool, FunctionPool<2, 2>, FunctionPool<3, 3>, FunctionPool<4, 4>,
                      FunctionPool<Moving::most_bodies, 5>>;

/// Calls visit(std::type_identity<P>{}) with the pool that takes the joint.
template <class Visit>
void with_pool_of(const Joint& joint, Visit&& visit) {
  [&]<class... Kinds>(std::type_identity<std::tuple<Kinds...>>) {
    static_cast<void>(((Kinds::takes(joint) ? (visit(std::type_identity<Kinds>{}), true) : false) || ...));
  }(std::type_identity<Pools>{});
}

}  // namespace rotule
