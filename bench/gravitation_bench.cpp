// Gravitation between all pairs (B2): how many pairs per second, per thread. Every unordered pair counts once, though its two
// halves are worked out separately.
#include <fmt/format.h>

#include <cmath>

#include "bench/report.h"
#include "dynamics/forces/gravitation.h"

using namespace rotule;

namespace {

Attractors cloud(int n) {
  Attractors out;
  out.resize(n);
  for (int i = 0; i < n; ++i) {
    out.x[i] = std::sin(12.9898 * i);
    out.y[i] = std::sin(78.233 * i + 1);
    out.z[i] = std::sin(37.719 * i + 2);
    out.mass[i] = 1 + 0.5 * std::sin(i);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options = bench::parse(argc, argv);
  std::string rows;
  if (!options.json) fmt::print("gravitation on {}\n{:>10} {:>22}\n", bench::machine(), "particles", "million pairs/s/core");
  for (const int n : {100, 1000, 10'000}) {
    Attractors a = cloud(n);
    std::vector<double> rates;
    for (int repetition = 0; repetition < 7; ++repetition) {
      const double start = bench::cpu_seconds();
      int rounds = 0;
      double taken = 0;
      do {
        attract(a, 1, 0.01, 1);
        ++rounds;
        taken = bench::cpu_seconds() - start;
      } while (taken < 0.1);
      rates.push_back(0.5e-6 * n * (n - 1.0) * rounds / taken);
    }
    const double rate = bench::median(rates);
    rows += fmt::format(R"({}    {{"particles": {}, "million_pairs_per_second_per_core": {:.5g}}})", rows.empty() ? "" : ",\n", n,
                        rate);
    if (!options.json) fmt::print("{:>10} {:>22.1f}\n", n, rate);
  }
  publish(options, fmt::format("{{\n  \"machine\": \"{}\",\n  \"rows\": [\n{}\n  ]\n}}", bench::machine(), rows));
}
