#pragma once
// Runge-Kutta with error control: as many steps inside as the tolerance needs, each as long as the last estimates allow
// (PI control: Gustafsson 1991; Hairer, Norsett and Wanner, Solving ODEs I, II.4). A step whose estimate is above the tolerance
// is made again, shorter. Events (a function of the state falling below zero) are located on the continuous extension; the step
// is then made again up to that instant, so that the state there is as accurate as any.
//
// Stiff motions are followed with steps at the edge of stability: right, but slow. Where even the smallest step errs by more than
// the tolerance, it is taken and reported; where numbers overflow in it, it throws. So are the steps by which the rest is made
// once the budget of time is spent: ten times more may be wrong in each of them than in the last.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/integrators_adaptive.h>

#include <cmath>
#include <limits>
#include <string>

#include "base/budget.h"
#include "integrate/adaptive/embedded_pair.h"
#include "integrate/adaptive/pace.h"
#include "integrate/adaptive/radau5.h"
#include "integrate/adaptive/root.h"

namespace rotule {

/// What error control asks of a mechanism besides the four verbs.
template <class M>
concept AdaptiveMechanism = Mechanism<M> && requires(M m, typename M::State& s, const VecX& x, double t) {
  m.begin_inner_step(s, t);                               // before every step inside
  m.settle(s, t);                                         // after it: positions and velocities back onto the constraints
  m.error_scale(s, x, t, std::declval<Pace&>());          // how large an error is one, at this state with this acceleration
  { m.error_norm(x, x) } -> std::convertible_to<double>;  // errors of sigma and u in that unit
  { m.longest_step(s) } -> std::convertible_to<double>;
  m.unconverged_step();  // a step was taken whose error is too large
};

/// What it asks where things happen on the way.
template <class M>
concept EventMechanism = AdaptiveMechanism<M> && requires(M m, typename M::State& s, double t, double h) {
  { m.has_events() } -> std::convertible_to<bool>;
  { m.event(s, h) } -> std::convertible_to<double>;  // below zero where something is to be done; h is a time to scale rates with
  m.strike(s, t);                                    // does it
  m.late_event();                                    // events came too fast to be located: the rest waits for the end
};

/// The steps of one run, written down to be made again: error control chooses steps by leaps, so that what it ends at is no
/// smooth function of where it began; with the same steps it is.
struct StepPlan {
  std::vector<double> steps;  // s
  bool written = false;       // whether they are to be made; else written down
  std::size_t next = 0;
};

/// What is carried from call to call, and, but for the plan, saved in snapshots.
struct AdaptiveMemory {
  double step = 0;  // s, to be tried next; 0: not known yet
  double previous_error = 1e-4;
  bool knows_acceleration = false;
  VecX acceleration;           // at the present state
  double previous_step = 0;    // s, for methods that look at two
  StagePolynomial polynomial;  // of methods with coupled stages
  Pace pace;
  StepPlan* plan = nullptr;  // where somebody keeps one

  void forget() {
    knows_acceleration = false;
    previous_step = polynomial.step = 0;
  }
};

/// How a method makes one step: by an embedded pair, or in a way of its own.
template <class M, class Tableau>
struct StepOf {
  using type = EmbeddedPair<M, Tableau>;
};
template <class M, class Tableau>
requires requires { typename Tableau::template Step<M>; }
struct StepOf<M, Tableau> {
  using type = typename Tableau::template Step<M>;
};

template <AdaptiveMechanism M, class Tableau>
class Adaptive {
 public:
  using State = typename M::State;

  explicit Adaptive(const ErrorControl& asked) : control(asked) {}

