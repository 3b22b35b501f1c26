// Colours of the drawing, for light and dark pages.

import { Color } from 'three';
import type { Frame } from '../stream/frame_decoder';
import type { BodyDescription } from '../stream/messages';

export type Theme = 'light' | 'dark';

export interface Look {
  sky_top: string;
  sky_horizon: string;
  ground: string;
  grid: string;
  fixed_body: string;
  hemisphere: [sky: string, ground: string, intensity: number];
  key_light: number;
  exposure: number;
}

export const looks: Record<Theme, Look> = {
  light: {
    sky_top: '#c3d3e6',
    sky_horizon: '#f3f5f7',
    ground: '#e6eaee',
    grid: '#93a1b0',
    fixed_body: '#aab4be',
    hemisphere: ['#f2f6ff', '#cfcac6', 1.95],
    key_light: 2.2,
    exposure: 1,
  },
  dark: {
    sky_top: '#0b1017',
    sky_horizon: '#263140',
    ground: '#3a4655',
    grid: '#5f7187',
    fixed_body: '#5d6b7b',
    hemisphere: ['#b9cff0', '#4a484c', 1.5],
    key_light: 2.7,
    exposure: 1,
  },
};

export const overlay_colours = {
  force: '#17c964',
  contact: '#ff4d6d',
  normal: '#ffb02e',
  velocity: '#3f8cff',
  joint: '#ff8a1f',
  centre: '#ffffff',
  spring: '#8d99a6',
  drag: '#ffd23f',
  picked: '#ffd23f',
};

const families = ['#e2725b', '#3d9bd1', '#efb93f', '#5db37e', '#9575cd', '#ef8fa6', '#3fb8b0', '#c98f5a'];

function fraction(k: number): number {
  const x = (k + 1) * 0.6180339887498949;
  return x - Math.floor(x);
}

/** Bodies of a kind ("brick_12", "left_hand" and "right_hand") share a colour, each a little different. */
export function body_colours(bodies: BodyDescription[], look: Look): Color[] {
  const kind = (name: string): string => name.replace(/left|right/g, '').replace(/[\d_.\-/]+/g, '');
  const kinds = new Map<string, number>();
  for (const body of bodies) if (!body.static && !kinds.has(kind(body.name))) kinds.set(kind(body.name), kinds.size);
  // A crowd of one kind of round things would be dull in one colour.
  const mixed = kinds.size === 1 && bodies.every((b) => b.static || b.shapes.every((s) => s.type !== 'box'));
  return bodies.map((body, k) => {
    if (body.static) return new Color(look.fixed_body);
    const family = mixed ? Math.floor(fraction(k) * families.length) : kinds.get(kind(body.name))!;
    const colour = new Color(families[family % families.length]);
    return colour.offsetHSL((fraction(3 * k) - 0.5) * 0.03, 0, (fraction(k) - 0.5) * (mixed ? 0.05 : 0.13));
  });
}

export type ColourBy = 'kind' | 'speed' | 'load' | 'mass' | 'islands';
/** What colours can mean, and the parts of frames that it takes to know. */
export const colourings: { id: ColourBy; label: string; about: string; parts: string[]; unit: string }[] = [
  { id: 'kind', label: 'Kind of body', about: 'one colour for bodies of a name; grey: fixed', parts: [], unit: '' },
  { id: 'speed', label: 'Speed', about: 'of the centre of mass; grey: fixed', parts: ['velocities'], unit: 'm/s' },
  { id: 'load', label: 'Load', about: 'all forces of contacts and joints on a body, added up; grey: fixed', parts: ['loads'], unit: 'N' },
  { id: 'mass', label: 'Mass', about: 'on a logarithmic scale; grey: fixed', parts: [], unit: 'kg' },
  { id: 'islands', label: 'Islands', about: 'what touches or hangs together is solved together; grey: alone or fixed', parts: ['islands'], unit: '' },
];

const ramp = ['#3b4cc0', '#3f9fc9', '#7fc97a', '#f2c744', '#d7301f'].map((colour) => new Color(colour));
export const ramp_css = `linear-gradient(to right, ${ramp.map((colour) => `#${colour.getHexString()}`).join(', ')})`;

/** Blue, green, yellow, red, for 0 to 1. */
export function ramp_colour(share: number, into: Color): Color {
  const at = Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0)) * (ramp.length - 1);
  const k = Math.min(ramp.length - 2, Math.floor(at));
  return into.copy(ramp[k]!).lerp(ramp[k + 1]!, at - k);
}

/** Colours by meaning. The scale's ends are round numbers, which change only when the values have left them. */
export class Colouring {
  low = 0;
  high = 0;
  private values: ArrayLike<number> | null = null;
  private islands: Uint16Array | null = null;

  constructor(
    private readonly bodies: BodyDescription[],
    private scheme: ColourBy,
  ) {}

  get by(): ColourBy {
    return this.scheme;
  }
  set by(by: ColourBy) {
    this.scheme = by;
    this.low = this.high = 0;
  }

  /** Whether colours differ from frame to frame. */
  get changes(): boolean {
    return this.scheme !== 'kind' && this.scheme !== 'mass';
  }

  begin(frame: Frame | null): void {
    this.islands = this.scheme === 'islands' ? (frame?.islands ?? null) : null;
    this.values = null;
    const { bodies } = this;
    if (this.scheme === 'mass') {
      this.values = bodies.map((body) => body.mass);
      const masses = bodies.filter((body) => !body.static).map((body) => body.mass);
      this.low = masses.reduce((a, b) => Math.min(a, b), Infinity);
      this.high = masses.reduce((a, b) => Math.max(a, b), 0);
      return;
    }
    if (this.scheme === 'load') this.values = frame?.loads ?? null;
    if (this.scheme === 'speed' && frame?.velocities) {
      const v = frame.velocities;
      this.values = bodies.map((_, k) => Math.hypot(v[3 * k]!, v[3 * k + 1]!, v[3 * k + 2]!));
    }
    if (!this.values) return;
    let largest = 0;
    for (let k = 0; k < bodies.length; ++k) if (!bodies[k]!.static) largest = Math.max(largest, this.values[k]!);
    if (largest > this.high || largest < 0.2 * this.high) this.high = round_up(largest);
  }

  colour(k: number, own: Color, into: Color): Color {
    if (this.scheme === 'islands' && this.islands) return island_colour(this.islands[k]!, into);
    if (this.values === null || this.bodies[k]!.static) return into.copy(own);
    const value = this.values[k]!;
    if (this.scheme !== 'mass') return ramp_colour(this.high > 0 ? value / this.high : 0, into);
    return ramp_colour(this.high > this.low ? Math.log(value / this.low) / Math.log(this.high / this.low) : 0.5, into);
  }
}

/** 1, 2 or 5 times a power of ten, the least that is not below x. */
export function round_up(x: number): number {
  if (!(x > 0) || !Number.isFinite(x)) return 0;
  const power = 10 ** Math.floor(Math.log10(x));
  const digit = x / power;
  return (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10) * power;
}

/** Islands get hues as different as can be; bodies of none (fixed, alone) are grey. */
export function island_colour(island: number, into: Color): Color {
  if (island === 0xffff) return into.set('#8b95a1');
  return into.setHSL(fraction(island), 0.62, 0.56);
}
