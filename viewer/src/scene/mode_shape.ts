// A normal mode on the picture: every body and particle moves about where it stands by Re(shape e^{i phase}), as far as can be seen
// well. Lengths are those of the drawing.

import { Quaternion, Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { ModeMessage, SceneMessage } from '../stream/messages';

const farthest = 0.08; // of the scene's size: how far the mode moves things
const widest = 0.4; // rad

export class ModeShape {
  readonly mode: number;
  /** Metres, or radians, of the drawn motion over those of the message. */
  readonly amplitude: number;
  private readonly positions: Float64Array;
  private readonly orientations: Float64Array;
  private readonly particles: Float64Array;
  private readonly turn = new Vector3();
  private readonly arm = new Vector3();
  private readonly quaternion = new Quaternion();
  private readonly rotation = new Quaternion();

  constructor(
    private readonly message: ModeMessage,
    private readonly scene: SceneMessage,
    size: number,
    private readonly unit: number,
  ) {
    this.mode = message.mode;
    this.positions = new Float64Array(3 * scene.bodies.length);
    this.orientations = new Float64Array(4 * scene.bodies.length);
    this.particles = new Float64Array(message.particles.length / 2);
    let travel = 0;
    let turn = 0;
    const largest = (values: number[], first: number): number => Math.hypot(...values.slice(first, first + 6));
    for (let k = 0; k + 11 < message.bodies.length; k += 12) {
      travel = Math.max(travel, largest(message.bodies, k) / unit);
      turn = Math.max(turn, largest(message.bodies, k + 6));
    }
    for (let k = 0; k + 5 < message.particles.length; k += 6) travel = Math.max(travel, largest(message.particles, k) / unit);
    this.amplitude = Math.min(travel > 0 ? (farthest * size) / travel : Infinity, turn > 0 ? widest / turn : Infinity);
    if (!Number.isFinite(this.amplitude)) this.amplitude = 0;
  }

  /** The frame with everything where the mode has it at that phase. */
  apply(frame: Frame, phase: number): Frame {
    const c = this.amplitude * Math.cos(phase);
    const s = this.amplitude * Math.sin(phase);
    const { bodies, particles } = this.message;
    const part = (values: number[], k: number): number => c * values[2 * k]! - s * values[2 * k + 1]!;
    this.scene.bodies.forEach((body, b) => {
      const at = 6 * b;
      this.turn.set(part(bodies, at + 3), part(bodies, at + 4), part(bodies, at + 5));
      const angle = this.turn.length();
      this.rotation.setFromAxisAngle(angle > 0 ? this.turn.divideScalar(angle) : this.turn.set(0, 0, 1), angle);
      const [w, x, y, z] = frame.orientations.subarray(4 * b, 4 * b + 4) as unknown as [number, number, number, number];
      this.quaternion.set(x, y, z, w);
      // About the centre of mass: from there to the origin of the body's frame.
      this.arm.set(...body.com).applyQuaternion(this.quaternion);
      for (let k = 0; k < 3; ++k) this.positions[3 * b + k] = frame.positions[3 * b + k]! + this.arm.getComponent(k) + part(bodies, at + k) / this.unit;
      this.quaternion.premultiply(this.rotation);
      this.arm.set(...body.com).applyQuaternion(this.quaternion);
      for (let k = 0; k < 3; ++k) this.positions[3 * b + k]! -= this.arm.getComponent(k);
      this.orientations.set([this.quaternion.w, this.quaternion.x, this.quaternion.y, this.quaternion.z], 4 * b);
    });
    for (let k = 0; k < this.particles.length; ++k) this.particles[k] = frame.particles[k]! + part(particles, k) / this.unit;
    return { ...frame, positions: this.positions, orientations: this.orientations, particles: this.particles };
  }
}
