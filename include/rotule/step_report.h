#pragma once
// What one step did: a struct, and the list of its fields, which all walk that show a report, hand it on to another language or
// make one of several. A new number is a line in each of them, and what computes it.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace rotule {

/// What one step did.
struct StepReport {
  int solves = 0;
  int iterations = 0;
  int newton_iterations = 0;
  int halvings = 0;
  bool converged = true;
  int shocks = 0;
  int late_shocks = 0;
  int inner_steps = 1;
  int contacts = 0;
  int attempts = 1;
  double energy_gained = 0;  // J
  double joints_open = 0;    // m, rad
  double held_overlap = 0;   // m
  bool cut = false;
  double residual = 0;
  int broken = 0;
  int torn = 0;
  int flowed = 0;
  int asleep = 0;
  int held_back = 0;
  int stopped_along = 0;
  double stopping_energy = 0;  // J
  int slowed = 0;
  double energy_taken = 0;  // J

  /// Whether the last attempt was as good as it should be.
  [[nodiscard]] bool sound() const { return energy_gained == 0 && joints_open == 0; }
};

/// What a number of several steps is: of a yes or no, `most` is whether any had it, `least` whether all had.
enum class Together : std::uint8_t { sum, most, least, last };

template <class Value>
struct ReportField {
  std::string_view key, unit, meaning;
  Value StepReport::*member;
  Together together;
  // Recordings, plots and summaries have it by this label; without one only where their own list names it
  // (`rotule list quantities`).
  std::string_view label = {};
};

inline constexpr std::tuple report_fields{
    ReportField<int>{"solves", "", "constraint systems solved", &StepReport::solves, Together::sum},
    ReportField<int>{"iterations", "", "of iterative solvers", &StepReport::iterations, Together::sum},
    ReportField<int>{"newton_iterations", "", "of an implicit method's equations, over its stages",
                     &StepReport::newton_iterations, Together::sum},
    ReportField<int>{"halvings", "", "times that (part of) the step had to be halved for them to be solved",
                     &StepReport::halvings, Together::sum},
    ReportField<bool>{"converged", "", "whether all solves did", &StepReport::converged, Together::least},
    ReportField<int>{"shocks", "", "of walls, limits and what bounces", &StepReport::shocks, Together::sum},
    ReportField<int>{"late_shocks", "",
                     "whether shocks followed too fast to be located in time, and were left to the end of the step",
                     &StepReport::late_shocks, Together::sum},
    ReportField<int>{"inner_steps", "", "that a method with error control made", &StepReport::inner_steps, Together::sum},
    ReportField<int>{"contacts", "", "points that touch or nearly do, at the end of the step", &StepReport::contacts,
                     Together::last},
    ReportField<int>{"attempts", "", "at a step by impulses, made again where it gained energy or left joints open",
                     &StepReport::attempts, Together::most},
    ReportField<double>{"energy_gained", "J", "that the last attempt still gained though nothing drives the mechanism",
                        &StepReport::energy_gained, Together::most},
    ReportField<double>{"joints_open", "m, rad", "by which the last attempt still left joints open", &StepReport::joints_open,
                        Together::most, "Joints left open"},
    ReportField<double>{"held_overlap", "m", "by which bodies stay in each other because joints hold them there",
                        &StepReport::held_overlap, Together::most, "Overlap held by joints"},
    ReportField<bool>{"cut", "", "whether the recipe's budget ended a solve or a closing before its own end", &StepReport::cut,
                      Together::most},
    ReportField<double>{"residual", "",
                        "relative, the largest of the step's solves by impulses, or unbalanced force of particles' stages",
                        &StepReport::residual, Together::most},
    ReportField<int>{"broken", "", "joints that broke at the end of the step", &StepReport::broken, Together::sum},
    ReportField<int>{"torn", "", "elements that tore at the end of the step", &StepReport::torn, Together::sum},
    ReportField<int>{"flowed", "", "elements that yielded there", &StepReport::flowed, Together::sum},
    ReportField<int>{"asleep", "", "bodies that sleep after the step (docs/realtime.md)", &StepReport::asleep, Together::last},
    ReportField<int>{"held_back", "", "bodies that the real-time stepper stopped where they met what does not move",
                     &StepReport::held_back, Together::sum, "Bodies held back"},
    ReportField<int>{"stopped_along", "", "bodies that stopped with those because joints tie them together",
                     &StepReport::stopped_along, Together::sum, "Bodies stopped along"},
    ReportField<double>{"stopping_energy", "J", "that what joints tie together lost in being stopped, by blows without rebound",
                        &StepReport::stopping_energy, Together::sum, "Energy lost in being stopped"},
    ReportField<int>{"slowed", "", "bodies that the real-time stepper slowed: they had gained energy that nobody gave them",
                     &StepReport::slowed, Together::sum, "Bodies slowed"},
    ReportField<double>{"energy_taken", "J", "of motion that the real-time stepper took from those", &StepReport::energy_taken,
                        Together::sum, "Energy taken"},
};

/// visit(ReportField<int, double or bool>), for each.
template <class Visit>
constexpr void for_each_report_field(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, report_fields);
}

/// Makes one report of those of several steps: `next` came after `sum`.
inline void put_together(StepReport& sum, const StepReport& next) {
  for_each_report_field([&]<class Value>(const ReportField<Value>& field) {
    Value& value = sum.*field.member;
    const Value& other = next.*field.member;
    switch (field.together) {
      case Together::sum:
        if constexpr (!std::is_same_v<Value, bool>) value += other;
        break;
      case Together::most:
        value = std::max(value, other);
        break;
      case Together::least:
        value = std::min(value, other);
        break;
      case Together::last:
        value = other;
    }
  });
}

}  // namespace rotule
