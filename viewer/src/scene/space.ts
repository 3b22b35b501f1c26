// Where things are drawn. Graphics reckon in 32-bit floats, seven digits: planets 1e12 m from each other and a watch 1e6 m from the
// origin would come out as shards. So everything is drawn about an origin of the scene's own, and in a unit of its size:
//   drawn = (metres - origin) / unit,
// both in doubles, before anything becomes a float. Scenes of everyday size near the origin are drawn as they are.

import { Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { SceneMessage, ShapeMessage, Vector } from '../stream/messages';

export class Space {
  private constructor(
    readonly origin: Vector3,
    /** Metres of a drawn unit. */
    readonly unit: number,
  ) {}

  static of(scene: SceneMessage): Space {
    const [low, high] = scene.bounds;
    const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    if (!(size > 0) || !Number.isFinite(size)) return new Space(new Vector3(), 1);
    const unit = size > 1e3 || size < 1e-2 ? 10 ** Math.floor(Math.log10(size)) : 1;
    const middle = new Vector3((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + high[2]) / 2);
    // On a round place, so that lines of the grid stay at round numbers.
    const round = 10 ** Math.ceil(Math.log10(size) + 1);
    const origin = middle.length() > 20 * size ? middle.divideScalar(round).round().multiplyScalar(round) : new Vector3();
    return new Space(origin, unit);
  }

  /** Nothing to do. */
  get plain(): boolean {
    return this.unit === 1 && this.origin.lengthSq() === 0;
  }

  /** A point of the drawing in metres. */
  to_metres(point: Vector3): Vector {
    return [point.x * this.unit + this.origin.x, point.y * this.unit + this.origin.y, point.z * this.unit + this.origin.z];
  }

  to_drawn([x, y, z]: Vector): Vector {
    return [(x - this.origin.x) / this.unit, (y - this.origin.y) / this.unit, (z - this.origin.z) / this.unit];
  }

  private scaled([x, y, z]: Vector): Vector {
    return [x / this.unit, y / this.unit, z / this.unit];
  }

  private shape(shape: ShapeMessage): ShapeMessage {
    const { unit } = this;
    const out = { ...shape };
    for (const key of ['radius', 'height', 'length'] as const) if (shape[key] !== undefined) out[key] = shape[key] / unit;
    for (const key of ['size', 'radii', 'position'] as const) if (shape[key] !== undefined) out[key] = this.scaled(shape[key]);
    if (shape.vertices) out.vertices = shape.vertices.map((x) => x / unit);
    return out;
  }

  /** The scene as it is drawn: lengths in units, places of the world about the origin. */
  scene(scene: SceneMessage): SceneMessage {
    if (this.plain) return scene;
    const { unit } = this;
    const anchor = (body: number, at: Vector): Vector => (body < 0 ? this.to_drawn(at) : this.scaled(at));
    return {
      ...scene,
      gravity: this.scaled(scene.gravity),
      bounds: [this.to_drawn(scene.bounds[0]), this.to_drawn(scene.bounds[1])],
      bodies: scene.bodies.map((body) => ({ ...body, com: this.scaled(body.com), shapes: body.shapes.map((shape) => this.shape(shape)) })),
      joints: scene.joints.map((joint) => ({
        ...joint,
        anchor: anchor(joint.bodies[0], joint.anchor),
        ...(joint.other_anchor ? { other_anchor: anchor(joint.bodies[1], joint.other_anchor) } : {}),
      })),
      particles: { ...scene.particles, radius: scene.particles.radius / unit },
      links: scene.links.map((link) => ({
        ...link,
        at: anchor(link.body, link.at),
        ...(link.other_at ? { other_at: anchor(link.other ?? -1, link.other_at) } : {}),
      })),
    };
  }

  /** The frame as it is drawn. Directions, forces and velocities stay what they are. */
  frame(frame: Frame): Frame {
    if (this.plain) return frame;
    const { origin, unit } = this;
    const place = <A extends Float64Array | Float32Array>(values: A, stride: number): A => {
      for (let k = 0; k + 2 < values.length; k += stride) {
        values[k] = (values[k]! - origin.x) / unit;
        values[k + 1] = (values[k + 1]! - origin.y) / unit;
        values[k + 2] = (values[k + 2]! - origin.z) / unit;
      }
      return values;
    };
    return {
      ...frame,
      positions: place(frame.positions.slice(), 3),
      particles: place(frame.particles.slice(), 3),
      contacts: frame.contacts && { count: frame.contacts.count, values: place(frame.contacts.values.slice(), 10) },
      joint_forces: frame.joint_forces && place(frame.joint_forces.slice(), 6),
      fluid: frame.fluid && { ...frame.fluid, origin: this.to_drawn(frame.fluid.origin), spacing: [frame.fluid.spacing[0] / unit, frame.fluid.spacing[1] / unit] },
    };
  }
}
