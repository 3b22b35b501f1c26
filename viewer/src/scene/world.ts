// Everything that is drawn of one scene message.

import { Box3, Color, type Raycaster, Vector3 } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { SceneMessage } from '../stream/messages';
import { Bodies, size_of, type Hit } from './bodies';
import { Fluid, type FluidColour } from './fluid';
import { Ground } from './ground';
import type { ModeShape } from './mode_shape';
import { Overlays } from './overlays';
import { body_colours, Colouring, type ColourBy, overlay_colours } from './palette';
import { Soft } from './soft';
import { Space } from './space';
import type { Stage } from './stage';

export interface Drag {
  body: number;
  at: [number, number, number];
  to: Vector3;
}

export class World {
  readonly bodies: Bodies;
  readonly ground: Ground;
  readonly soft: Soft;
  readonly fluid = new Fluid();
  readonly overlays: Overlays;
  readonly size: number;
  readonly space: Space;
  /** As it is drawn: in the space's units. */
  readonly scene: SceneMessage;
  readonly colouring: Colouring;
  drag: Drag | null = null;
  picked: number | null = null;
  private colours: Color[] = [];
  private readonly lit = new Box3();
  /** Around all that moves in this frame; empty until somebody asks. */
  private readonly moving = new Box3();
  private fixed: Box3 | null = null;
  private boxed_in = false;
  private xray = false;
  private readonly centre = new Vector3();
  private frame: Frame | null = null;
  /** A normal mode that is shown about the pose of the frame. */
  private mode: ModeShape | null = null;

  constructor(
    private readonly stage: Stage,
    message: SceneMessage,
    colour_by: ColourBy = 'kind',
  ) {
    const { light_mode } = stage.options;
    this.space = Space.of(message);
    const scene = this.space.scene(message);
    this.scene = scene;
    this.colouring = new Colouring(scene.bodies, colour_by);
    this.bodies = new Bodies(scene, light_mode);
    this.ground = new Ground(scene, light_mode);
    this.soft = new Soft(scene, light_mode);
    this.overlays = new Overlays(scene, this.bodies);
    this.size = size_of(scene);
    stage.scene.add(this.bodies.group, this.ground.group, this.soft.group, this.fluid.group, this.overlays.group);
    this.repaint();
  }

  /** Colours anew, after a change of theme or pick. */
  repaint(): void {
    this.colours = body_colours(this.scene.bodies, this.stage.look);
    this.ground.paint(this.stage.look);
    this.paint(this.frame);
  }

  private paint(frame: Frame | null): void {
    const colour = new Color();
    const picked = new Color(overlay_colours.picked);
    const sleeping = frame?.sleeping ?? null;
    this.colouring.begin(frame);
    this.bodies.paint((k) => {
      this.colouring.colour(k, this.colours[k]!, colour);
      if (sleeping && sleeping[k >> 3]! & (1 << (k & 7))) colour.lerp(new Color('#808890'), 0.6);
      if (k === this.picked) colour.lerp(picked, 0.65);
      return colour;
    });
  }

  set_colour_by(by: ColourBy): void {
    this.colouring.by = by;
    this.paint(this.frame);
    this.stage.invalidate();
  }

  set_fluid_colour(colour: FluidColour, shown: ReadonlySet<string>): void {
    this.fluid.colour = colour;
    if (this.frame) this.draw(this.frame, shown);
  }

  /** Takes a frame as it came, in metres. */
  update(frame: Frame, shown: ReadonlySet<string>): void {
    this.frame = this.space.frame(frame);
    this.draw(this.frame, shown);
  }

  set_mode(mode: ModeShape | null, shown: ReadonlySet<string>): void {
    this.mode = mode;
    if (this.frame) this.draw(this.frame, shown);
  }

  get shows_mode(): boolean {
    return this.mode !== null;
  }

  /** The mode at another phase. */
  swing(phase: number, shown: ReadonlySet<string>): void {
    if (this.mode && this.frame) this.draw(this.mode.apply(this.frame, phase), shown);
  }

  private draw(frame: Frame, shown: ReadonlySet<string>): void {
    this.moving.makeEmpty();
    this.bodies.update(frame);
    this.look_for_walls();
    this.ground.update(this.bodies.poses);
    this.soft.net = shown.has('net');
    this.soft.update(frame);
    this.fluid.update(frame, shown);
    this.overlays.update(frame, shown);
    this.overlays.draw_drag(this.drag);
    if (this.colouring.changes) this.paint(frame);
    this.ground.keep_below(this.extent().min.z - 0.01 * this.size);
    this.light_up();
    this.stage.invalidate();
  }

  /** The box that holds every moving body and particle now; the bounds, where nothing moves. */
  extent(): Box3 {
    if (!this.moving.isEmpty()) return this.moving.clone();
    const { bodies } = this.scene;
    const box = this.bodies.extent((k) => !bodies[k]!.static, new Box3());
    const particles = this.frame?.particles ?? [];
    for (let k = 0; k < particles.length; k += 3) box.expandByPoint(this.centre.fromArray(particles, k));
    this.moving.copy(box.isEmpty() ? this.bounds() : box);
    return this.moving.clone();
  }

