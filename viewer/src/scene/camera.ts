// Where the camera starts, and how it follows.

import { Box3, type PerspectiveCamera, Vector3 } from 'three';
import type { OrbitControls } from 'three/addons/controls/OrbitControls.js';

/** From the side on which the scene is broadest, a little from above and from the right, so that all of the box is seen. */
export function fit_camera(camera: PerspectiveCamera, controls: OrbitControls, box: Box3, margin = 1.12): void {
  const size = box.getSize(new Vector3());
  const centre = box.getCenter(new Vector3());
  const flat = Math.max(size.x, size.y, 1e-9);
  const along_y = size.x >= size.y; // look along y, else along x
  const flatness = Math.min(size.x, size.y) / flat;
  const turn = 0.38 + 0.25 * flatness;
  const tall = size.z / Math.max(flat, size.z, 1e-9);
  const height = 0.5 - 0.3 * tall;
  const direction = along_y ? new Vector3(Math.sin(turn), -Math.cos(turn), 0) : new Vector3(Math.cos(turn), -Math.sin(turn), 0);
  direction.z = Math.tan(height);
  direction.normalize();
  look_from(camera, controls, box, centre, direction, margin);
}

function look_from(camera: PerspectiveCamera, controls: OrbitControls, box: Box3, centre: Vector3, direction: Vector3, margin: number): void {
  const up = new Vector3(0, 0, 1);
  const right = new Vector3().crossVectors(up, direction).normalize();
  const over = new Vector3().crossVectors(direction, right);
  const tan_y = Math.tan((camera.fov * Math.PI) / 360);
  const tan_x = tan_y * camera.aspect;
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

/** Moves camera and target along with a point. */
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
}
