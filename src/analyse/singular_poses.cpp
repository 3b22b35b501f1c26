// Singular poses ahead: a linkage with one degree of freedom is led along its way, in both senses, and the joints are asked at
// every pose how far they are from losing rank. With J the rows of its joints, each of length one, in coordinates of one length
// (rotations times the linkage's size), the way's direction is the null vector of J and the distance sigma the smallest singular
// value that is not zero for good:
//   sigma -> 0   another motion becomes possible: the way on is not unique, and forces grow without bound;
//   a motor's axis stands still while the linkage moves: a dead point, past which this motor cannot carry it.
#include <fmt/format.h>
#include <rotule/analyse.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analyse/linkage_count.h"
#include "analyse/remarks.h"
#include "base/text.h"
#include "linalg/decompositions.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr int most_bodies = 24;        // of a scene: matrices are dense
constexpr int most_joints = 500;       // of a scene: those of one body and the ground all touch each other
constexpr int most_poses = 300;        // each way
constexpr double pace = 0.05;          // of the linkage's size, or rad: the fastest point's, from pose to pose
constexpr double singular = 1e-3;      // of the largest sigma on the way
constexpr double null_square = 1e-12;  // eigenvalues of J^T J, of the largest
constexpr double open_enough = 1e-6;   // m or rad, where the way has ended

/// What the joints say of one pose.
struct Outlook {
  double sigma = 0;
  int freedom = 0;
  VecX direction;  // of unit length; one of several where freedom is more than 1
};

class Way {
 public:
  Way(World& world, const LinkageCount& linkage) : world_(world), w_(implementation_of(world)), linkage_(linkage) {
    Vec3 low = Vec3::Constant(infinity), high = -low;
    for (const Joint& joint : w_.model.joints)
      for_each_partner(joint, [&](int partner) {
        if (!belongs(partner)) return;
        low = low.cwiseMin(w_.state.p[partner]);
        high = high.cwiseMax(w_.state.p[partner]);
        const Quat& turned = w_.state.theta[partner];
        const Vec3 arm = partner == joint.a ? joint.X_A.position : joint.X_B.position;
        low = low.cwiseMin(w_.state.p[partner] + turned * arm);
        high = high.cwiseMax(w_.state.p[partner] + turned * arm);
      });
    size_ = std::max((high - low).norm(), 1e-9);
    start_ = w_.state;
  }

  /// Looks along `last` where several directions are possible.
  Outlook look(const VecX* last) {
    const Linearisation l = linearise(world_);
    std::vector<Eigen::Index> columns;
    for (int i = 0, first = 0; i < w_.model.body_count(); ++i) {
      if (!w_.model.movable(i)) continue;
      if (belongs(i))
        for (Eigen::Index c = 0; c < 6; ++c) columns.push_back(first + c);
      first += 6;
    }
    MatX J(l.J.rows(), static_cast<Eigen::Index>(columns.size()));
    for (std::size_t c = 0; c < columns.size(); ++c)
      J.col(static_cast<Eigen::Index>(c)) = l.J.col(columns[c]) / (columns[c] % 6 < 3 ? 1 : size_);
    for (Eigen::Index r = 0; r < J.rows(); ++r)
      if (const double length = J.row(r).norm(); length > 0) J.row(r) /= length;
    const SymmetricEigen eigen = symmetric_eigen(MatX(J.transpose() * J));
    const double largest = eigen.values.maxCoeff();
    Outlook out;
    while (out.freedom < eigen.values.size() && eigen.values[out.freedom] <= null_square * largest) ++out.freedom;
    out.sigma = out.freedom == 1 && eigen.values.size() > 1 ? std::sqrt(std::max(eigen.values[1], 0.0)) : 0;
    if (last == nullptr) {
      out.direction = eigen.vectors.col(0);
    } else {
      // Near a singular pose two directions are nearly possible: straight on among those.
      const Eigen::Index near = out.sigma < 0.02 * std::sqrt(largest) ? std::max(out.freedom, 2) : 1;
      const MatX possible = eigen.vectors.leftCols(std::min(near, eigen.values.size()));
      out.direction = possible * (possible.transpose() * *last);
      if (!(out.direction.norm() > 1e-6)) out.direction = *last;
      out.direction.normalize();
      if (out.direction.dot(*last) < 0) out.direction = -out.direction;
    }
    return out;
  }

