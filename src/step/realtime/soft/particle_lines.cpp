#include "step/realtime/soft/particle_lines.h"

namespace rotule::realtime {

void ParticleLines::resize(const Model& model) {
  count = line_of_particle(model.particle_count());
  for (auto* column : {&moved, &begun, &v, &first, &kick, &held}) column->assign(static_cast<std::size_t>(count), {});
  for (int i = 0; i < model.particle_count(); ++i)
    moved[line_of_particle(i)].at[3] = static_cast<float>(model.particles.inverse_mass[i]);
}

// The same operations one after the other on any processor: compilers widen these loops without changing a bit.
void predict(ParticleLines& lines, const std::vector<Resistance>& resistances, int first, int last, float h) {
  for (int i = first; i < last; ++i) {
    float* v = lines.v[i].at;
    const float* kick = lines.kick[i].at;
    float* started = lines.first[i].at;
    for (int k = 0; k < 4; ++k) {
      started[k] = v[k];
      v[k] += kick[k];
    }
  }
  if (!resistances.empty())
    for (int i = first; i < last; ++i) {
      float* v = lines.v[i].at;
      const Resistance& r = resistances[i];
      const float x = v[0], y = v[1], z = v[2];
      v[0] = r.B[0] * x + r.B[1] * y + r.B[2] * z + r.b[0];
      v[1] = r.B[1] * x + r.B[3] * y + r.B[4] * z + r.b[1];
      v[2] = r.B[2] * x + r.B[4] * y + r.B[5] * z + r.b[2];
    }
  for (int i = first; i < last; ++i) {
    float* moved = lines.moved[i].at;
    float* begun = lines.begun[i].at;
    const float* v = lines.v[i].at;
    for (int k = 0; k < 4; ++k) {
      begun[k] = moved[k];
      moved[k] += h * v[k];  // of the fourth, the inverse mass, v is zero
    }
  }
}

void find_velocities(ParticleLines& lines, int first, int last, float h) {
  const float inverse = 1 / h;
  for (int i = first; i < last; ++i)
    for (int k = 0; k < 4; ++k) lines.v[i].at[k] = (lines.moved[i].at[k] - lines.begun[i].at[k]) * inverse;
}

}  // namespace rotule::realtime
