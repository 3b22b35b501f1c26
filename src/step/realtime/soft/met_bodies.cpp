#include "step/realtime/soft/met_bodies.h"

#include "math/rotation.h"

namespace rotule::realtime {

namespace {

Eigen::Matrix3f inverse_root_of(const BodyLines& lines, int line) {
  const float* S = lines.pose[line].at + 10;
  Eigen::Matrix3f out;
  out << S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5];
  return out;
}

}  // namespace

void read_body(const BodyLines& lines, MetBody& out) {
  const int line = line_of(out.body);
  out.moves = lines.moves(line);
  out.goes = lines.goes(line);
  out.push.setZero();
  out.twist.setZero();
  if (!out.goes) return;
  const float* motion = lines.motion[line].at;
  const float light = motion[6];
  const Eigen::Matrix3f S = inverse_root_of(lines, line);
  out.v = light * Eigen::Vector3f(motion[0], motion[1], motion[2]);
  out.omega = S * Eigen::Vector3f(motion[3], motion[4], motion[5]);
  out.gone = light * Eigen::Vector3f(motion[8], motion[9], motion[10]);
  out.way = out.gone.cast<double>();
  const Vec3 theta = (S * Eigen::Vector3f(motion[11], motion[12], motion[13])).cast<double>();
  out.turn = exp_rotation(theta).toRotationMatrix();
  out.turned = out.turn.cast<float>();
  out.turned_less_one = (out.turn - Mat3::Identity()).cast<float>();
  out.inverse_mass = out.moves ? light * light : 0;
  if (out.moves)
    out.inverse_inertia = S * S;
  else
    out.inverse_inertia.setZero();
}

void give_body(const MetBody& from, float times, BodyLines& lines) {
  if (!from.moves || (from.push.isZero(0) && from.twist.isZero(0))) return;
  const int line = line_of(from.body);
  float* motion = lines.motion[line].at;
  const Eigen::Vector3f linear = times * motion[6] * from.push.cast<float>(),
                        angular = times * (inverse_root_of(lines, line) * from.twist.cast<float>());
  for (int k = 0; k < 3; ++k) {
    motion[k] += linear[k];
    motion[3 + k] += angular[k];
  }
}

void find_mean(const BodyLines& lines, MetBody& out) {
  if (!out.goes) return;
  const int line = line_of(out.body);
  const float* motion = lines.motion[line].at;
  const float* last = lines.last[line].at;
  Eigen::Vector3f linear, angular;
  for (int k = 0; k < 3; ++k) {
    linear[k] = 0.5F * (motion[k] + last[k]);
    angular[k] = 0.5F * (motion[3 + k] + last[3 + k]);
  }
  out.mean_v = motion[6] * linear;
  out.mean_omega = inverse_root_of(lines, line) * angular;
}

}  // namespace rotule::realtime
