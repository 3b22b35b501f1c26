#include "step/realtime/part_forms.h"

#include <algorithm>

namespace rotule::realtime {

BodyForm::BodyForm(CollisionShape of, const Vec3& centre) : shape(std::move(of)), center_of_mass(centre) {
  for (const CollisionPart& part : shape.parts()) {
    PartForm& form = parts.emplace_back();
    form.part = part;
    form.place = part.X_BP.p - center_of_mass;
    const bool convex = part.kind == CollisionPart::Kind::convex;
    form.rounding = convex ? part.convex.radius : 0;
    form.endless = part.kind == CollisionPart::Kind::plane;
    if (form.endless) continue;
    const Aabb box = bounds(part, Frame(Mat3::Identity(), -center_of_mass));
    form.box_centre = box.center();
    form.box_half = (0.5 * (box.high - box.low) - Vec3::Constant(form.rounding)).cwiseMax(0);
    form.arm = form.box_centre.norm() + form.box_half.norm();
    if (convex) {
      form.size = form.box_half.norm() + form.rounding;
      form.core = form.box_half.minCoeff() + form.rounding;
    }
    arm = std::max(arm, form.arm);
    core = std::min(core, form.core);
  }
}

FormStore::Key FormStore::key_of(const CollisionShape& shape, const Vec3& center_of_mass) {
  Key key(center_of_mass.data(), center_of_mass.data() + 3);
  for (const CollisionPart& part : shape.parts()) {
    const Convex& convex = part.convex;
    if (part.kind != CollisionPart::Kind::convex || convex.hull || convex.corners) return {};
    key.push_back(static_cast<double>(convex.kind));
    key.push_back(convex.radius);
    key.insert(key.end(), convex.size.data(), convex.size.data() + 3);
    key.insert(key.end(), part.X_BP.p.data(), part.X_BP.p.data() + 3);
    key.insert(key.end(), part.X_BP.R.data(), part.X_BP.R.data() + 9);
  }
  return key;
}

std::shared_ptr<const BodyForm> FormStore::form_of(const Shape& shape, const Vec3& center_of_mass) {
  CollisionShape of(shape);
  Key key = key_of(of, center_of_mass);
  if (key.empty()) return std::make_shared<const BodyForm>(std::move(of), center_of_mass);
  std::shared_ptr<const BodyForm>& form = shared_[std::move(key)];
  if (!form) form = std::make_shared<const BodyForm>(std::move(of), center_of_mass);
  return form;
}

void FormStore::give_up(std::shared_ptr<const BodyForm>& form) {
  if (!form) return;
  const Key key = form.use_count() == 2 ? key_of(form->shape, form->center_of_mass) : Key();  // ours and the store's
  form.reset();
  if (!key.empty()) shared_.erase(key);
}

}  // namespace rotule::realtime
