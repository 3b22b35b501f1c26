#pragma once
// The page of `rotule study`: tables 3.1 to 3.6 and figures 3.2 to 3.12 and A III of the source study (D9, D10), ours beside its
// own.
#include <string>
#include <utility>
#include <vector>

#include "record/svg_plot.h"
#include "tuning_summary.h"

namespace rotule::app {

struct SceneStudy {
  std::string scene;
  std::vector<FrameRow> rows;
  TuningSummary summary;
  int steps = 0, without_rows = 0;
  double seconds_running = 0, seconds_tuning = 0;  // of this process, in this run
  int tuned_now = 0;
};

/// What the source study printed for a scene; nullptr for scenes that it did not have.
struct PublishedScene {
  const char *scene, *title, *contacts;
  int joints;
  double alpha, alpha_deviation, kappa, kappa_deviation, a, b;
  double before_min, before_max, before_mean, after_min, after_max, after_mean;
  double fewer_sweeps;  // per cent
};
const PublishedScene* published(const std::string& scene);

/// All figures with the names of their files, without ending.
std::vector<std::pair<std::string, std::vector<Plot>>> study_figures(const std::vector<SceneStudy>& studies);
/// What was found, in plain words, one sentence or two each.
std::vector<std::string> study_findings(const std::vector<SceneStudy>& studies, const TuningChoices& choices);
std::string study_page(const std::vector<SceneStudy>& studies, const TuningChoices& choices);
/// One line per scene and number: table, scene, quantity, ours, published.
std::string study_csv(const std::vector<SceneStudy>& studies);

}  // namespace rotule::app
