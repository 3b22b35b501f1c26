#pragma once
// A robot file in MuJoCo, for the benchmarks that compare with it.
#include <mujoco/mujoco.h>
#include <rotule/error.h>
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "report.h"

namespace rotule::bench {

struct PeerPhase {
  std::vector<double> seconds;        // per step, one per round
  double contacts = 0, gradient = 0;  // the scaled gradient that its solver left, mean
  double residual = 0, worst = 0;     // of its answers to its own problems, by the judge that ours are judged by
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
    double sum = 0, contacts = 0;
    const double start = cpu_seconds();
    for (int k = 0; k < count; ++k) {
      mj_step(model_, data_);
      const int last = std::min(data_->solver_iter, mjNSOLVER) - 1;
      sum += last < 0 ? 0 : data_->solver[last].gradient;
      contacts += data_->ncon;
    }
    if (!phase) return;
    phase->seconds.push_back((cpu_seconds() - start) / count);
    phase->contacts = contacts / count;
    phase->gradient = sum / count;
  }

  /// Lets it go for so long by RK4 at 0.1 ms, without stops, dry friction, equalities and contacts, which are soft there; then
  /// what its sensors say.
  void fall(double seconds) {
    model_->opt.timestep = 1e-4;
    model_->opt.integrator = mjINT_RK4;
    model_->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT | mjDSBL_FRICTIONLOSS | mjDSBL_EQUALITY;
    for (int k = 0; k < std::lround(seconds / model_->opt.timestep); ++k) mj_step(model_, data_);
    mj_forward(model_, data_);
  }
  [[nodiscard]] std::span<const double> sensed(const std::string& name) const {
    const int k = mj_name2id(model_, mjOBJ_SENSOR, name.c_str());
    if (k < 0) return {};
    return {data_->sensordata + model_->sensor_adr[k], static_cast<std::size_t>(model_->sensor_dim[k])};
  }

  /// Its steps once more, each judged. Its problem is one of ours with a matrix: with D = R^-1 of its soft constraints,
  ///   w = (J M^-1 J^T + R) f + (J a - aref),   f the forces of rows, a what there would be without them.
  void judge(int count, PeerPhase* phase) {
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      if (phase) {
        mj_forward(model_, data_);
        const double own = judged();
        sum += own;
        phase->worst = std::max(phase->worst, own);
      }
      mj_step(model_, data_);
    }
    if (phase) phase->residual = sum / count;
  }

 private:
  double judged() {
    const int rows = data_->nefc, nv = model_->nv;
    if (rows == 0) return 0;
    if (mj_isSparse(model_) != 0 || model_->opt.cone != mjCONE_PYRAMIDAL) return nan("");  // not asked for so far
    ConstraintProblem problem;
    problem.blocks.resize(static_cast<std::size_t>(rows));
    problem.resize(0, rows);
    std::vector<double> pushed(static_cast<std::size_t>(rows) * static_cast<std::size_t>(nv));
    mj_solveM(model_, data_, pushed.data(), data_->efc_J, rows);
    SparseRows& A = problem.matrix;
    A.start = {0};
    for (int r = 0; r < rows; ++r) {
      problem.blocks[static_cast<std::size_t>(r)] = {r, 1, -1, -1};
      for (int c = 0; c < rows; ++c) {
        A.column.push_back(c);
        A.value.push_back(
            mju_dot(data_->efc_J + static_cast<std::ptrdiff_t>(r) * nv, pushed.data() + static_cast<std::ptrdiff_t>(c) * nv, nv));
      }
      A.start.push_back(static_cast<std::int32_t>(A.column.size()));
      problem.C[r] = data_->efc_R[r];
      problem.b[r] = -data_->efc_b[r];
      const int type = data_->efc_type[r];
      if (type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON) {
        problem.upper[r] = data_->efc_frictionloss[r];
        problem.lower[r] = -problem.upper[r];
      } else if (type != mjCNSTR_EQUALITY) {
        problem.lower[r] = 0;
      }
    }
    return rotule::residual(problem, {data_->efc_force, static_cast<std::size_t>(rows)}).scale_free;
  }

  mjModel* model_ = nullptr;
  mjData* data_ = nullptr;
};

}  // namespace rotule::bench
