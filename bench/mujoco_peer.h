#pragma once
// A robot file in MuJoCo, for the benchmarks that compare with it.
#include <mujoco/mujoco.h>
#include <rotule/error.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report.h"

namespace rotule::bench {

struct PeerPhase {
  std::vector<double> seconds;                   // per step, one per round
  double contacts = 0, residual = 0, worst = 0;  // of the residual: the scaled gradient that its solver left
};

class MujocoPeer {
 public:
  MujocoPeer(const std::string& file, double dt) {
    char error[1000] = "";
    model_ = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    if (!model_) throw Error(file, error);
    model_->opt.timestep = dt;
    data_ = mj_makeData(model_);
    if (model_->nkey > 0) mj_resetDataKeyframe(model_, data_, 0);
  }
  ~MujocoPeer() {
    mj_deleteData(data_);
    mj_deleteModel(model_);
  }
  MujocoPeer(const MujocoPeer&) = delete;
  MujocoPeer& operator=(const MujocoPeer&) = delete;

  void go(int count, PeerPhase* phase) {
    double sum = 0, contacts = 0, worst = 0;
    const double start = cpu_seconds();
    for (int k = 0; k < count; ++k) {
      mj_step(model_, data_);
      const int last = std::min(data_->solver_iter, mjNSOLVER) - 1;
      const double left = last < 0 ? 0 : data_->solver[last].gradient;
      sum += left;
      worst = std::max(worst, left);
      contacts += data_->ncon;
    }
    if (!phase) return;
    phase->seconds.push_back((cpu_seconds() - start) / count);
    phase->contacts = contacts / count;
    phase->residual = sum / count;
    phase->worst = worst;
  }

 private:
  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
};

}  // namespace rotule::bench
