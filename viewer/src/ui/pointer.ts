// Pointer on the picture: click to pick, pull a body by a spring, or with Shift pose it; everything else turns the view.

import { Plane, Raycaster, Vector2, Vector3 } from 'three';
import type { Drag, World } from '../scene/world';
import type { Stage } from '../scene/stage';
import type { Command, Vector } from '../stream/messages';

export interface PointerEvents {
  world(): World | null;
  send(command: Command): void;
  picked(body: number | null, dragged: boolean): void;
  /** The name of what the pointer is over, and where that is in the window. */
  over(name: string | null, at: [number, number]): void;
  /** Whether bodies can be pulled: not those of a recording. */
  live(): boolean;
}

const click_distance = 5;
const drag_interval_ms = 14;
const hover_ms = 70;

/** What the hand holds: a body at a point of the world and of itself, both of the moment when it was taken; a body moves on. */
interface Grip {
  body: number;
  point: Vector3;
  at: [number, number, number];
}

export class Pointer {
  /** Where the pointer is, from -1 to 1; the middle until it has moved. */
  readonly at = new Vector2(0, 0);
  private readonly ray = new Raycaster();
  private readonly plane = new Plane();
  private pressed: { x: number; y: number; id: number; grip: Grip | null; poses: boolean } | null = null;
  private moved = false;
  private sent_at = 0;
  private looking = 0;
  private hovering: [number, number] | null = null;
  private waiting = 0;

  constructor(
    private readonly stage: Stage,
    private readonly events: PointerEvents,
  ) {
    const view = stage.canvas.parentElement!;
    // Before the camera's controls, which must not see what pulls a body.
    view.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    view.addEventListener('pointermove', (event) => this.move(event), { capture: true });
    view.addEventListener('pointerup', (event) => this.up(event), { capture: true });
    view.addEventListener('pointercancel', () => this.let_go(), { capture: true });
    view.addEventListener('pointerleave', () => this.leave());
    view.addEventListener('dblclick', (event) => this.turn_about(event));
  }

