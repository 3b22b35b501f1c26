// A plane of the fluid: its vorticity, speed or pressure as colour, streamlines, and arrows.

import { BufferAttribute, BufferGeometry, DataTexture, DoubleSide, Group, LinearFilter, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, PlaneGeometry, SRGBColorSpace, Vector3 } from 'three';
import type { FluidPlane, Frame } from '../stream/frame_decoder';
import { Arrows } from './instances';

export type FluidColour = 'vorticity' | 'speed' | 'pressure';
/** What the plane's colour can mean; `scale` is its place in the plane's. */
export const fluid_colours: { id: FluidColour; label: string; unit: string; scale: number }[] = [
  { id: 'vorticity', label: 'Vorticity', unit: '1/s', scale: 1 },
  { id: 'speed', label: 'Speed', unit: 'm/s', scale: 0 },
  { id: 'pressure', label: 'Pressure', unit: 'Pa', scale: 2 },
];

const last_number = 127;
const diverging = [[20, 50, 130], [95, 160, 215], [248, 248, 248], [235, 130, 95], [140, 20, 40]];
const rising = [[20, 15, 60], [45, 80, 140], [40, 150, 140], [130, 205, 90], [250, 235, 60]];

/** Red, green and blue between stops at even distances, for 0 to 1. */
export function shade(stops: number[][], share: number): [number, number, number] {
  const at = Math.min(1, Math.max(0, share)) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[k]!, stops[k + 1]!];
  return [0, 1, 2].map((c) => Math.round(a[c]! + (at - k) * (b[c]! - a[c]!))) as [number, number, number];
}

/** Four bytes per cell. */
export function paint_plane({ columns, rows, cells }: FluidPlane, colour: FluidColour, into: Uint8Array): void {
  for (let k = 0; k < columns * rows; ++k) {
    const [u, v, vorticity, pressure] = [cells[4 * k]!, cells[4 * k + 1]!, cells[4 * k + 2]!, cells[4 * k + 3]!];
    const signed = colour === 'vorticity' ? vorticity : pressure;
    const [r, g, b] = colour === 'speed' ? shade(rising, Math.hypot(u, v) / last_number) : shade(diverging, 0.5 + (0.5 * signed) / last_number);
    into.set([r, g, b, 255], 4 * k);
  }
}

/** Velocity in columns and rows per unit of time, at a place in cells, linearly between the middles of cells. */
export function velocity_at({ columns, rows, cells }: FluidPlane, x: number, y: number, into: [number, number]): void {
  const i = Math.min(columns - 2, Math.max(0, Math.floor(x)));
  const j = Math.min(rows - 2, Math.max(0, Math.floor(y)));
  const [a, b] = [Math.min(1, Math.max(0, x - i)), Math.min(1, Math.max(0, y - j))];
  for (const c of [0, 1] as const) {
    const at = (di: number, dj: number): number => cells[4 * ((j + dj) * columns + i + di) + c]!;
    into[c] = (1 - b) * ((1 - a) * at(0, 0) + a * at(1, 0)) + b * ((1 - a) * at(0, 1) + a * at(1, 1));
  }
}

/** Lines along the velocity, in cells: pairs of points. A line ends where it would come close to one that is there. */
export function streamlines(plane: FluidPlane, spacing: number): number[] {
  const { columns, rows } = plane;
  const wide = Math.ceil(columns / spacing);
  const owner = new Int32Array(wide * Math.ceil(rows / spacing)).fill(-1);
  const out: number[] = [];
  const u: [number, number] = [0, 0];
  const step = 0.5;
  const trace = (x: number, y: number, way: number, line: number): void => {
    for (let n = 0; n < 4 * (columns + rows); ++n) {
      velocity_at(plane, x, y, u);
      const speed = Math.hypot(u[0], u[1]);
      if (speed < 1) return;
      const [mx, my] = [x + (way * 0.5 * step * u[0]) / speed, y + (way * 0.5 * step * u[1]) / speed];
      velocity_at(plane, mx, my, u);
      const middle = Math.hypot(u[0], u[1]);
      if (middle < 1) return;
      const [nx, ny] = [x + (way * step * u[0]) / middle, y + (way * step * u[1]) / middle];
      if (!(nx >= 0 && ny >= 0 && nx <= columns - 1 && ny <= rows - 1)) return;
      const cell = Math.floor(ny / spacing) * wide + Math.floor(nx / spacing);
      if (owner[cell]! >= 0 && owner[cell] !== line) return;
      owner[cell] = line;
      out.push(x, y, nx, ny);
      [x, y] = [nx, ny];
    }
  };
  let line = 0;
  for (let y = 0.5 * spacing; y < rows - 1; y += spacing)
    for (let x = 0.5 * spacing; x < columns - 1; x += spacing) {
      const cell = Math.floor(y / spacing) * wide + Math.floor(x / spacing);
      if (owner[cell]! >= 0) continue;
      owner[cell] = ++line;
      trace(x, y, 1, line);
      trace(x, y, -1, line);
    }
  return out;
}