  void advance(M& m, State& s, double t, double h) {
    const double end = t + h;
    if constexpr (coupled) pair_.forget();  // what a step leaves to the next is saved in snapshots, matrices are not
    bool locating = has_events(m);
    double last_event = -std::numeric_limits<double>::infinity();
    if (locating && event(m, s, h) < 0) locating = strike(m, s, t, h);

    while (t < end) {
      m.begin_inner_step(s, t);
      begin(m, s, t, end - t);
      const double made = make_step(m, s, t, end - t);
      double share = locating ? first_event(m, s, made) : 1;
      bool reached = share < 1;
      if (reached) {
        share = remake(m, s, t, made, share);
        memory.step = std::max(memory.step, made);
        // Where it is not, the next step will get there; unless what is left is rounding.
        if constexpr (coupled) reached = event(m, pair_.end(), h) < 0 || share < 1e-9;
      }
      pair_.book_attempt(m);
      take_end(s);
      t = share < 1 ? t + share * made : made == end - t ? end : t + made;
      m.settle(s, t);
      if (reached) {
        locating = strike(m, s, t, h) && t - last_event >= control.min_event_interval;
        last_event = t;
      }
    }
    if (has_events(m) && !locating) finish_events(m, s, t, h);
  }

  // For who locates events in a way of their own: one step inside, made but not taken; the same, shorter; and where it leads.
  double make_inner_step(M& m, State& s, double t, double remaining) {
    m.begin_inner_step(s, t);
    begin(m, s, t, remaining);
    return make_step(m, s, t, remaining);
  }
  void remake_inner_step(M& m, const State& s, double t, double step) {
    if constexpr (coupled)
      pair_.attempt(m, s, t, step, norm_, share_of_step());
    else
      pair_.attempt(m, s, t, step, norm_);
  }
  [[nodiscard]] State& inner_end() { return pair_.end(); }
  void book_inner_step(M& m) { pair_.book_attempt(m); }

  ErrorControl control;
  AdaptiveMemory memory;
  std::int64_t steps = 0, rejected = 0;  // made so far
  /// Of Newton's method, so far.
  [[nodiscard]] std::int64_t iterations() const {
    if constexpr (coupled)
      return pair_.all_iterations;
    else
      return 0;
  }

 private:
  struct Norm {
    M* m = nullptr;
    double operator()(const VecX& sigma, const VecX& u) const { return m->error_norm(sigma, u); }
  };

  /// Whether stages are solved together, by Newton's method.
  static constexpr bool coupled = requires { typename Tableau::template Step<M>; };
  /// What one step may take of the tolerance: errors of many add up.
  [[nodiscard]] double share_of_step() const {
    if constexpr (coupled)
      return Tableau::share(control.relative_tolerance);
    else
      return Tableau::share;
  }

  static bool has_events(M& m) {
    if constexpr (EventMechanism<M>)
      return m.has_events();
    else
      return false;
  }
  static double event(M& m, const State& s, double h) {
    if constexpr (EventMechanism<M>)
      return m.event(s, h);
    else
      return 1;
  }
  /// Whether it helped.
  bool strike(M& m, State& s, double t, double h) {
    if constexpr (EventMechanism<M>) m.strike(s, t);
    memory.forget();
    return event(m, s, h) >= 0;
  }
  void finish_events(M& m, State& s, double t, double h) {
    if constexpr (EventMechanism<M>) m.late_event();
    if (event(m, s, h) < 0) strike(m, s, t, h);
  }

  /// The first acceleration, and the first step ever.
  void begin(M& m, State& s, double t, double remaining) {
    norm_.m = &m;
    if (!memory.knows_acceleration || memory.acceleration.size() != s.u.size()) {
      m.accelerations(t, s, memory.acceleration);
      memory.knows_acceleration = true;
    }
    m.error_scale(s, memory.acceleration, t, memory.pace);
    const bool first = !(memory.step > 0);
    if (first) memory.step = first_step(m, s, t);
    begin_pair(m, s, t, !first);
    const auto moves = [](const VecX& v) { return (v.array() != 0).any(); };
    if (memory.pace.still() && !moves(s.u) && moves(memory.acceleration)) find_pace(m, s, t, remaining);
  }
  void begin_pair(M& m, const State& s, double t, bool evaluated) {
    if constexpr (coupled)
      pair_.begin(s, memory.acceleration, memory.polynomial, evaluated);
    else
      pair_.begin(m, s, t, memory.acceleration);
  }