  private aim(event: MouseEvent): void {
    const box = this.stage.canvas.getBoundingClientRect();
    this.at.set((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height);
    this.stage.camera.updateMatrixWorld();
    this.ray.setFromCamera(this.at, this.stage.camera);
  }

  private down(event: PointerEvent): void {
    this.leave();
    if (this.pressed) {
      if (this.pressed.grip) event.stopPropagation();
      return;
    }
    if (event.button !== 0) return;
    this.aim(event);
    const world = this.events.world();
    const hit = world?.hit(this.ray) ?? null;
    const movable = hit !== null && world !== null && !world.scene.bodies[hit.body]!.static && this.events.live();
    const grip = movable ? { ...hit, at: world.bodies.inside(hit.body, hit.point) } : null;
    this.pressed = { x: event.clientX, y: event.clientY, id: event.pointerId, grip, poses: event.shiftKey };
    this.moved = false;
    if (!movable) return;
    event.stopPropagation();
    this.stage.canvas.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    this.aim(event);
    if (!this.pressed && event.pointerType === 'mouse') this.look_soon(event);
    if (!this.pressed || event.pointerId !== this.pressed.id) return;
    if (Math.hypot(event.clientX - this.pressed.x, event.clientY - this.pressed.y) > click_distance) this.moved = true;
    const world = this.events.world();
    const { grip } = this.pressed;
    if (!grip || !world) return;
    event.stopPropagation();
    if (!this.moved) return;
    if (!world.drag) {
      const forward = this.stage.camera.getWorldDirection(new Vector3());
      this.plane.setFromNormalAndCoplanarPoint(forward, grip.point);
      world.drag = { body: grip.body, at: grip.at, to: grip.point.clone() };
      this.events.picked(grip.body, true);
    }
    const to = this.ray.ray.intersectPlane(this.plane, new Vector3());
    if (to) world.drag.to.copy(to);
    world.overlays.draw_drag(world.drag);
    this.stage.invalidate();
    this.tell(world.drag);
  }

  /** What the pointer is over, a few times a second at most: a ray through ten thousand bodies takes its time. */
  private look_soon(event: PointerEvent): void {
    const at: [number, number] = [event.clientX, event.clientY];
    this.hovering = at;
    if (this.looking !== 0) return;
    this.looking = window.setTimeout(() => {
      this.looking = 0;
      this.look();
    }, hover_ms);
  }

  private look(): void {
    const world = this.events.world();
    if (!world || !this.hovering || this.pressed) return;
    this.stage.camera.updateMatrixWorld();
    this.ray.setFromCamera(this.at, this.stage.camera);
    const hit = world.hit(this.ray);
    const particle = hit ? -1 : world.hit_particle(this.ray);
    this.events.over(hit ? world.scene.bodies[hit.body]!.name : particle >= 0 ? world.particle_name(particle) : null, this.hovering);
  }

  private leave(): void {
    window.clearTimeout(this.looking);
    this.looking = 0;
    this.hovering = null;
    this.events.over(null, [0, 0]);
  }

  /** The place of the hand, at most once per picture, and always the last one. */
  private tell(drag: Drag): void {
    const now = performance.now();
    window.clearTimeout(this.waiting);
    if (now - this.sent_at < drag_interval_ms) {
      this.waiting = window.setTimeout(() => this.tell(drag), drag_interval_ms);
      return;
    }
    this.sent_at = now;
    const space = this.events.world()?.space;
    const verb = this.pressed?.poses ? 'pose' : 'drag';
    if (space) this.events.send({ do: verb, body: drag.body, at: drag.at.map((x) => x * space.unit) as Vector, to: space.to_metres(drag.to) });
  }

  private up(event: PointerEvent): void {
    if (!this.pressed || event.pointerId !== this.pressed.id) return;
    const clicked = !this.moved;
    this.aim(event);
    this.let_go();
    if (clicked) this.events.picked(this.events.world()?.hit(this.ray)?.body ?? null, false);
  }

  /** Ends a drag, e.g. because another scene has come. */
  let_go(): void {
    window.clearTimeout(this.waiting);
    const world = this.events.world();
    if (world?.drag) {
      world.drag = null;
      world.overlays.draw_drag(null);
      this.stage.invalidate();
      this.events.send({ do: 'release' });
    }
    this.pressed = null;
  }

  private turn_about(event: MouseEvent): void {
    this.aim(event);
    const hit = this.events.world()?.hit(this.ray);
    if (!hit) return;
    const shift = hit.point.sub(this.stage.controls.target);
    this.stage.camera.position.add(shift);
    this.stage.controls.target.add(shift);
    this.stage.controls.update();
    this.stage.invalidate();
  }

  /** Throws a ball at what the pointer points to: as fast as things of this size fall, heavy enough to be felt. */
  throw_ball(): void {
    const world = this.events.world();
    if (!world) return;
    const { camera, controls } = this.stage;
    camera.updateMatrixWorld();
    this.ray.setFromCamera(this.at, camera);
    const distance = camera.position.distanceTo(controls.target);
    const away = Math.max(0.15 * distance, distance - 1.2 * world.size);
    const target = world.hit(this.ray)?.point.distanceTo(camera.position) ?? distance;
    const [gx, gy, gz] = world.scene.gravity;
    const weight = Math.hypot(gx, gy, gz) || 9.81 / world.space.unit;
    const speed = 1.6 * Math.sqrt(weight * world.size);
    const flight = Math.max(0, target - away) / speed;
    const moving = world.scene.bodies.filter((body) => !body.static && body.mass > 0);
    const mean = moving.reduce((sum, body) => sum + body.mass, 0) / Math.max(1, moving.length);
    const from = this.ray.ray.at(away, new Vector3());
    // Aimed high enough to hit in spite of its fall.
    const velocity = this.ray.ray.direction.clone().multiplyScalar(speed).addScaledVector(new Vector3(gx, gy, gz), -flight / 2);
    const { unit } = world.space;
    this.events.send({
      do: 'throw',
      from: world.space.to_metres(from),
      velocity: velocity.multiplyScalar(unit).toArray() as Vector,
      radius: 0.035 * world.size * unit,
      mass: 4 * (mean || 1),
    });
  }
}