export class Fluid {
  readonly group = new Group();
  /** Of the last plane. */
  scale: [number, number, number] = [0, 0, 0];
  colour: FluidColour = 'vorticity';
  private texture: DataTexture | null = null;
  /** A little behind its place, so that lines in it are not hidden by halves. */
  private readonly material = new MeshBasicMaterial({ side: DoubleSide, toneMapped: false, transparent: true, opacity: 0.92, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 });
  private readonly mesh = new Mesh(new PlaneGeometry(1, 1), this.material);
  private readonly line_material = new LineBasicMaterial({ color: '#1c2733', transparent: true, opacity: 0.6 });
  private readonly lines = new LineSegments(new BufferGeometry(), this.line_material);
  private readonly arrows = new Arrows('#1c2733');
  private readonly from = new Vector3();
  private readonly vector = new Vector3();

  constructor() {
    this.mesh.matrixAutoUpdate = false;
    this.lines.frustumCulled = this.mesh.frustumCulled = false;
    this.group.add(this.mesh, this.lines, this.arrows.group);
    this.group.visible = false;
  }

  /** Pieces of streamlines that are drawn. */
  get segments(): number {
    return this.lines.visible ? (this.lines.geometry.getAttribute('position')?.count ?? 0) / 2 : 0;
  }

  update(frame: Frame, shown: ReadonlySet<string>): void {
    const plane = frame.fluid;
    this.group.visible = plane !== null && plane.columns > 1 && plane.rows > 1;
    if (!plane || !this.group.visible) return;
    this.scale = plane.scale;
    this.mesh.visible = shown.has('fluid');
    if (this.mesh.visible) this.paint(plane);
    this.lines.visible = shown.has('streamlines');
    if (this.lines.visible) this.draw_lines(plane);
    this.draw_arrows(plane, shown.has('flow_arrows'));
  }

  private place(plane: FluidPlane, x: number, y: number, into: Vector3): Vector3 {
    into.fromArray(plane.origin);
    into.setComponent(plane.axes[0], into.getComponent(plane.axes[0]) + x * plane.spacing[0]);
    return into.setComponent(plane.axes[1], into.getComponent(plane.axes[1]) + y * plane.spacing[1]);
  }

  private paint(plane: FluidPlane): void {
    const { columns, rows, axes, spacing } = plane;
    if (!this.texture || this.texture.image.width !== columns || this.texture.image.height !== rows) {
      this.texture?.dispose();
      this.texture = new DataTexture(new Uint8Array(4 * columns * rows), columns, rows);
      this.texture.colorSpace = SRGBColorSpace;
      this.texture.magFilter = this.texture.minFilter = LinearFilter;
      this.material.map = this.texture;
      this.material.needsUpdate = true;
    }
    paint_plane(plane, this.colour, this.texture.image.data as Uint8Array);
    this.texture.needsUpdate = true;
    const along = new Vector3().setComponent(axes[0], columns * spacing[0]);
    const up = new Vector3().setComponent(axes[1], rows * spacing[1]);
    const across = new Vector3().crossVectors(along, up).normalize();
    this.mesh.matrix.makeBasis(along, up, across).setPosition(this.place(plane, 0.5 * (columns - 1), 0.5 * (rows - 1), this.from));
    this.mesh.matrixWorldNeedsUpdate = true;
  }

  private draw_lines(plane: FluidPlane): void {
    const ends = streamlines(plane, Math.max(2, Math.max(plane.columns, plane.rows) / 32));
    const positions = new Float32Array((3 * ends.length) / 2);
    for (let k = 0; k + 1 < ends.length; k += 2) this.place(plane, ends[k]!, ends[k + 1]!, this.from).toArray(positions, (3 * k) / 2);
    this.lines.geometry.dispose();
    this.lines.geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(positions, 3));
  }

  private draw_arrows(plane: FluidPlane, shown: boolean): void {
    this.arrows.begin();
    if (shown) {
      const every = Math.max(1, Math.round(Math.max(plane.columns, plane.rows) / 32));
      const length = (every * Math.max(...plane.spacing)) / last_number;
      const u: [number, number] = [0, 0];
      for (let y = every >> 1; y < plane.rows; y += every)
        for (let x = every >> 1; x < plane.columns; x += every) {
          velocity_at(plane, x, y, u);
          this.vector.set(0, 0, 0).setComponent(plane.axes[0], u[0] * length).setComponent(plane.axes[1], u[1] * length);
          this.arrows.add(this.place(plane, x, y, this.from), this.vector, 0.06 * every * Math.max(...plane.spacing));
        }
    }
    this.arrows.end();
  }

  dispose(): void {
    this.texture?.dispose();
    this.material.dispose();
    this.mesh.geometry.dispose();
    this.lines.geometry.dispose();
    this.line_material.dispose();
    this.arrows.dispose();
  }
}
