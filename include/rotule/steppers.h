#pragma once
// Who moves the state: the reference, which joins any integrator, formulation and solver that fit each other, or the real-time
// stepper, whose stages are fixed.
#include <rotule/fields.h>

#include <string_view>
#include <variant>

namespace rotule {

struct ReferenceStepperSettings {
  static constexpr std::string_view name = "reference";
  static constexpr std::string_view summary = "integrator, formulation and solver as chosen, in double precision";

  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// Substeps with soft contacts, each pushed and then relaxed once, in lanes of floats; joints are solved directly.
struct RealtimeStepperSettings {
  static constexpr std::string_view name = "realtime";
  static constexpr std::string_view summary = "substeps with soft contacts in lanes of floats, warm-started: for speed";
  int substeps = 4;
  double contact_frequency = 30;  // Hz
  double contact_damping = 7;
  double push_speed = 3;  // m/s
  double load_inertia = 1;
  double sleep_after = 0;  // s; 0: never

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"substeps", "", "parts that a step is made of; bodies are collided once for all of them", 1, 1000}, s.substeps);
    visit(Field{"contact_frequency", "Hz", "of the springs that overlaps are; at most an eighth of the substeps' rate", 0, 1e9,
                true},
          s.contact_frequency);
    visit(Field{"contact_damping", "", "of those springs, relative to critical", 0, 1e6}, s.contact_damping);
    visit(Field{"push_speed", "m/s", "the fastest that overlaps are pushed out", 0, 1e9}, s.push_speed);
    visit(Field{"load_inertia", "", "inertia that slow bodies gain per weight of their own that rests on them; 0: none", 0, 1e6},
          s.load_inertia);
    visit(Field{"sleep_after", "s",
                "for how long all that hangs together must lie still to be left alone until something comes; "
                "0: nothing sleeps",
                0, 1e9},
          s.sleep_after);
  }
};

using StepperChoice = std::variant<ReferenceStepperSettings, RealtimeStepperSettings>;

}  // namespace rotule