  /// One stride, or a part of it, along a direction, and joints closed. False where they cannot be.
  bool move(const VecX& direction, double part) {
    const double fastest = direction.cwiseAbs().maxCoeff();
    const double by = part * pace * size_ / fastest;
    int c = 0;
    for (const int body : linkage_.bodies) {
      const Vec3 slide = by * direction.segment<3>(c), turn = by / size_ * direction.segment<3>(c + 3);
      w_.state.p[body] += slide;
      const double angle = turn.norm();
      if (angle > 0) w_.state.theta[body] = (Quat(Eigen::AngleAxisd(angle, turn / angle)) * w_.state.theta[body]).normalized();
      c += 6;
    }
    world_.project();
    static_cast<void>(world_.diagnostics());
    for (const int j : linkage_.joints)
      if (!(w_.stepper->joint_error(j).position < open_enough)) return false;
    return true;
  }

  bool stride(const State& from, const VecX& direction) {
    for (const double part : {1.0, 0.7, 1.3}) {
      back_to(from);
      if (move(direction, part)) return true;
    }
    return false;
  }

  [[nodiscard]] State& state() { return w_.state; }
  void back_to(const State& s) {
    w_.state = s;
    w_.ready().forget();
  }
  void back_to_start() { back_to(start_); }

  /// The largest turn of a body since the start, in degrees, and whose; or the longest way.
  [[nodiscard]] std::string travelled() const {
    double most = 0, far = 0;
    int who = linkage_.bodies.front(), whose = who;
    for (const int body : linkage_.bodies) {
      const double angle = w_.state.theta[body].angularDistance(start_.theta[body]);
      const double way = (w_.state.p[body] - start_.p[body]).norm();
      if (angle > most * (1 + 1e-6)) most = angle, who = body;
      if (way > far * (1 + 1e-6)) far = way, whose = body;
    }
    const auto name = [&](int body) { return in_quotes(w_.model.bodies[body].name); };
    return most > 1e-3 ? fmt::format("when {} has turned by {:.3g} degrees", name(who), most * 180 / std::numbers::pi)
                       : fmt::format("when {} has moved by {:.3g} m", name(whose), far);
  }
  [[nodiscard]] bool back_at_start() const {
    for (const int body : linkage_.bodies)
      if ((w_.state.p[body] - start_.p[body]).norm() > 0.6 * pace * size_ ||
          w_.state.theta[body].angularDistance(start_.theta[body]) > 0.6 * pace)
        return false;
    return true;
  }

  /// Rates of the motors' axes along a direction; empty where no joint of the linkage has a motor.
  std::vector<double> motor_rates(const Scene& scene, const VecX& direction) {
    std::vector<double> out;
    for_each_motor(scene, [&](int joint, int axis) {
      if (out.empty()) {
        int c = 0;
        for (const int body : linkage_.bodies) {
          w_.state.u.segment<3>(6 * body) = direction.segment<3>(c);
          w_.state.u.segment<3>(6 * body + 3) = direction.segment<3>(c + 3) / size_;
          c += 6;
        }
      }
      const JointMotion motion = world_.joint_motion(w_.joint_slots.id(joint));
      out.push_back(axis < 3 ? motion.displacement_rate[axis] : size_ * motion.angular_rate[axis - 3]);
    });
    if (!out.empty()) w_.state.u.setZero();
    return out;
  }
  [[nodiscard]] std::string motor_name(const Scene& scene, std::size_t number) const {
    std::string out;
    for_each_motor(scene, [&](int joint, int) {
      if (number-- == 0) out = in_quotes(w_.model.joints[joint].name);
    });
    return out;
  }

