#pragma once

namespace rotule {

/// How fast things have been of late, which is what errors of velocities are measured against: at its turning points a swing
/// says nothing of how fast it is.
struct Pace {
  double speed = 0, spin = 0;  // m/s, rad/s; 0: nothing has moved yet
  double time = 0;             // s, of the state that was looked at last

  [[nodiscard]] bool still() const { return speed == 0 && spin == 0; }
  template <class Archive>
  void archive(Archive& io) {
    io(speed);
    io(spin);
    io(time);
  }
};

}  // namespace rotule