  /// What has not moved yet does not say how fast it will be: where a trial step leads to does, once one is short enough to be
  /// believed.
  void find_pace(M& m, const State& s, double t, double remaining) {
    double step = std::min({memory.step, remaining, control.max_step, m.longest_step(s)});
    bool believed = false;
    for (int k = 0; k < 20 && !believed; ++k) {
      believed = attempt(m, s, t, step) <= share_of_step();
      if (!believed) step = std::max(0.2 * step, control.min_step);
      if constexpr (requires { m.reject_trial(); }) m.reject_trial();
    }
    if (believed) m.error_scale(pair_.end(), memory.acceleration, t, memory.pace);
    memory.step = step;
    begin_pair(m, s, t, false);
  }

  /// A step whose error would be a hundredth of the tolerance, judged by a trial step of Euler's (Hairer, Norsett and Wanner,
  /// II.4).
  double first_step(M& m, const State& s, double t) {
    rate_ = s.u;
    const double speed = m.error_norm(rate_, memory.acceleration);  // tolerances per second
    const double trial = speed > 0 ? std::min(0.01 / (control.relative_tolerance * speed), m.longest_step(s)) : 1e-6;
    trial_ = s;
    sigma_ = trial * s.u;
    m.displace(s, sigma_, trial_);
    trial_.u = s.u + trial * memory.acceleration;
    try {
      m.accelerations(t + trial, trial_, change_);
    } catch (const Error&) {
      return 1e-3 * trial;
    }
    change_ -= memory.acceleration;
    rate_ = trial_.u - s.u;
    const double bend = m.error_norm(rate_, change_) / trial;
    const double largest = std::max(bend, speed);
    if (!(largest > 0) || !std::isfinite(largest)) return trial;
    return std::min(100 * trial, std::pow(0.01 * share_of_step() / largest, 1.0 / (Tableau::order)));
  }

  /// The error of a trial step; infinite where its stages leave the numbers, or what the mechanism can solve.
  double attempt(M& m, const State& s, double t, double step) {
    reason_.clear();
    try {
      if constexpr (coupled)
        return pair_.attempt(m, s, t, step, norm_, share_of_step());
      else
        return pair_.attempt(m, s, t, step, norm_);
    } catch (const Error& error) {
      reason_ = error.what();
      return std::numeric_limits<double>::infinity();
    }
  }

  /// Tries until the error is small enough; returns the length of the step that was made, at most `remaining`.
  double make_step(M& m, const State& s, double t, double remaining) {
    StepPlan* const plan = memory.plan;
    if (plan && plan->written && plan->next < plan->steps.size()) {
      const double planned = std::min(plan->steps[plan->next++], remaining);
      if (std::isfinite(attempt(m, s, t, planned))) {
        ++steps;
        return planned;
      }
    }
    const double longest = std::min(control.max_step, m.longest_step(s));
    const double wanted = std::max(std::min(memory.step, longest), control.min_step);
    // The last two steps before the end are made alike, rather than a long and a tiny one.
    double step = wanted >= remaining * (1 - 1e-10) ? remaining : 2 * wanted > remaining ? remaining / 2 : wanted;
    step = std::min(step, remaining);
    bool again = false;
    constexpr double growth_of_leniency = 10;
    for (;;) {
      leniency_ = Budget::spent() ? growth_of_leniency * leniency_ : 1;
      // Errors of many steps add up: one may take only its share.
      const double error = attempt(m, s, t, step) / (leniency_ * share_of_step());
      const bool smallest = step <= control.min_step || t + 0.1 * step == t;
      if (!std::isfinite(error)) {
        if (smallest)
          throw reason_.empty() ? Error("error control", "no step is small enough: the motion is no longer a number")
                                : Error(reason_);
        step = std::max((coupled ? 0.5 : 0.1) * step, control.min_step);
      } else if (error <= 1 || smallest) {
        if (error > 1 || leniency_ > 1) m.unconverged_step();
        const double factor = next_over_this(std::max(error, 1e-10), step, again);
        memory.previous_error = std::max(error, coupled ? 1e-2 : 1e-4);
        if constexpr (coupled) memory.previous_step = step;
        // A step cut short by the end says nothing against the one that was wanted.
        memory.step = step < wanted && !again ? std::max(wanted, factor * step) : factor * step;
        ++steps;
        if (plan && !plan->written) plan->steps.push_back(step);
        require_progress(step, remaining);
        return step;
      } else {
        step = std::max(step * std::max(0.2, 0.9 * std::pow(error, -1.0 / Tableau::order)), control.min_step);
      }
      if constexpr (requires { m.reject_trial(); }) m.reject_trial();
      again = true;
      ++rejected;
    }
  }