 private:
  [[nodiscard]] bool belongs(int body) const {
    return std::find(linkage_.bodies.begin(), linkage_.bodies.end(), body) != linkage_.bodies.end();
  }
  template <class Visit>
  void for_each_motor(const Scene& scene, Visit&& visit) const {
    for (const int j : linkage_.joints)
      for (const auto& [axis, drive] : drives_of(scene.joints[static_cast<std::size_t>(j)]))
        if (drive.motor_strength > 0 || drive.motor_torque != 0 || drive.motion) visit(j, axis);
  }
  /// As the scene has them (hinges and sliders); the world that moves here is without.
  static std::vector<std::pair<int, Drive>> drives_of(const JointDef& joint) {
    std::vector<std::pair<int, Drive>> out;
    std::visit(
        [&](const auto& j) {
          using Kind = std::decay_t<decltype(j)>;
          if constexpr (std::is_same_v<Kind, Hinge>) out.emplace_back(5, j.drive);
          if constexpr (std::is_same_v<Kind, Slider>) out.emplace_back(2, j.drive);
        },
        joint);
    return out;
  }

  World& world_;
  WorldImplementation& w_;
  const LinkageCount& linkage_;
  State start_;
  double size_ = 1;
};

/// The pose of least sigma between the strides before and after this one.
double least_sigma(Way& way, const State& before, const VecX& direction) {
  constexpr double golden = 0.3819660112501051;
  double a = 0, b = 2, x = a + golden * (b - a), y = b - golden * (b - a);
  const auto at = [&](double part) {
    way.back_to(before);
    return way.move(direction, part) ? way.look(&direction).sigma : infinity;
  };
  double fx = at(x), fy = at(y);
  for (int k = 0; k < 24; ++k) {
    if (fx < fy) {
      b = y, y = x, fy = fx;
      x = a + golden * (b - a);
      fx = at(x);
    } else {
      a = x, x = y, fx = fy;
      y = b - golden * (b - a);
      fy = at(y);
    }
  }
  return at(fx < fy ? x : y);
}

/// What is found on a linkage's way, and how far away it is.
struct Found {
  std::vector<std::string> singular, dead, lost;  // lost: where joints could not be closed any more
};

void walk(Way& way, const Patient& patient, double sense, Found& found) {
  struct Stop {
    State state;
    Outlook outlook;
  };
  way.back_to_start();
  std::vector<Stop> stops{{way.state(), way.look(nullptr)}};
  if (stops[0].outlook.freedom != 1) return;
  stops[0].outlook.direction *= sense;
  double most = stops[0].outlook.sigma;
  std::vector<double> rates = way.motor_rates(patient.scene, stops[0].outlook.direction);
  for (int k = 1; k <= most_poses; ++k) {
    // Where a stride ends right in a singular pose joints close badly: a little less or more of it.
    if (!way.stride(stops.back().state, stops.back().outlook.direction)) {
      way.back_to(stops.back().state);
      found.lost.push_back(way.travelled());
      return;
    }
    stops.push_back({way.state(), way.look(&stops.back().outlook.direction)});
    most = std::max(most, stops.back().outlook.sigma);
    const std::vector<double> now = way.motor_rates(patient.scene, stops.back().outlook.direction);
    for (std::size_t m = 0; m < now.size(); ++m)
      if (rates[m] * now[m] < 0 && found.dead.empty())
        found.dead.push_back(
            fmt::format("the motor of joint {} is at a dead point {}", way.motor_name(patient.scene, m), way.travelled()));
    rates = now;
    const std::size_t n = stops.size();
    if (n >= 3) {
      const double before = stops[n - 3].outlook.sigma, here = stops[n - 2].outlook.sigma, after = stops[n - 1].outlook.sigma;
      if (here <= before && here <= after && here < 0.3 * most) {
        const State far = way.state();
        if (least_sigma(way, stops[n - 3].state, stops[n - 3].outlook.direction) < singular * most) {
          found.singular.push_back(way.travelled());
          return;
        }
        way.back_to(far);
      }
      if (k > 3 && way.back_at_start()) return;
    }
  }
}

/// At the start the rank may be less than a little further on.
bool starts_singular(Way& way, int& freedom_nearby) {
  way.back_to_start();
  const Outlook here = way.look(nullptr);
  freedom_nearby = here.freedom;
  for (const double sense : {1.0, -1.0}) {
    way.back_to_start();
    VecX along = sense * here.direction;
    if (!way.move(along, 1)) continue;
    freedom_nearby = std::min(freedom_nearby, way.look(nullptr).freedom);
  }
  return freedom_nearby < here.freedom;
}

}  // namespace

