#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace rotule {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::size_t end = std::min(longest, text.size());
  for (int k = 0; k < 3 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80; ++k)
    --end;  // not amid a character
  std::string escaped;
  for (const char c : text.substr(0, end)) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fmt::format("\"{}{}\"", one_line(escaped), end < text.size() ? "..." : "");
}

int edit_distance(std::string_view a, std::string_view b) {
  const std::size_t n = b.size();
  std::vector<int> before(n + 1), last(n + 1), row(n + 1);
  for (std::size_t j = 0; j <= n; ++j) last[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= n; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[n];
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t longest = 64;  // beyond it nothing is a slip of the finger, and the distance would cost time
  if (word.size() > longest) return std::nullopt;
  std::optional<std::string> best;
  int best_distance = 1 + std::max(1, static_cast<int>(word.size() + 1) / 3);
  for (const std::string& candidate : candidates) {
    if (candidate.size() > longest) continue;
    const int distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (std::find(candidates.begin(), candidates.end(), lower) != candidates.end())
    return fmt::format("did you mean {}?", in_quotes(lower));
  if (const auto near = nearest(word, candidates)) return fmt::format("did you mean {}?", in_quotes(*near));
  // Of longer names a part is what is remembered: "pos", "euler".
  std::vector<std::string_view> with_it;
  constexpr std::size_t least = 3, few = 6;
  if (word.size() >= least)
    for (const std::string& candidate : candidates)
      if (candidate.find(word) != std::string::npos) with_it.push_back(candidate);
  if (!with_it.empty() && with_it.size() <= few) {
    std::string out = "did you mean ";
    for (std::size_t i = 0; i < with_it.size(); ++i)
      out += (i == 0 ? "" : i + 1 == with_it.size() ? " or " : ", ") + in_quotes(with_it[i]);
    return out + "?";
  }
  constexpr std::size_t most = 20;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, candidates.size()); ++i) out += (i > 0 ? ", " : "") + candidates[i];
  if (candidates.size() > most) out += ", ...";
  return candidates.empty() ? "there are none" : "known are: " + out;
}

std::string shortest(double value) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end};
}

std::optional<double> to_double(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<long long> to_integer(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace rotule
