// Expressions of time: values, both derivatives, and what is refused.
#include "model/expression.h"

#include <gtest/gtest.h>
#include <rotule/error.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "support/allocation_counter.h"

namespace rotule {
namespace {

struct Known {
  const char* text;
  std::function<double(double)> value, first, second;
};

TEST(Expressions, ValuesAndDerivativesAreTheAnalyticOnes) {
  using std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt, std::tan;
  constexpr double pi = std::numbers::pi;
  const std::vector<Known> all{
      {"3.5e-1", [](double) { return 0.35; }, [](double) { return 0.0; }, [](double) { return 0.0; }},
      {"2*t - 3", [](double t) { return 2 * t - 3; }, [](double) { return 2.0; }, [](double) { return 0.0; }},
      {"0.5*sin(2*pi*t)", [](double t) { return 0.5 * sin(2 * pi * t); }, [](double t) { return pi * cos(2 * pi * t); },
       [](double t) { return -2 * pi * pi * sin(2 * pi * t); }},
      {"-t^2", [](double t) { return -t * t; }, [](double t) { return -2 * t; }, [](double) { return -2.0; }},
      {"2^3^2/512*t", [](double t) { return t; }, [](double) { return 1.0; }, [](double) { return 0.0; }},
      {"exp(-t)*cos(t)", [](double t) { return exp(-t) * cos(t); }, [](double t) { return -exp(-t) * (cos(t) + sin(t)); },
       [](double t) { return 2 * exp(-t) * sin(t); }},
      {"log(1 + t^2)", [](double t) { return log(1 + t * t); }, [](double t) { return 2 * t / (1 + t * t); },
       [](double t) { return (2 - 2 * t * t) / pow(1 + t * t, 2); }},
      {"sqrt(1+t)", [](double t) { return sqrt(1 + t); }, [](double t) { return 0.5 / sqrt(1 + t); },
       [](double t) { return -0.25 * pow(1 + t, -1.5); }},
      {"tan(t/4)", [](double t) { return tan(t / 4); }, [](double t) { return 0.25 / pow(cos(t / 4), 2); },
       [](double t) { return 0.125 * tan(t / 4) / pow(cos(t / 4), 2); }},
      {"1/(2+t)", [](double t) { return 1 / (2 + t); }, [](double t) { return -pow(2 + t, -2); },
       [](double t) { return 2 * pow(2 + t, -3); }},
      {"(1+t)^(t)", [](double t) { return pow(1 + t, t); }, [](double t) { return pow(1 + t, t) * (log(1 + t) + t / (1 + t)); },
       [](double t) {
         const double s = log(1 + t) + t / (1 + t);
         return pow(1 + t, t) * (s * s + 1 / (1 + t) + 1 / pow(1 + t, 2));
       }},
      {"abs(sin(t)) + max(t, 2) + min(t, -1)", [](double t) { return std::abs(sin(t)) + std::max(t, 2.0) - 1; },
       [](double t) { return (sin(t) < 0 ? -cos(t) : cos(t)) + (t > 2 ? 1 : 0); },
       [](double t) { return sin(t) < 0 ? sin(t) : -sin(t); }},
  };
  std::mt19937 random(7);
  std::uniform_real_distribution<double> time(0.01, 4);
  for (const Known& known : all) {
    SCOPED_TRACE(known.text);
    const Expression expression(known.text);
    for (int i = 0; i < 200; ++i) {
      const double t = time(random);
      const TimeJet got = expression.at(t);
      const auto near = [](double want) { return 1e-13 * (1 + std::abs(want)); };
      EXPECT_NEAR(got.value, known.value(t), near(known.value(t)));
      EXPECT_NEAR(got.first, known.first(t), 10 * near(known.first(t)));
      EXPECT_NEAR(got.second, known.second(t), 100 * near(known.second(t)));
    }
  }
}

TEST(Expressions, PowersOfZeroHaveDerivativesWhereTheyExist) {
  const TimeJet square = Expression("t^2").at(0), cube = Expression("(t-1)^3").at(1), line = Expression("t^1").at(0);
  EXPECT_EQ(square.value, 0);
  EXPECT_EQ(square.first, 0);
  EXPECT_EQ(square.second, 2);
  EXPECT_EQ(cube.second, 0);
  EXPECT_EQ(line.first, 1);
  EXPECT_EQ(Expression("sqrt(0*t)").at(1).first, 0);
}

TEST(Expressions, WhatMakesNoSenseIsRefusedWithItsPlace) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      const Expression expression(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(refusal("2 * sn(t)"), "unknown name \"sn\"; did you mean \"sin\"?, at character 5, behind >>> in \"2 * >>>sn(t)\"");
  for (const auto& [text, part] :
       std::vector<std::pair<std::string, std::string>>{{"", "is missing"},
                                                        {"1 +", "is missing"},
                                                        {"1 2", "not expected"},
                                                        {"(1", "')' is missing for what begins at character 1"},
                                                        {"sin t", "'(' is missing"},
                                                        {"max(1)", "',' is missing"},
                                                        {"1/0", "finite"},
                                                        {"10^999", "finite"},
                                                        {"1e999", "beyond"},
                                                        {"log(0)", "finite"},
                                                        {"sqrt(-1)", "finite"},
                                                        {"t @ 2", "not expected"},
                                                        {"\xff\xfe", "not expected"},
                                                        {std::string("t\0t", 3), "not expected"},
                                                        {std::string(100000, '('), "nested"},
                                                        {std::string(100000, '-') + "t", "nested"},
                                                        {"2^" + std::string(1000, '2') + "^2^2^2", "beyond"}}) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(part), std::string::npos) << text.substr(0, 40) << " -> " << said;
    EXPECT_NE(said.find("at character"), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
    EXPECT_LT(said.size(), 300u);
  }
  std::string long_sum = "t";
  for (int i = 0; i < 6000; ++i) long_sum += "+t";
  EXPECT_NE(refusal(long_sum).find("terms"), std::string::npos);
}

TEST(Expressions, NoTextHoweverHostileDoesMoreThanRefuse) {
  std::mt19937 random(11);
  const std::string letters = "t()+-*/^,.0123456789 sincoexplgqrabmx\n\"\\";
  std::uniform_int_distribution<std::size_t> letter(0, letters.size() - 1), length(0, 60);
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::size_t n = length(random); n-- > 0;) text += letters[letter(random)];
    try {
      static_cast<void>(Expression(text).at(0.5));
      ++taken;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(taken, 0);
}

TEST(Expressions, NestingAsDeepAsAllowedFitsTheStack) {
  int levels = 0;
  for (std::string inner = "t"; levels < 100; ++levels, inner = "1+t*max(t," + inner + ")") try {
      EXPECT_TRUE(std::isfinite(Expression(inner).at(0.5).value));
    } catch (const Error&) {
      break;
    }
  EXPECT_EQ(levels, Expression::most_levels + 1);
}

TEST(Expressions, EvaluationAllocatesNothing) {
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  const Expression expression("0.5*sin(2*pi*t)^2 + max(exp(-t), 0.1)");
  const std::size_t before = testing::allocations();
  double sum = 0;
  for (int i = 0; i < 100; ++i) sum += expression.at(0.01 * i).second;
  EXPECT_EQ(testing::allocations(), before);
  EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace rotule
