#pragma once
// The scenes that ship with the engine, one function each; scenes/NAME.json holds the same scene as a file. All stand in SI
// units with z up, and start with every joint closed in position and in velocity.
#include <rotule/scene.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rotule::scenes {

// Pendulums.
Scene pendulum();
Scene double_pendulum();
Scene newton_cradle_joints();
Scene rod_pendulum();

// Chains of links of 1 kg and 0.2 m.
/// `links` from 1 to 1,000,000, on ball joints, released horizontally. Throws Error outside that range.
Scene chain(int links);
/// 20 links with `weight` kg (greater than 0) at the end, plucked in the middle. Throws Error otherwise.
Scene hanging_chain(double weight);

// Linkages, all with more constraint equations than their motion needs.
Scene four_bar();
Scene six_bar_loop();
Scene slider_crank();
Scene bricard();
/// `loops` parallelograms of bars of 1 m and 1 kg in a row, falling over: twice a turn all bars lie on one line, where the
/// mechanism could go `loops` + 1 ways. From 1 to 10,000; throws Error outside that range.
Scene n_four_bar(int loops);

// Free and supported tops.
Scene gyroscope();
Scene dzhanibekov();

// The wooden mannequin: 15 segments, 14 ball joints (A6, A8).
Scene mannequin();
Scene mannequin_bounce();

// Structures.
Scene bridge_truss();

// Contact at its simplest.
Scene incline();
/// The same at any slope, in degrees.
Scene incline(double degrees);
Scene sliding_block();
Scene slide_to_roll();
Scene bouncing_ball();
Scene newton_cradle();

// Contact by accelerations, events located.
Scene rolling_coin();
Scene ladder();

// Things that stand on each other.
Scene brick_wall();
Scene tower(int floors);
Scene pyramid(int base);
/// `weight` kg on nine boxes of 1 kg.
Scene heavy_on_light(double weight = 1000);
/// A semicircular arch of dry stones.
Scene masonry_arch(double thickness_over_radius = 0.115, int voussoirs = 27);
Scene card_house();
Scene domino_run();

// Things that fall in heaps.
Scene tripods();
Scene marble_box();
Scene rock_pile();
Scene chain_fall();
Scene chain_on_floor();
Scene ragdoll_heap();

// Machines with motors, limits and contacts.
Scene gripper_pinch();
Scene rolling_mill();

// Particles and mass-spring solids (E1 to E4).
/// A square cloth of `particles` x `particles`, 2 to 5000, held by two corners. Throws Error outside that range.
Scene cloth(int particles);
/// A clamped beam of 3 n x n x n particles, n from 2 to 300. Throws Error outside that range.
Scene block(int particles);
Scene rope();
/// Particles and a body joined: a cloth held by a bar that swings.
Scene trapeze();
Scene disk();
Scene soft_ball();
Scene planets();

// For error control: an orbit of eccentricity 0.9, and a stiff machine.
Scene kepler();
Scene flyball_governor();

/// The names of the scenes above, in alphabetical order; each is also a file.
std::vector<std::string> names();

/// The scene of that name, one of names() or `chain_N` (N links), `hanging_chain_N` (N kg), `n_four_bar_N` (N loops), `cloth_N`
/// or `block_N` (N particles along a side); nothing where there is none. Throws Error where N is out of range.
std::optional<Scene> build(std::string_view name);

}  // namespace rotule::scenes
