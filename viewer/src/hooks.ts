// window.rotule: the page's state for tests and for the curious, so that nobody has to look at pixels.

import { Vector3 } from 'three';
import type { App } from './app';
import type { Film } from './film';
import type { BodyMessage, Command, SceneMessage, StateMessage } from './stream/messages';

export interface Hooks {
  readonly scene: SceneMessage | null;
  readonly state: StateMessage | null;
  readonly body: BodyMessage | null;
  readonly connected: boolean;
  readonly frames: number;
  readonly time: number;
  readonly bodies: number;
  readonly picked: number | null;
  readonly dragging: boolean;
  /** Whether a mode is shown in motion. */
  readonly swinging: boolean;
  readonly numbers: number[];
  readonly plotted: number;
  readonly contacts: number;
  /** The plane of the fluid in the newest frame, how it is coloured, and how many lines are drawn along it. */
  readonly fluid: { columns: number; rows: number; largest: number; colour: string; segments: number } | null;
  readonly errors: string[];
  readonly summary: string;
  /** Position of a body's frame in the world. */
  position(body: number): [number, number, number];
  /** Where a body's centre of mass is in the window, in CSS pixels. */
  on_screen(body: number): [number, number];
  /** Metres of a drawn unit, and how far from the drawing's origin its camera looks. */
  readonly space: { unit: number; reach: number };
  /** The colour that a body is drawn in, as '#rrggbb'. */
  colour(body: number): string;
  /** Draws now and says how many draw calls and triangles it took. */
  draw(): { calls: number; triangles: number };
  /** Sends a command to the program. */
  send(command: Command): void;
}

declare global {
  interface Window {
    rotule?: Hooks;
    film?: Film;
  }
}

export function install_hooks(app: App): void {
  const hooks: Hooks = {
    get scene() {
      return app.scene;
    },
    get state() {
      return app.state;
    },
    get body() {
      return app.body;
    },
    get connected() {
      return app.connection.connected;
    },
    get frames() {
      return app.frames;
    },
    get time() {
      return app.frame?.time ?? Number.NaN;
    },
    get bodies() {
      return app.scene?.bodies.length ?? 0;
    },
    get picked() {
      return app.world?.picked ?? null;
    },
    get dragging() {
      return app.world?.drag != null;
    },
    get swinging() {
      return app.world?.shows_mode ?? false;
    },
    get numbers() {
      return [...(app.frame?.numbers ?? [])];
    },
    get plotted() {
      return app.plots.points;
    },
    get contacts() {
      return app.frame?.contacts?.count ?? 0;
    },
    get fluid() {
      const plane = app.frame?.fluid;
      if (!plane || !app.world) return null;
      app.draw_frame();
      const { columns, rows, cells } = plane;
      return { columns, rows, largest: cells.reduce((most, x) => Math.max(most, Math.abs(x)), 0), colour: app.layers.fluid_colour, segments: app.world.fluid.segments };
    },
    get errors() {
      return app.errors;
    },
    get summary() {
      return app.summary();
    },
    position: (body) => [...(app.frame?.positions.slice(3 * body, 3 * body + 3) ?? [])] as [number, number, number],
    on_screen(body) {
      app.draw_frame();
      const { canvas, camera } = app.stage;
      const box = canvas.getBoundingClientRect();
      camera.updateMatrixWorld();
      const at = app.world!.bodies.place(body, app.world!.scene.bodies[body]!.com, new Vector3()).project(camera);
      return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
    },
    get space() {
      return { unit: app.world!.space.unit, reach: app.stage.controls.target.length() + app.stage.camera.position.length() };
    },
    colour: (body) => app.world!.bodies.colour(body),
    draw() {
      app.stage.render();
      const { calls, triangles } = app.stage.renderer.info.render;
      return { calls, triangles };
    },
    send: (command) => app.connection.send(command),
  };
  window.rotule = hooks;
}