  /// Absurd speeds and stiffnesses would take years: said once it is certain, and not left to whoever waits. Whether it is does
  /// not depend on the clock.
  void require_progress(double step, double remaining) {
    constexpr double most_steps = 1e9;
    constexpr int certain = 1000;
    endless_ = remaining > most_steps * step ? endless_ + 1 : 0;
    if (endless_ < certain) return;
    endless_ = 0;
    throw Error("error control",
                fmt::format("the tolerance asks for steps of {:.2g} s, {:.1g} of them to the end of this step of {:.2g} s; take "
                            "a shorter one, or look for absurd speeds and stiffnesses",
                            step, remaining / step, remaining));
  }

  /// How long the next step may be over the one that was made with this error.
  [[nodiscard]] double next_over_this(double error, double step, bool again) const {
    if constexpr (coupled) {
      const double factor = std::clamp(
          Tableau::predict(error, step, memory.previous_error, memory.previous_step, pair_.iterations()), 0.2, again ? 1.0 : 8.0);
      // A little more would cost new factors.
      return pair_.keeps_matrix() && factor >= 1 && factor <= 1.2 ? 1.0 : factor;
    } else {
      const double factor = 0.9 * std::pow(error, -Tableau::exponent) * std::pow(memory.previous_error, Tableau::memory);
      return std::clamp(factor, 0.2, again ? 1.0 : 8.0);
    }
  }

  void take_end(State& s) {
    if constexpr (coupled) {
      memory.knows_acceleration = false;
      pair_.keep(memory.polynomial);
    } else {
      memory.knows_acceleration = pair_.knows_end();
      if (memory.knows_acceleration) memory.acceleration = pair_.known_end_acceleration();
    }
    std::swap(s, pair_.end());
  }

  /// Makes the step again, up to the event after this share of it; returns the share that was made.
  double remake(M& m, const State& s, double t, double made, double share) {
    if constexpr (coupled) {
      // The polynomial between is of lower order than the end: look again on shorter ones, whose ends come close.
      constexpr int most_looks = 4;
      for (int k = 0; k < most_looks; ++k) {
        if (!std::isfinite(attempt(m, s, t, share * made))) throw Error("error control", "the step up to an event is not solved");
        const double part = first_event(m, s, share * made);
        if (part > 1 - 1e-12) break;
        if (k + 1 < most_looks) share *= part;
      }
    } else {
      pair_.attempt(m, s, t, share * made, norm_);
    }
    return share;
  }

  /// The share of the step after which the event function falls below zero; 1 where it does not. Between nine points it may dip
  /// below and come back unseen.
  double first_event(M& m, const State& s, double h) {
    constexpr int pieces = 8;
    double before = 0, f_before = event(m, s, h);
    for (int k = 1; k <= pieces; ++k) {
      const double theta = static_cast<double>(k) / pieces;
      const double f = event_at(m, s, theta, h);
      if (f < 0) {
        const auto root =
            bracket_root([&](double x) { return event_at(m, s, x, h); }, before, std::max(f_before, 0.0), theta, f, 1e-13);
        return std::max(root.second, 1e-12);
      }
      before = theta;
      f_before = f;
    }
    return 1;
  }
  double event_at(M& m, const State& s, double theta, double h) {
    if (theta == 1) return event(m, pair_.end(), h);
    pair_.interpolate(m, s, theta, trial_);
    return event(m, trial_, h);
  }

  typename StepOf<M, Tableau>::type pair_;
  Norm norm_;
  State trial_;
  VecX rate_, change_, sigma_;
  int endless_ = 0;      // steps in a row of which the rest would take too many
  double leniency_ = 1;  // times the tolerance
  std::string reason_;   // why the last attempt could not be made, where somebody said so
};

}  // namespace rotule
