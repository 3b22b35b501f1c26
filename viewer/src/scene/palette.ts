// Colours of the drawing, for light and dark pages.

import { Color } from 'three';
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

/** Islands get hues as different as can be; bodies of none (fixed, alone) are grey. */
export function island_colour(island: number, into: Color): Color {
  if (island === 0xffff) return into.set('#8b95a1');
  return into.setHSL(fraction(island), 0.62, 0.56);
}
