#pragma once
// MJCF's sensors that are known: their words, how many numbers they say, of what, and what they are about.
#include <array>
#include <optional>
#include <string_view>

namespace rotule::robot {

enum class SensorKind : int {
  touch,
  accelerometer,
  velocimeter,
  gyro,
  force,
  torque,
  magnetometer,
  rangefinder,
  jointpos,
  jointvel,
  tendonpos,
  tendonvel,
  actuatorpos,
  actuatorvel,
  actuatorfrc,
  jointactuatorfrc,
  ballquat,
  ballangvel,
  framepos,
  framequat,
  framexaxis,
  frameyaxis,
  framezaxis,
  framelinvel,
  frameangvel,
  framelinacc,
  frameangacc,
  subtreecom,
  subtreelinvel,
  subtreeangmom,
  clock
};

/// What an element of the kind names.
enum class SensorSubject { site, object, joint, ball, tendon, actuator, body, nothing };

struct SensorWord {
  std::string_view word;
  SensorKind kind;
  SensorSubject subject;
  int size;
  std::string_view unit;  // of joints: that of hinges; sliders have m for rad, N for N m
  bool turns = false;     // tells how a frame is turned
};

constexpr std::array<SensorWord, 31> sensor_words{{
    {"touch", SensorKind::touch, SensorSubject::site, 1, "N"},
    {"accelerometer", SensorKind::accelerometer, SensorSubject::site, 3, "m/s^2"},
    {"velocimeter", SensorKind::velocimeter, SensorSubject::site, 3, "m/s"},
    {"gyro", SensorKind::gyro, SensorSubject::site, 3, "rad/s"},
    {"force", SensorKind::force, SensorSubject::site, 3, "N"},
    {"torque", SensorKind::torque, SensorSubject::site, 3, "N m"},
    {"magnetometer", SensorKind::magnetometer, SensorSubject::site, 3, ""},
    {"rangefinder", SensorKind::rangefinder, SensorSubject::site, 1, "m"},
    {"jointpos", SensorKind::jointpos, SensorSubject::joint, 1, "rad"},
    {"jointvel", SensorKind::jointvel, SensorSubject::joint, 1, "rad/s"},
    {"tendonpos", SensorKind::tendonpos, SensorSubject::tendon, 1, ""},
    {"tendonvel", SensorKind::tendonvel, SensorSubject::tendon, 1, ""},
    {"actuatorpos", SensorKind::actuatorpos, SensorSubject::actuator, 1, ""},
    {"actuatorvel", SensorKind::actuatorvel, SensorSubject::actuator, 1, ""},
    {"actuatorfrc", SensorKind::actuatorfrc, SensorSubject::actuator, 1, ""},
    {"jointactuatorfrc", SensorKind::jointactuatorfrc, SensorSubject::joint, 1, "N m"},
    {"ballquat", SensorKind::ballquat, SensorSubject::ball, 4, "", true},
    {"ballangvel", SensorKind::ballangvel, SensorSubject::ball, 3, "rad/s"},
    {"framepos", SensorKind::framepos, SensorSubject::object, 3, "m"},
    {"framequat", SensorKind::framequat, SensorSubject::object, 4, "", true},
    {"framexaxis", SensorKind::framexaxis, SensorSubject::object, 3, "", true},
    {"frameyaxis", SensorKind::frameyaxis, SensorSubject::object, 3, "", true},
    {"framezaxis", SensorKind::framezaxis, SensorSubject::object, 3, "", true},
    {"framelinvel", SensorKind::framelinvel, SensorSubject::object, 3, "m/s"},
    {"frameangvel", SensorKind::frameangvel, SensorSubject::object, 3, "rad/s"},
    {"framelinacc", SensorKind::framelinacc, SensorSubject::object, 3, "m/s^2"},
    {"frameangacc", SensorKind::frameangacc, SensorSubject::object, 3, "rad/s^2"},
    {"subtreecom", SensorKind::subtreecom, SensorSubject::body, 3, "m"},
    {"subtreelinvel", SensorKind::subtreelinvel, SensorSubject::body, 3, "m/s"},
    {"subtreeangmom", SensorKind::subtreeangmom, SensorSubject::body, 3, "N m s"},
    {"clock", SensorKind::clock, SensorSubject::nothing, 1, "s"},
}};

constexpr const SensorWord* sensor_word(std::string_view word) {
  for (const SensorWord& each : sensor_words)
    if (each.word == word) return &each;
  return nullptr;
}

}  // namespace rotule::robot