void look_at_singular_poses(const Patient& patient, const Checkup& checkup, std::vector<Remark>& out) {
  if (!checkup.conflicts.empty()) return;
  const auto can_be_led = [](const LinkageCount& linkage) {  // without a loop joints never lose rank
    return linkage.freedom() == 1 && linkage.joints.size() > linkage.bodies.size();
  };
  if (checkup.bodies - checkup.fixed > most_bodies || std::ssize(patient.scene.joints) > most_joints || checkup.particles > 0) {
    const std::vector<LinkageCount> linkages = count_linkages(patient.model, checkup.redundant);
    if (std::any_of(linkages.begin(), linkages.end(), can_be_led))
      out.push_back({.kind = "singular_poses_unknown",
                     .grade = Remark::Grade::note,
                     .text = fmt::format("singular poses ahead were not looked for: that is for scenes of up to {} moving bodies "
                                         "and {} joints, without particles",
                                         most_bodies, most_joints),
                     .flags = {},
                     .edits = {}});
    return;
  }
  World world(undriven(patient.scene), recipes::exact());
  WorldImplementation& w = implementation_of(world);
  const auto bounds = [](const Joint& joint) { return joint.equations != nullptr; };
  world.project();
  w.state.u.setZero();
  for (const LinkageCount& linkage : count_linkages(w.model, checkup.redundant)) {
    // Without a loop joints never lose rank; what functions of the user do elsewhere is not ours to try.
    if (linkage.freedom() < 1 || linkage.joints.size() <= linkage.bodies.size()) continue;
    if (std::any_of(linkage.joints.begin(), linkage.joints.end(), [&](int j) { return bounds(w.model.joints[j]); })) continue;
    Way way(world, linkage);
    const auto remark = [&](const char* kind, std::string text) {
      out.push_back({.kind = kind, .grade = Remark::Grade::note, .text = std::move(text), .flags = {}, .edits = {}});
    };
    try {
      if (int nearby = 0; linkage.freedom() > 1 && starts_singular(way, nearby))
        remark("singular_start",
               fmt::format(
                   "the linkage of joint {} starts in a singular pose: {} degrees of freedom here, {} nearby; which way it goes "
                   "is not determined, and forces of its joints are not unique; start a little further on",
                   in_quotes(w.model.joints[linkage.joints[0]].name), linkage.freedom(), nearby));
      if (linkage.freedom() != 1) continue;
      Found found;
      for (const double sense : {1.0, -1.0}) walk(way, patient, sense, found);
      if (!found.singular.empty())
        remark("singular_pose",
               fmt::format(
                   "a singular pose lies ahead of the linkage of joint {}: {}{}; its joints lose rank there, the way on is not "
                   "unique and their forces grow without bound: a spring, a limit or a length that differs keeps it away",
                   in_quotes(w.model.joints[linkage.joints[0]].name), found.singular[0],
                   found.singular.size() > 1 ? ", or, the other way, " + found.singular[1] : ""));
      if (!found.lost.empty())
        remark(
            "singular_poses_unknown",
            fmt::format("the linkage of joint {} could be led no further than {}{}: beyond that its joints cannot be closed by "
                        "steps of this size, and singular poses were not looked for there",
                        in_quotes(w.model.joints[linkage.joints[0]].name), found.lost[0],
                        found.lost.size() > 1 ? ", or, the other way, " + found.lost[1] : ""));
      if (!found.dead.empty())
        remark("dead_point",
               fmt::format("{}: its axis stands still there while the linkage moves, so that it cannot carry it past "
                           "without the bodies' own momentum",
                           found.dead[0]));
    } catch (const Error& error) {
      remark(
          "singular_poses_unknown",
          fmt::format("the linkage of joint {} could not be led along its way, and singular poses ahead were not looked for: {}",
                      in_quotes(w.model.joints[linkage.joints[0]].name), error.what()));
    }
    way.back_to_start();
  }
}

}  // namespace rotule
