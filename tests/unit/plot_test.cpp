// Plots: what is drawn is what is in the numbers, and names find what they name.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "record/html_page.h"
#include "record/quantities.h"
#include "record/svg_plot.h"
#include "support/files.h"
#include "support/frames.h"

namespace rotule {
namespace {

using Json = nlohmann::json;
using testing::Folder;

Plot one_line(std::vector<double> y, bool logarithmic = false) {
  Plot plot{.title = "a <b> & c", .x = {"time [s]"}, .y = {"y [m]", logarithmic}, .series = {{"y", {}, std::move(y)}}};
  for (std::size_t i = 0; i < plot.series[0].y.size(); ++i) plot.series[0].x.push_back(0.01 * static_cast<double>(i));
  return plot;
}

Json data_of(const std::string& figure) {
  const std::string tag = "<script type=\"application/json\">";
  const std::size_t from = figure.find(tag) + tag.size();
  return Json::parse(figure.substr(from, figure.find("</script>", from) - from));
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t out = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++out;
  return out;
}

/// Into how many pieces the line falls.
std::size_t pieces(const std::string& svg) {
  const std::string tag = "class=\"line c0\" d=\"";
  const std::size_t from = svg.find(tag) + tag.size();
  return count(svg.substr(from, svg.find('"', from) - from), "M");
}

TEST(Plot, AMillionPointsStaySmallAndNoSpikeIsLost) {
  std::vector<double> y(1'000'000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(1e-4 * static_cast<double>(i));
  y[123'456] = 17;
  y[777'777] = -23;
  const std::string figure = to_figure(one_line(y));
  EXPECT_LT(figure.size(), 300'000u);
  const std::vector<double> drawn = data_of(figure)["series"][0]["y"];
  EXPECT_EQ(*std::max_element(drawn.begin(), drawn.end()), 17);
  EXPECT_EQ(*std::min_element(drawn.begin(), drawn.end()), -23);
  EXPECT_EQ(drawn.front(), y.front());
  EXPECT_EQ(drawn.back(), y.back());
}

TEST(Plot, FewPointsAreAllThereWhereTheyBelong) {
  const std::string figure = to_figure(one_line({1, 3, 2}));
  const Json data = data_of(figure);
  EXPECT_EQ(data["series"][0]["y"], (std::vector<double>{1, 3, 2}));
  // The script and the picture agree on where a value is.
  const auto pixel = [](const Json& a, double v) {
    return a["from"].get<double>() + (v - a["low"].get<double>()) / (a["high"].get<double>() - a["low"].get<double>()) *
                                         (a["to"].get<double>() - a["from"].get<double>());
  };
  char start[64];
  std::snprintf(start, sizeof start, "M%.1f %.1fL", pixel(data["x"], 0), pixel(data["y"], 1));
  EXPECT_NE(figure.find(start), std::string::npos) << start;
}

TEST(Plot, GapsWhereThereIsNothingToShow) {
  const double nan = std::nan("");
  // Not a number, and zero on a logarithmic axis, break the line.
  EXPECT_EQ(pieces(to_svg(one_line({1, 10, nan, 5, 6, 0, 2, 3}, true))), 3u);
  EXPECT_EQ(pieces(to_svg(one_line({1, 10, 5, 6, 2, 3}, true))), 1u);
  EXPECT_THROW(static_cast<void>(to_svg(one_line({nan, nan}))), Error);
  EXPECT_THROW(static_cast<void>(to_svg(one_line({0, -1}, true))), Error);
  Plot uneven = one_line({1, 2});
  uneven.series[0].x.pop_back();
  EXPECT_THROW(static_cast<void>(to_svg(uneven)), Error);
}

// Numbers that differ in the ninth digit: the ticks must differ too, and say what they leave out.
TEST(Plot, TicksOfNearlyEqualNumbers) {
  const std::string svg = to_svg(one_line({1234.5 + 1e-6, 1234.5 + 2e-6, 1234.5 + 4e-6}));
  EXPECT_NE(svg.find("+ 1234.5"), std::string::npos);
  EXPECT_NE(svg.find("10<tspan dy=\"-5\" font-size=\"9\">−6</tspan>"), std::string::npos);
  EXPECT_NE(to_svg(one_line({0, 3e7})).find(">10<"), std::string::npos);  // 10, 20, 30 times a million
  EXPECT_NO_THROW(static_cast<void>(to_svg(one_line({2.5, 2.5, 2.5}))));  // flat
  EXPECT_NO_THROW(static_cast<void>(to_svg(one_line({0, 0}))));
  EXPECT_NO_THROW(static_cast<void>(to_svg(one_line({1e300, -1e300}))));
}

TEST(Plot, TextIsText) {
  const std::string svg = to_svg(one_line({1, 2}));
  EXPECT_NE(svg.find("a &lt;b&gt; &amp; c"), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
  Plot plot = one_line({1, 2});
  plot.series[0].name = "</script><script>alert(1)</script>";
  const std::string figure = to_figure(plot);
  EXPECT_EQ(count(figure, "</script>"), 1u);
  EXPECT_EQ(data_of(figure)["series"][0]["name"], plot.series[0].name);
  EXPECT_EQ(markup_escaped("\"<&>\x01"), "&quot;&lt;&amp;&gt; ");
}

/// Two bodies, one with dots in its name, and two joints; every number is different.
class Quantities : public ::testing::Test {
 protected:
  Quantities() : folder_("quantities") {
    TrajectoryWriter writer(folder_.path / "run.h5", "{\"rotule\": 1}", Recipe{}, {"arm", "a.b"}, {"elbow", "wrist"});
    double next = 0;
    for (int i = 0; i < 3; ++i) {
      TrajectoryFrame f;
      f.number("time") = 0.5 * i;
      for (auto* v : {&f["position"], &f["velocity"], &f["angular_velocity"], &f["joint_force"], &f["joint_torque"]})
        for (int k = 0; k < 6; ++k) v->push_back(next += 1);
      for (int k = 0; k < 8; ++k) f["orientation"].push_back(next += 1);
      f["joint_error"] = {0, next += 1};
      f.number("kinetic_energy") = next += 1;
      f.number("potential_energy") = next += 1;
      f.number("work_motors") = next += 1;
      testing::fill_with_zeros(f, 2, 2);
      frames_.push_back(f);
      writer.append(f);
    }
    writer.finish();
  }
  [[nodiscard]] Plot plot(const std::string& name) const {
    return plot_quantity(TrajectoryReader(folder_.path / "run.h5"), name);
  }
  [[nodiscard]] std::string refusal(const std::string& name) const {
    try {
      static_cast<void>(plot(name));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  Folder folder_;
  std::vector<TrajectoryFrame> frames_;
};

TEST_F(Quantities, AreTheNumbersOfTheRecording) {
  const Plot z = plot("arm.position.z");
  ASSERT_EQ(z.series.size(), 1u);
  EXPECT_EQ(z.y.label, "position z [m]");
  const Plot dotted = plot("a.b.velocity");
  ASSERT_EQ(dotted.series.size(), 3u);
  const Plot speed = plot("*.speed"), force = plot("wrist.force.magnitude"), energy = plot("energy");
  ASSERT_EQ(speed.series.size(), 2u);
  EXPECT_EQ(speed.series[1].name, "a.b");
  const Plot error = plot("joint_error");
  ASSERT_EQ(error.series.size(), 2u);
  EXPECT_TRUE(error.y.logarithmic);
  EXPECT_EQ(error.series[0].name, "wrist");  // the worst first
  for (std::size_t i = 0; i < 3; ++i) {
    const TrajectoryFrame& f = frames_[i];
    EXPECT_EQ(z.series[0].x[i], f.number("time"));
    EXPECT_EQ(z.series[0].y[i], f["position"][2]);
    EXPECT_EQ(dotted.series[1].y[i], f["velocity"][4]);
    EXPECT_EQ(plot("a.b.orientation.w").series[0].y[i], f["orientation"][4]);
    EXPECT_NEAR(speed.series[1].y[i], Eigen::Map<const Vec3>(&f["velocity"][3]).norm(), 1e-12);
    EXPECT_NEAR(force.series[0].y[i], Eigen::Map<const Vec3>(&f["joint_force"][3]).norm(), 1e-12);
    EXPECT_EQ(energy.series[2].y[i], f.number("kinetic_energy") + f.number("potential_energy"));
    EXPECT_EQ(error.series[0].y[i], f["joint_error"][1]);
  }
}

TEST_F(Quantities, UnknownNamesAreToldWhatIsKnown) {
  EXPECT_EQ(refusal("enrgy").rfind("unknown quantity \"enrgy\"; did you mean \"energy\"? known are: energy, ", 0), 0u);
  for (const QuantityName& known : quantity_names()) EXPECT_NE(refusal("?").find(known.name), std::string::npos) << known.name;
  EXPECT_NE(refusal("amr.speed").find("has no body \"amr\"; did you mean \"arm\"?"), std::string::npos);
  EXPECT_NE(refusal("elbow.speed").find("has no body"), std::string::npos);
  EXPECT_NE(refusal("arm.force").find("has no joint"), std::string::npos);
  EXPECT_NE(refusal("x*.speed").find("has no body"), std::string::npos);
  // All that is named by itself can be plotted.
  for (const QuantityName& known : quantity_names())
    if (known.name.find('.') == std::string::npos) {
      EXPECT_NO_THROW(static_cast<void>(plot(known.name))) << known.name;
    }
}

}  // namespace
}  // namespace rotule
