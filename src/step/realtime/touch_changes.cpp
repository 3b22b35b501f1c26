// Touches: bodies that go, and what can be asked.
#include <algorithm>
#include <array>
#include <tuple>

#include "step/realtime/touches.h"

namespace rotule::realtime {

void Touches::remove_body(int body) {
  fresh_.clear();
  for (int number = 0; number < static_cast<int>(pairs_.size()); ++number) {
    const Pair& pair = pairs_[number];
    if (pair.a >= 0 && (proxies_[pair.a].body == body || proxies_[pair.b].body == body)) fresh_.push_back(number);
  }
  // In an order that their numbers have no part in: those depend on the shape of the trees.
  sort_fresh();
  for (const int number : fresh_) drop(number);
  for (int number = 0; number < static_cast<int>(proxies_.size()); ++number) {
    Proxy& proxy = proxies_[number];
    if (proxy.body != body) continue;
    if (proxy.leaf >= 0) tree(proxy).remove(proxy.leaf);
    std::erase(endless_, number);
    proxy = {};
    const int row = number / row_lanes, lane = number % row_lanes;
    boxes_.line[row].lane[lane] = nobody;
    put(boxes_.low[row], lane, -1e30, -1e30, -1e30);
    put(boxes_.high[row], lane, 1e30, 1e30, 1e30);
    free_proxies_.push_back(number);
  }
  // All others have their places one earlier from there on.
  const int gone = line_of(body);
  const auto move_up = [&](auto& line) { line -= line > gone; };
  for (Proxy& proxy : proxies_) proxy.body -= proxy.body > body;
  for (WholeRow& row : boxes_.line)
    for (std::int32_t& line : row.lane) move_up(line);
  for (Apart& apart : apart_) {
    move_up(apart.line_a);
    move_up(apart.line_b);
  }
  for (ContactSlots* all : {&slots, &resting_})
    all->for_each([&](auto& family) {
      if (gone < static_cast<int>(family.taken().size())) family.taken().erase(family.taken().begin() + gone);
      for (auto& colour : family.colours)
        for (auto& hot : colour.hot)
          for (int lane = 0; lane < row_lanes; ++lane) {
            move_up(hot.a.lane[lane]);
            move_up(hot.b.lane[lane]);
          }
    });
  first_proxy_.erase(first_proxy_.begin() + body);
  sleepers.body_removed(body);
  std::erase(woken, body);
  for (int& other : woken) other -= other > body;
  store_.give_up(forms_[body]);
  forms_.erase(forms_.begin() + body);
}

void Touches::leave_sensing(Pair& pair) {
  sensing_[pair.place] = sensing_.back();
  pairs_[sensing_[pair.place].pair].place = pair.place;
  sensing_.pop_back();
  pair.place = -1;
}

void Touches::look_at_sensor(Sensing& sensing, const State& s, const BodyLines& bodies) {
  Pair& pair = pairs_[sensing.pair];
  const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
  const std::uint32_t way = bodies.way(line_of(p.body)) + bodies.way(line_of(q.body));
  if (way == sensing.looked) return;
  if (sensing.overlap == 0 && sensing.looked != ~0u && static_cast<std::int32_t>(sensing.until - way) > 0) return;
  std::vector<Manifold>& found = desks_.front().found;
  found.clear();
  PairMemory memory{Vec3(pair.axis[0], pair.axis[1], pair.axis[2])};
  const CollisionPart &part_p = p.form->part, &part_q = q.form->part;
  const Frame A = frame_of(p, s), B = frame_of(q, s);
  collide_parts(part_p, A, part_q, B, 0, memory, desks_.front().scratch, found);
  for (int k = 0; k < 3; ++k) pair.axis[k] = static_cast<float>(memory.axis[k]);
  sensing.overlap = std::any_of(found.begin(), found.end(), [](const Manifold& m) { return m.count > 0 && m.gap() <= 0; });
  const bool convex = part_p.kind != CollisionPart::Kind::surface && part_q.kind != CollisionPart::Kind::surface;
  const double gap = sensing.overlap == 0 && convex ? std::clamp(parted_gap(pair, A, B), 0.0, most_budget) : 0;
  sensing.looked = way;
  sensing.until = way + static_cast<std::uint32_t>(gap / double(wander_unit));
}

void Touches::sense(const State& s, const BodyLines& bodies, std::vector<std::pair<int, int>>& out) {
  for (int k = static_cast<int>(sensing_.size()) - 1; k >= 0; --k) {
    const int number = sensing_[k].pair;
    const Pair& pair = pairs_[number];
    const bool near = proxies_[pair.a].form->endless || proxies_[pair.b].form->endless || box(pair.a).overlaps(box(pair.b));
    if (!near) {
      drop(number);
      continue;
    }
    look_at_sensor(sensing_[k], s, bodies);
    if (sensing_[k].overlap != 0) out.emplace_back(std::minmax(proxies_[pair.a].body, proxies_[pair.b].body));
  }
}

void Touches::joints_changed() {
  std::vector<std::pair<int, int>> before = std::exchange(tied_, {});
  for (const Joint& joint : model_.joints)
    if (joint.a >= 0 && joint.b >= 0) tied_.emplace_back(std::minmax(joint.a, joint.b));
  std::sort(tied_.begin(), tied_.end());
  tied_.erase(std::unique(tied_.begin(), tied_.end()), tied_.end());
  fresh_.clear();
  for (int number = 0; number < static_cast<int>(pairs_.size()); ++number) {
    const Pair& pair = pairs_[number];
    if (pair.a >= 0 && !may_touch(proxies_[pair.a], proxies_[pair.b])) fresh_.push_back(number);
  }
  sort_fresh();
  for (const int number : fresh_) drop(number);
  // Who is tied no longer looks for neighbours anew: as if it had left its box.
  for (const auto& freed : before) {
    if (std::binary_search(tied_.begin(), tied_.end(), freed)) continue;
    for (int number = 0; number < static_cast<int>(proxies_.size()); ++number) {
      const Proxy& proxy = proxies_[number];
      if ((proxy.body != freed.first && proxy.body != freed.second) || proxy.form->endless) continue;
      put(boxes_.low[number / row_lanes], number % row_lanes, 1e30, 1e30, 1e30);
      put(boxes_.high[number / row_lanes], number % row_lanes, -1e30, -1e30, -1e30);
    }
  }
}

void Touches::restore() {
  known_.clear();
  for (Pair& pair : pairs_) {
    pair.seen = 0;
    if (pair.a >= 0) known_.insert(PairTable::key(pair.a, pair.b));
  }
  search_ = 0;
  moving_ = fixed_ = {};
  for (int number = 0; number < static_cast<int>(proxies_.size()); ++number) {
    Proxy& proxy = proxies_[number];
    if (proxy.body < 0 || proxy.form->endless) continue;
    const Aabb where = box(number);
    proxy.leaf = (where.low.array() <= where.high.array()).all() ? tree(proxy).insert(where, number) : -1;
  }
}

void Touches::list(const State& s, int substeps, std::vector<Contact>& out) {
  out.clear();
  order_.clear();
  for (int t = 0; t < static_cast<int>(touches_.size()); ++t)
    if (touches_[t].pair >= 0) order_.push_back(t);
  const auto key = [&](int t) {
    const Pair& pair = pairs_[touches_[t].pair];
    const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
    return std::tuple(std::min(p.body, q.body), std::max(p.body, q.body), p.number, q.number, t);
  };
  std::sort(order_.begin(), order_.end(), [&](int i, int j) { return key(i) < key(j); });
  for (const int t : order_) {
    const SlotPlace at = touches_[t].slot;
    const Pair& pair = pairs_[touches_[t].pair];
    const Proxy &p = proxies_[pair.a], &q = proxies_[pair.b];
    const SurfaceLaw law = surface_between(model_, p.body, q.body);
    at_slot(at, [&](const auto& hot, const auto& cold, const ExtraBlock* extra, int lane) {
      const auto vector = [&](const Rows3& rows) { return Vec3(rows.x.lane[lane], rows.y.lane[lane], rows.z.lane[lane]); };
      const auto turn = [&](const Row(&rows)[4]) {
        return Quat(rows[3].lane[lane], rows[0].lane[lane], rows[1].lane[lane], rows[2].lane[lane]).normalized();
      };
      const Vec3 n = vector(hot.normal), t1 = vector(hot.tangent), between = vector(cold.between);
      const Quat since_a = s.theta[p.body] * turn(cold.turn_a).conjugate(),
                 since_b = s.theta[q.body] * turn(cold.turn_b).conjugate();
      // Friction is of the patch as a whole: points bear it in proportion to what presses on them.
      std::array<double, 4> bears{};
      double pressed = 0, lever = 0;
      Vec3 middle = Vec3::Zero();
      for (std::size_t k = 0; k < std::size(cold.point); ++k) {
        bears[k] = cold.point[k].there.lane[lane] > 0 ? double(hot.point[k].impulse.lane[lane]) : 0;
        pressed += bears[k];
        middle += bears[k] * vector(cold.point[k].anchor);
      }
      if (pressed > 0) middle /= pressed;
      for (std::size_t k = 0; k < std::size(cold.point); ++k) {
        bears[k] = pressed > 0 ? bears[k] / pressed : 0;
        lever += bears[k] * n.cross(vector(cold.point[k].anchor) - middle).squaredNorm();
      }
      for (std::size_t k = 0; k < std::size(cold.point); ++k) {
        const auto& point = cold.point[k];
        if (!(point.there.lane[lane] > 0)) continue;
        const Vec3 r_a = vector(point.anchor), r_b = r_a - between;
        const double round_a = cold.round_a.lane[lane], round_b = cold.round_b.lane[lane], half_gap = 0.5 * point.gap.lane[lane];
        const Vec3 on_a = s.p[p.body] + since_a * (r_a - round_a * n) + (round_a - half_gap) * n,
                   on_b = s.p[q.body] + since_b * (r_b + round_b * n) - (round_b - half_gap) * n;
        Contact& c = out.emplace_back();
        c.a = p.body;
        c.b = q.body;
        c.feature = static_cast<std::uint32_t>(point.feature.lane[lane]);
        c.normal = n;
        c.tangent = t1;
        c.bitangent = t1.cross(n);
        c.point = 0.5 * (on_a + on_b);
        c.on_a = s.theta[p.body].conjugate() * (on_a - s.p[p.body]);
        c.on_b = s.theta[q.body].conjugate() * (on_b - s.p[q.body]);
        c.gap = n.dot(on_b - on_a);
        c.law = law;
        const Vec3 arm = n.cross(r_a - middle);
        const double spin = lever > 0 ? double(hot.spin.lane[lane]) / lever : 0;
        c.x[0] = substeps * double(hot.point[k].impulse.lane[lane]);
        c.x[1] = substeps * bears[k] * (double(hot.slide_1.lane[lane]) + spin * arm.dot(c.tangent));
        c.x[2] = substeps * bears[k] * (double(hot.slide_2.lane[lane]) + spin * arm.dot(c.bitangent));
        if (extra != nullptr && law.rolling_friction > 0) {
          const int row = c.rows() - 2;
          c.x[row] = substeps * bears[k] * double(extra->roll_1.lane[lane]);
          c.x[row + 1] = substeps * bears[k] * double(extra->roll_2.lane[lane]);
        }
        if (c.a < c.b) continue;
        std::swap(c.a, c.b);
        std::swap(c.on_a, c.on_b);
        // The bitangent stays; what acts along it turns round with the bodies.
        c.normal = -c.normal;
        c.tangent = -c.tangent;
        c.x[2] = -c.x[2];
        if (law.rolling_friction > 0) c.x[c.rows() - 1] = -c.x[c.rows() - 1];
      }
    });
  }
}

}  // namespace rotule::realtime
