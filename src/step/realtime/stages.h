#pragma once
// The loops of a step over threads (base/gang.h). Contacts go colour by colour: blocks of one colour have no moving body in
// common, so that it does not matter who takes which, nor when. What a loop finds is written down part by part and put together
// in the order of the parts: lists are those of one thread, and with them all that follows.
#include <span>
#include <vector>

#include "base/gang.h"
#include "step/realtime/kernels.h"

namespace rotule::realtime {

class Stages {
 public:
  explicit Stages(int threads) : gang(threads) {}

  Gang gang;

  [[nodiscard]] int threads() const { return gang.threads(); }
  [[nodiscard]] bool alone() const { return gang.threads() == 1; }

  /// work(first, last, worker) for parts of 0 ... count - 1 of at least `least`, small enough for threads to share them evenly.
  template <class Work>
  void in_parts(int count, int least, const Work& work) {
    if (count < 2 * least) {
      if (count > 0) work(0, count, 0);
      return;
    }
    const int size = part_size(count, least), parts = (count + size - 1) / size;
    gang.run(parts, [&](int part, int worker) { work(part * size, std::min((part + 1) * size, count), worker); });
  }
  /// work(rows) for parts of them.
  template <class Work>
  void over_rows(std::span<const int> rows, const Work& work) {
    constexpr int least_rows = 8;
    in_parts(static_cast<int>(rows.size()), least_rows, [&](int first, int last, int) {
      work(rows.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)));
    });
  }
  /// work(first, last, list) appends to a list; `out` gets all, in order.
  template <class T, class Work>
  void gather(int count, int least, std::vector<std::vector<T>>& found, std::vector<T>& out, const Work& work) {
    if (alone() || count < 2 * least) {
      if (count > 0) in_parts(count, least, [&](int first, int last, int) { work(first, last, out); });
      return;
    }
    const int size = part_size(count, least), parts = (count + size - 1) / size;
    if (static_cast<int>(found.size()) < parts) found.resize(static_cast<std::size_t>(parts));
    gang.run(parts, [&](int part, int) {
      std::vector<T>& list = found[static_cast<std::size_t>(part)];
      list.clear();
      work(part * size, std::min((part + 1) * size, count), list);
    });
    for (int part = 0; part < parts; ++part) {
      const std::vector<T>& list = found[static_cast<std::size_t>(part)];
      out.insert(out.end(), list.begin(), list.end());
    }
  }

  /// One sweep over all contacts; those of a step begin with its preparation.
  void sweep(Pass pass, ContactSlots& slots, BodyLines& bodies, const SweepSettings& settings);
  void find_moved(ContactSlots& slots, const BodyLines& bodies, std::vector<int>& moved);
  void find_pressing(ContactSlots& slots, std::vector<Pressing>& changed);
  /// The worst law of contacts after a last substep of h: of all, or where there are many of an eighth, another in each step.
  double judge(ContactSlots& slots, BodyLines& bodies, float h, std::int64_t step);
  /// What contacts did in a substep, or bouncing at the end.
  ContactWork work(ContactSlots& slots, const BodyLines& bodies, bool bounced);
  /// False where a number is no longer finite.
  bool finish(BodyLines& bodies, float h, State& s);

  std::vector<std::vector<int>> lists;  // of gather

 private:
  [[nodiscard]] int part_size(int count, int least) const {
    constexpr int parts_each = 4;
    if (alone()) return count;
    return std::max(least, (count + parts_each * threads() - 1) / (parts_each * threads()));
  }
  void list_blocks(const ContactSlots& slots);

  std::vector<BlockRange> ranges_, colours_;
  std::vector<std::vector<Pressing>> pressing_;
  std::vector<ContactWork> work_;
  std::vector<float> worst_;
};

}  // namespace rotule::realtime
