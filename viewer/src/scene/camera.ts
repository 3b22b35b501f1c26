// Where the camera starts, and how it follows.

import { Box3, type PerspectiveCamera, Vector3 } from 'three';
import type { OrbitControls } from 'three/addons/controls/OrbitControls.js';

/** Where from: the side on which the scene is broadest, a little from above and from the right. */
export function view_direction(box: Box3): Vector3 {
  const size = box.getSize(new Vector3());
  const flat = Math.max(size.x, size.y, 1e-9);
  const flatness = Math.min(size.x, size.y) / flat;
  const turn = 0.38 + 0.25 * flatness;
  const tall = size.z / Math.max(flat, size.z, 1e-9);
  const height = 0.5 - 0.3 * tall;
  const along_y = size.x >= size.y;
  const direction = along_y ? new Vector3(Math.sin(turn), -Math.cos(turn), 0) : new Vector3(Math.cos(turn), -Math.sin(turn), 0);
  direction.z = Math.tan(height);
  return direction.normalize();
}

/** Looks at the middle of a box, from so far that all of it is seen in the free part of the picture. */
export function fit_camera(camera: PerspectiveCamera, controls: OrbitControls, box: Box3, direction: Vector3, free: [number, number] = [1, 1], margin = 1.1): void {
  const centre = box.getCenter(new Vector3());
  const up = new Vector3(0, 0, 1);
  const right = new Vector3().crossVectors(up, direction).normalize();
  const over = new Vector3().crossVectors(direction, right);
  const half = Math.tan((camera.fov * Math.PI) / 360);
  const tan_y = half * free[1];
  const tan_x = half * camera.aspect * free[0];
  // Each corner asks for a distance at which it is inside the picture.
  let distance = 1e-6;
  const corner = new Vector3();
  for (let k = 0; k < 8; ++k) {
    corner.set(k & 1 ? box.max.x : box.min.x, k & 2 ? box.max.y : box.min.y, k & 4 ? box.max.z : box.min.z).sub(centre);
    const depth = corner.dot(direction);
    distance = Math.max(distance, depth + (margin * Math.abs(corner.dot(right))) / tan_x, depth + (margin * Math.abs(corner.dot(over))) / tan_y);
  }
  place_camera(camera, controls, centre.clone().addScaledVector(direction, distance), centre);
}

export function place_camera(camera: PerspectiveCamera, controls: OrbitControls, position: Vector3, target: Vector3): void {
  controls.target.copy(target);
  camera.position.copy(position);
  camera.updateProjectionMatrix();
  controls.update();
}

/** "x,y,z,tx,ty,tz" of an address, or null. */
export function parse_camera(text: string | null): [Vector3, Vector3] | null {
  const values = text?.split(',').map(Number) ?? [];
  if (values.length !== 6 || !values.every(Number.isFinite)) return null;
  return [new Vector3(...values.slice(0, 3)), new Vector3(...values.slice(3))];
}

/** Moves camera and target along with a point, and back where what is followed outgrows the picture. */
export class Follow {
  private last: Vector3 | null = null;

  stop(): void {
    this.last = null;
  }

  move(camera: PerspectiveCamera, controls: OrbitControls, point: Vector3): void {
    if (this.last === null) {
      this.last = point.clone();
      // The camera turns to what it follows, from where it is.
      const shift = point.clone().sub(controls.target);
      camera.position.add(shift);
      controls.target.copy(point);
    } else {
      const shift = point.clone().sub(this.last);
      camera.position.add(shift);
      controls.target.add(shift);
      this.last.copy(point);
    }
    camera.lookAt(controls.target);
  }

  /** All of a box stays in the picture: nearer by hand, farther by itself. */
  keep_in_view(camera: PerspectiveCamera, controls: OrbitControls, box: Box3, free: [number, number]): void {
    const away = camera.position.clone().sub(controls.target);
    const half = Math.tan((camera.fov * Math.PI) / 360) * Math.min(free[1], camera.aspect * free[0]);
    const needed = (0.5 * box.getSize(new Vector3()).length()) / half;
    if (away.length() >= needed) return;
    camera.position.copy(controls.target).addScaledVector(away.normalize(), needed);
  }
}

const shrink_seconds = 0.7;

/** Keeps all that moves in the picture until somebody takes the camera. Grows at once; shrinks only when much has become free. */
export class AutoFrame {
  active = true;
  private readonly box = new Box3();
  private direction: Vector3 | null = null;
  private shrinking = false;
  private taken_at = 0;

  reset(): void {
    this.active = true;
    this.box.makeEmpty();
    this.direction = null;
    this.shrinking = false;
  }

  /** Takes the box of now and says whether the camera has to move. */
  take(now: Box3): boolean {
    const seconds = Math.min(0.5, (performance.now() - this.taken_at) / 1000);
    this.taken_at = performance.now();
    if (this.box.isEmpty()) {
      this.box.copy(now);
      return true;
    }
    const before = this.box.clone();
    this.box.union(now);
    const length = (box: Box3): number => box.getSize(new Vector3()).length();
    const ratio = length(now) / length(this.box);
    if (ratio < 0.55) this.shrinking = true;
    if (ratio > 0.8) this.shrinking = false;
    if (this.shrinking) {
      const share = 1 - Math.exp(-seconds / shrink_seconds);
      this.box.min.lerp(now.min, share);
      this.box.max.lerp(now.max, share);
    }
    return !before.equals(this.box);
  }

  place(camera: PerspectiveCamera, controls: OrbitControls, free: [number, number]): void {
    if (this.box.isEmpty()) return;
    this.direction ??= view_direction(this.box);
    fit_camera(camera, controls, this.box, this.direction, free);
  }
}
