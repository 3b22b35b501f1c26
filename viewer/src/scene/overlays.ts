// What is drawn over the bodies on demand. A layer that is to be added (flow fields, modes) is one more entry in `layers`.

import { Box3, Group, Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { JointDescription, SceneMessage } from '../stream/messages';
import { size_of, type Bodies } from './bodies';
import { round_down } from './ground';
import { Arrows, ball_geometry, coil_geometry, Instances, stick_geometry } from './instances';
import { overlay_colours } from './palette';

export interface LayerDescription {
  id: string;
  label: string;
  key: string;
  colour?: string;
  /** Parts of the frames that the server sends only when asked. */
  parts: string[];
  on: boolean;
}

export const layers: LayerDescription[] = [
  { id: 'joints', label: 'Joints', key: 'j', colour: overlay_colours.joint, parts: [], on: false },
  { id: 'contacts', label: 'Contacts and normals', key: 'c', colour: overlay_colours.contact, parts: ['contacts'], on: false },
  { id: 'forces', label: 'Forces', key: 'f', colour: overlay_colours.force, parts: ['forces', 'contacts'], on: false },
  { id: 'velocities', label: 'Velocities', key: 'v', colour: overlay_colours.velocity, parts: ['velocities'], on: false },
  { id: 'centres', label: 'Centres of mass', key: 'm', colour: overlay_colours.centre, parts: [], on: false },
  { id: 'names', label: 'Names', key: 'a', parts: [], on: false },
  { id: 'net', label: 'Springs and particles', key: 'n', colour: overlay_colours.spring, parts: [], on: false },
  { id: 'fluid', label: 'Fluid as colour', key: 'w', parts: ['fluid'], on: true },
  { id: 'streamlines', label: 'Streamlines', key: 'e', parts: ['fluid'], on: false },
  { id: 'flow_arrows', label: 'Arrows of the fluid', key: 'z', parts: ['fluid'], on: false },
  { id: 'xray', label: 'See-through bodies', key: 'x', parts: [], on: false },
  { id: 'ground', label: 'Ground', key: 'g', parts: [], on: true },
  { id: 'shadows', label: 'Shadows', key: 'h', parts: [], on: true },
];

/** Metres of arrow per unit, in round numbers, kept so that the largest arrow is neither lost nor leaves the picture. */
export class ArrowScale {
  per_metre = 0;
  fit(largest: number, size: number, count: number): void {
    if (!(largest > 0) || !Number.isFinite(largest)) return;
    // Many arrows hide each other unless they are short.
    const wanted = count > 40 ? 0.1 * size : 0.15 * size;
    const length = this.per_metre > 0 ? largest / this.per_metre : 0;
    if (length > 2 * wanted || length < 0.3 * wanted) this.per_metre = round_down(largest / wanted);
  }
}

export class Overlays {
  readonly group = new Group();
  readonly force_scale = new ArrowScale();
  readonly velocity_scale = new ArrowScale();
  private readonly size: number;
  private readonly thickness: number;
  private readonly joints = new Instances(ball_geometry(), overlay_colours.joint, { ghost: true, shaded: true });
  private readonly arms = new Instances(stick_geometry(), overlay_colours.joint, { ghost: true });
  private readonly rods = new Instances(stick_geometry(), '#9aa5b1', { shaded: true, shadow: true });
  private readonly coils = new Instances(coil_geometry(), overlay_colours.spring, { shaded: true, shadow: true });
  private readonly contacts = new Instances(ball_geometry(10), overlay_colours.contact, { ghost: true });
  private readonly centres = new Instances(ball_geometry(), overlay_colours.centre, { ghost: true });
  private readonly normals = new Arrows(overlay_colours.normal);
  private readonly forces = new Arrows(overlay_colours.force);
  private readonly velocities = new Arrows(overlay_colours.velocity);
  private readonly drag_coil = new Instances(coil_geometry(), overlay_colours.drag);
  private readonly drag_ends = new Instances(ball_geometry(), overlay_colours.drag, { ghost: true });
  private readonly rod_joints = new Map<JointDescription, boolean>();
  private readonly a = new Vector3();
  private readonly b = new Vector3();

  constructor(
    private readonly scene: SceneMessage,
    private readonly bodies: Bodies,
  ) {
    this.size = size_of(scene);
    this.thickness = 0.0035 * this.size;
    this.group.add(...[this.joints, this.arms, this.rods, this.coils, this.contacts, this.centres].map((x) => x.group));
    this.group.add(...[this.normals, this.forces, this.velocities, this.drag_coil, this.drag_ends].map((x) => x.group));
  }

  update(frame: Frame, shown: ReadonlySet<string>): void {
    this.draw_joints(frame, shown.has('joints'));
    this.draw_links(frame);
    this.draw_contacts(frame, shown.has('contacts'));
    this.draw_forces(frame, shown.has('forces'));
    this.draw_velocities(frame, shown.has('velocities'));
    this.centres.begin();
    if (shown.has('centres'))
      this.scene.bodies.forEach((body, k) => {
        if (!body.static) this.centres.ball(this.bodies.place(k, body.com, this.a), 1.6 * this.thickness);
      });
    this.centres.end();
  }

  private centre(body: number, into: Vector3): Vector3 {
    return this.bodies.place(body, this.scene.bodies[body]!.com, into);
  }

  private draw_joints(frame: Frame, shown: boolean): void {
    this.joints.begin();
    this.arms.begin();
    this.rods.begin();
    for (const joint of this.scene.joints) {
      const [near, far] = joint.particles ?? [-1, -1];
      const anchor = near >= 0 ? this.a.fromArray(frame.particles, 3 * near) : this.bodies.place(joint.bodies[0], joint.anchor, this.a);
      // What holds a body from afar is a thing of its own, without mass: drawn always.
      if (this.is_rod(joint)) {
        const end = joint.other_anchor ? this.bodies.place(joint.bodies[1], joint.other_anchor, this.b) : this.centre(joint.bodies[1], this.b);
        this.rods.between(anchor, end, 1.5 * this.thickness);
      }
      if (far >= 0 && joint.type === 'rod') this.rods.between(anchor, this.b.fromArray(frame.particles, 3 * far), 1.5 * this.thickness);
      if (!shown) continue;
      this.joints.ball(anchor, 2.4 * this.thickness);
      for (const body of joint.bodies)
        if (body >= 0 && !this.scene.bodies[body]!.static) this.arms.between(anchor, this.centre(body, this.b), 0.5 * this.thickness);
    }
    this.joints.end();
    this.arms.end();
    this.rods.end();
  }

  private is_rod(joint: JointDescription): boolean {
    let known = this.rod_joints.get(joint);
    if (known === undefined) {
      const body = joint.bodies[1];
      const anchor = this.bodies.place(joint.bodies[0], joint.anchor, new Vector3());
      const inside = (k: number): boolean => this.bodies.extent((b) => b === k, new Box3()).expandByScalar(this.thickness).containsPoint(anchor);
      known = body >= 0 && (joint.type === 'rod' || (joint.bodies[0] < 0 && !inside(body)));
      this.rod_joints.set(joint, known);
    }
    return known;
  }

  private draw_links(frame: Frame): void {
    this.coils.begin();
    for (const link of this.scene.links) {
      const end = (particle: number | undefined, body = -1, at: readonly number[] = [0, 0, 0], into: Vector3): Vector3 =>
        particle !== undefined ? into.fromArray(frame.particles, 3 * particle) : this.bodies.place(body, at, into);
      const from = end(link.particle, link.body, link.at, this.a);
      const to = end(link.other_particle, link.other, link.other_at, this.b);
      this.coils.between(from, to, Math.min(4 * this.thickness, 0.12 * from.distanceTo(to)));
    }
    this.coils.end();
  }

  private draw_contacts(frame: Frame, shown: boolean): void {
    this.contacts.begin();
    this.normals.begin();
    if (shown && frame.contacts) {
      const { count, values } = frame.contacts;
      for (let k = 0; k < count; ++k) {
        this.contacts.ball(this.a.fromArray(values, 10 * k), 1.3 * this.thickness);
        this.normals.add(this.a, this.b.fromArray(values, 10 * k + 3).multiplyScalar(14 * this.thickness), 0.45 * this.thickness);
      }
    }
    this.contacts.end();
    this.normals.end();
  }

  private draw_forces(frame: Frame, shown: boolean): void {
    this.forces.begin();
    if (shown) {
      const contacts = frame.contacts?.values ?? new Float32Array();
      const joints = frame.joint_forces ?? new Float32Array();
      let largest = 0;
      for (let k = 0; k + 9 < contacts.length; k += 10) largest = Math.max(largest, this.b.fromArray(contacts, k + 6).length());
      for (let k = 0; k + 5 < joints.length; k += 6) largest = Math.max(largest, this.b.fromArray(joints, k + 3).length());
      this.force_scale.fit(largest, this.size, contacts.length / 10 + joints.length / 6);
      const scale = this.force_scale.per_metre > 0 ? 1 / this.force_scale.per_metre : 0;
      const thickness = contacts.length / 10 + joints.length / 6 > 40 ? 0.55 * this.thickness : this.thickness;
      for (let k = 0; k + 9 < contacts.length; k += 10)
        this.forces.add(this.a.fromArray(contacts, k), this.b.fromArray(contacts, k + 6).multiplyScalar(scale), thickness);
      for (let k = 0; k + 5 < joints.length; k += 6)
        this.forces.add(this.a.fromArray(joints, k), this.b.fromArray(joints, k + 3).multiplyScalar(scale), thickness);
    }
    this.forces.end();
  }

  private draw_velocities(frame: Frame, shown: boolean): void {
    this.velocities.begin();
    if (shown && frame.velocities) {
      const values = frame.velocities;
      let largest = 0;
      for (let k = 0; k < values.length; k += 3) largest = Math.max(largest, this.b.fromArray(values, k).length());
      this.velocity_scale.fit(largest, this.size, values.length / 3);
      const scale = this.velocity_scale.per_metre > 0 ? 1 / this.velocity_scale.per_metre : 0;
      const thickness = values.length > 120 ? 0.6 * this.thickness : this.thickness;
      this.scene.bodies.forEach((body, k) => {
        if (!body.static) this.velocities.add(this.centre(k, this.a), this.b.fromArray(values, 3 * k).multiplyScalar(scale), thickness);
      });
    }
    this.velocities.end();
  }

  /** The spring by which a body is dragged, or null. */
  draw_drag(drag: { body: number; at: readonly number[]; to: Vector3 } | null): void {
    this.drag_coil.begin();
    this.drag_ends.begin();
    if (drag) {
      const from = this.bodies.place(drag.body, drag.at, this.a);
      this.drag_coil.between(from, drag.to, Math.min(3.5 * this.thickness, 0.1 * from.distanceTo(drag.to)));
      this.drag_ends.ball(from, 2 * this.thickness);
      this.drag_ends.ball(drag.to, 2.6 * this.thickness);
    }
    this.drag_coil.end();
    this.drag_ends.end();
  }

  dispose(): void {
    for (const thing of [this.joints, this.arms, this.rods, this.coils, this.contacts, this.centres, this.normals, this.forces, this.velocities, this.drag_coil, this.drag_ends])
      thing.dispose();
  }
}