  /**
   * What a picture should hold: what moves, wherever it went, and fixed things unless they are much larger. The few that have been
   * lost from a crowd (a brick that fell off the table) do not count: those more than four times as far from the middle as four
   * fifths of the crowd are.
   */
  framing(): Box3 {
    const { fixed } = this;
    if (!fixed || this.scene.fluid) return this.bounds();
    const moving = this.crowd();
    if (moving.isEmpty()) return this.bounds();
    const length = (box: Box3): number => box.getSize(this.centre).length();
    const anchors = this.scene.joints.filter((joint) => joint.bodies[0] < 0 && !(joint.particles && joint.particles[0] >= 0));
    for (const joint of anchors) moving.expandByPoint(this.centre.fromArray(joint.anchor));
    return fixed.isEmpty() || length(fixed) > 3 * length(moving) ? moving : moving.union(fixed);
  }

  private crowd(): Box3 {
    const { bodies } = this.scene;
    const movers = bodies.flatMap((body, k) => (body.static ? [] : [k]));
    if (movers.length < 6 || this.scene.particles.count > 0) return this.extent();
    const poses = this.bodies.poses;
    const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
    const middle = this.centre.fromArray([3, 7, 11].map((row) => median(movers.map((k) => poses[12 * k + row]!))));
    const away = (k: number): number => Math.hypot(poses[12 * k + 3]! - middle.x, poses[12 * k + 7]! - middle.y, poses[12 * k + 11]! - middle.z);
    const reach = movers.map(away).sort((a, b) => a - b)[Math.floor(0.8 * movers.length)]!;
    const most = 4 * Math.max(reach, 0.1 * this.size);
    const kept = new Set(movers.filter((k) => away(k) <= most));
    return this.bodies.extent((k) => kept.has(k), new Box3());
  }

  /** The particle that a ray passes within a share of its distance, nearest first; -1 where there is none. */
  hit_particle(ray: Raycaster): number {
    const { particles } = this.scene;
    const at = this.frame?.particles ?? [];
    const point = new Vector3();
    let best = -1;
    let nearest = Infinity;
    for (let k = 0; k < particles.count; ++k) {
      point.fromArray(at, 3 * k);
      const distance = point.distanceTo(ray.ray.origin);
      if (ray.ray.distanceToPoint(point) > Math.max(1.5 * particles.radius, 0.012 * distance) || distance >= nearest) continue;
      nearest = distance;
      best = k;
    }
    return best;
  }

  particle_name(k: number): string {
    const group = this.scene.particles.groups.find(({ first, count }) => k >= first && k < first + count);
    return group === undefined ? '' : group.count === 1 ? group.name : `${group.name}/${k - group.first}`;
  }

  particle_place(k: number, into: Vector3): Vector3 {
    return into.fromArray(this.frame?.particles ?? [0, 0, 0], 3 * k);
  }

  bounds(): Box3 {
    const box = new Box3(new Vector3(...this.scene.bounds[0]), new Vector3(...this.scene.bounds[1]));
    return box.isEmpty() ? new Box3(new Vector3(-1, -1, -1), new Vector3(1, 1, 1)) : box;
  }

  /** Shadows cover the bounds and what has left them, as far as that is still worth a shadow. */
  private light_up(): void {
    const box = this.extent().expandByScalar(0.1 * this.size);
    if (!this.lit.isEmpty() && this.lit.containsBox(box)) return;
    this.lit.union(this.bounds()).union(box);
    const reach = this.bounds().expandByScalar(2 * this.size);
    this.lit.intersect(reach);
    this.stage.light_up(this.lit.getCenter(new Vector3()), 0.55 * this.lit.getSize(new Vector3()).length());
  }

  set_shown(shown: ReadonlySet<string>): void {
    this.ground.group.visible = shown.has('ground');
    this.xray = shown.has('xray');
    this.set_glass();
    if (this.frame) this.draw(this.frame, shown);
    this.stage.invalidate();
  }

  private set_glass(): void {
    this.bodies.set_translucent(this.xray ? 'all' : this.boxed_in ? 'fixed' : 'none');
  }

  /** Whether fixed walls stand around what moves: then they are of glass. */
  private look_for_walls(): void {
    if (this.fixed) return;
    this.fixed = this.bodies.extent((k) => this.scene.bodies[k]!.static, new Box3());
    const middle = this.extent().getCenter(new Vector3());
    this.boxed_in = !this.fixed.isEmpty() && this.fixed.containsPoint(middle);
    if (this.boxed_in) this.set_glass();
  }

  hit(ray: Raycaster): Hit | null {
    return this.bodies.hit(ray);
  }

  dispose(): void {
    for (const thing of [this.bodies, this.ground, this.soft, this.fluid, this.overlays]) {
      this.stage.scene.remove(thing.group);
      thing.dispose();
    }
  }
}
