// Binary frames of the stream: a header of 20 bytes, then sections (u8 id, u32 length, payload), little endian.
//
// Poses are integers: position / position_quantum and quaternion / quaternion_quantum. What travels is the difference to a
// prediction: 0 in a key frame, the last value in the first delta after it, then 2 last - last but one. A delta that does not
// follow the frame before it cannot be read: decode() then says 'lost', and goes on saying so until a key frame comes.

import type { SceneMessage } from './messages';

export interface Contacts {
  count: number;
  /** Ten numbers each: point, normal, force on the second body, gap. */
  values: Float32Array;
}

/** A plane of a fluid: four whole numbers from -127 to 127 per cell, rows from the lowest upwards. */
export interface FluidPlane {
  columns: number;
  rows: number;
  /** That columns and rows run along: 0 to 2. */
  axes: [number, number];
  /** Middle of the first cell. */
  origin: [number, number, number];
  spacing: [number, number];
  /** What 127 means: m/s, 1/s, Pa. */
  scale: [number, number, number];
  /** Velocity along columns and rows, vorticity, pressure. */
  cells: Int16Array;
}

/** The newest frame. Arrays are reused from frame to frame. */
export interface Frame {
  number: number;
  generation: number;
  time: number;
  step: number;
  /** x y z per body, in metres. */
  positions: Float64Array;
  /** w x y z per body, of unit length. */
  orientations: Float64Array;
  particles: Float64Array;
  numbers: Float64Array;
  contacts: Contacts | null;
  /** Six numbers per joint: point, force on its second body. */
  joint_forces: Float32Array | null;
  /** Three numbers per body, of its centre of mass. */
  velocities: Float32Array | null;
  /** An island's number per body; 0xffff: none. */
  islands: Uint16Array | null;
  /** A bit per body. */
  sleeping: Uint8Array | null;
  /** Newtons per body: the sizes of all forces on it, added up. */
  loads: Float32Array | null;
  fluid: FluidPlane | null;
}

export interface StreamLayout {
  generation: number;
  bodies: number;
  joints: number;
  particles: number;
  numbers: number;
  position_quantum: number;
  quaternion_quantum: number;
}

export type Outcome = 'frame' | 'lost' | 'other generation';

export class StreamError extends Error {}

const header_bytes = 20;
const fluid_header_bytes = 40;
const key_kind = 1;
const run_mask = 0x80;

/** Integers of one section, with what is needed to predict the next ones. Doubles: exact up to 2^53. */
class Predicted {
  last: Float64Array;
  before: Float64Array;
  constructor(
    readonly count: number,
    readonly width: number,
  ) {
    this.last = new Float64Array(count * width);
    this.before = new Float64Array(count * width);
  }
}

class Reader {
  at = 0;
  end = 0;
  constructor(readonly bytes: Uint8Array) {}

  byte(): number {
    if (this.at >= this.end) throw new StreamError('section ends in the middle of a value');
    return this.bytes[this.at++]!;
  }

  varint(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    let weight = 128;
    while (byte & 0x80) {
      if (weight > Number.MAX_SAFE_INTEGER) throw new StreamError('varint longer than 53 bits');
      byte = this.byte();
      value += (byte & 0x7f) * weight;
      weight *= 128;
    }
    return value;
  }

  zigzag(): number {
    // Nearly all residuals fit in two bytes: those go without doubles.
    const { bytes, at } = this;
    if (at + 1 < this.end) {
      const low = bytes[at]!;
      if (low < 0x80) {
        this.at = at + 1;
        return (low >>> 1) ^ -(low & 1);
      }
      const high = bytes[at + 1]!;
      if (high < 0x80) {
        this.at = at + 2;
        return (((low & 0x7f) | (high << 7)) >>> 1) ^ -(low & 1);
      }
    }
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

export function layout_of(scene: SceneMessage): StreamLayout {
  return {
    generation: scene.generation,
    bodies: scene.bodies.length,
    joints: scene.joints.length,
    particles: scene.particles.count,
    numbers: scene.numbers.length,
    position_quantum: scene.position_quantum,
    quaternion_quantum: scene.quaternion_quantum,
  };
}

export class FrameDecoder {
  readonly frame: Frame;
  private readonly bodies: Predicted;
  private readonly particles: Predicted;
  private fluid_cells = new Int16Array();
  private frames_since_key = -1;

  constructor(private readonly layout: StreamLayout) {
    this.bodies = new Predicted(layout.bodies, 7);
    this.particles = new Predicted(layout.particles, 3);
    this.frame = {
      number: -1,
      generation: layout.generation,
      time: 0,
      step: 0,
      positions: new Float64Array(3 * layout.bodies),
      orientations: new Float64Array(4 * layout.bodies),
      particles: new Float64Array(3 * layout.particles),
      numbers: new Float64Array(layout.numbers).fill(Number.NaN),
      contacts: null,
      joint_forces: null,
      velocities: null,
      islands: null,
      sleeping: null,
      loads: null,
      fluid: null,
    };
  }

  /** Takes a frame in. Throws StreamError where the bytes are not a frame of this layout. */
  decode(buffer: ArrayBuffer): Outcome {
    if (buffer.byteLength < header_bytes) throw new StreamError('frame shorter than its header');
    const view = new DataView(buffer);
    const kind = view.getUint8(0);
    if (kind !== key_kind && kind !== 2) throw new StreamError(`unknown kind of frame ${kind}`);
    if (view.getUint16(2, true) !== (this.layout.generation & 0xffff)) return 'other generation';
    const number = view.getUint32(4, true);
    if (kind === key_kind) {
      this.frames_since_key = 0;
    } else if (this.frames_since_key < 0 || number !== (this.frame.number + 1) >>> 0) {
      this.frames_since_key = -1;
      return 'lost';
    } else {
      ++this.frames_since_key;
    }
    const frame = this.frame;
    frame.number = number;
    frame.time = view.getFloat64(8, true);
    frame.step = view.getUint32(16, true);
    frame.contacts = null;
    frame.joint_forces = null;
    frame.velocities = null;
    frame.islands = null;
    frame.sleeping = null;
    frame.loads = null;
    frame.fluid = null;
    try {
      this.sections(buffer, view);
    } catch (error) {
      this.frames_since_key = -1;
      throw error;
    }
    return 'frame';
  }

  private sections(buffer: ArrayBuffer, view: DataView): void {
    const reader = new Reader(new Uint8Array(buffer));
    let at = header_bytes;
    while (at < buffer.byteLength) {
      if (at + 5 > buffer.byteLength) throw new StreamError('frame ends in the middle of a section header');
      const id = view.getUint8(at);
      const length = view.getUint32(at + 1, true);
      at += 5;
      if (at + length > buffer.byteLength) throw new StreamError(`section ${id} is longer than its frame`);
      reader.at = at;
      reader.end = at + length;
      this.section(id, reader, view, at, length);
      at += length;
    }
  }

  private section(id: number, reader: Reader, view: DataView, at: number, length: number): void {
    const { bodies, joints, numbers, position_quantum } = this.layout;
    const frame = this.frame;
    const expect = (bytes: number): void => {
      if (length !== bytes) throw new StreamError(`section ${id} has ${length} bytes instead of ${bytes}`);
    };
    const floats = (from: number, count: number): Float32Array => new Float32Array(view.buffer.slice(from, from + 4 * count));
    switch (id) {
      case 1:
        this.predicted(reader, this.bodies);
        this.poses();
        break;
      case 2:
        this.predicted(reader, this.particles);
        this.particles.last.forEach((value, k) => (frame.particles[k] = value * position_quantum));
        break;
      case 3: {
        const count = length >= 4 ? view.getUint32(at, true) : 0;
        expect(4 + 40 * count);
        frame.contacts = { count, values: floats(at + 4, 10 * count) };
        break;
      }
      case 4:
        expect(24 * joints);
        frame.joint_forces = floats(at, 6 * joints);
        break;
      case 5:
        expect(12 * bodies);
        frame.velocities = floats(at, 3 * bodies);
        break;
      case 6:
        expect(2 * bodies);
        frame.islands = new Uint16Array(view.buffer.slice(at, at + 2 * bodies) as ArrayBuffer);
        break;
      case 7:
        expect((bodies + 7) >> 3);
        frame.sleeping = new Uint8Array(view.buffer.slice(at, at + length) as ArrayBuffer);
        break;
      case 8:
        expect(8 * numbers);
        for (let k = 0; k < numbers; ++k) frame.numbers[k] = view.getFloat64(at + 8 * k, true);
        break;
      case 9:
        expect(4 * bodies);
        frame.loads = floats(at, bodies);
        break;
      case 10:
        if (length < fluid_header_bytes) throw new StreamError('fluid shorter than its header');
        frame.fluid = this.fluid(reader, view, at);
        break;
      default: // of a newer program
    }
  }

  /** Rotates last and before, then fills last with prediction + residual. */
  private predicted(reader: Reader, values: Predicted): void {
    const { count, width } = values;
    const next = values.before;
    const last = values.last;
    if (this.frames_since_key === 0) next.fill(0);
    else if (this.frames_since_key === 1) next.set(last);
    else for (let k = 0; k < next.length; ++k) next[k] = 2 * last[k]! - next[k]!;
    values.before = last;
    values.last = next;
    for (let k = 0; k < count; ) {
      const mask = reader.byte();
      if (mask === run_mask) {
        const run = reader.varint();
        if (run < 1 || k + run > count) throw new StreamError('run of resting bodies longer than their number');
        k += run;
        continue;
      }
      if (mask >>> width !== 0) throw new StreamError(`unknown mask ${mask}`);
      for (let j = 0; j < width; ++j) if (mask & (1 << j)) next[k * width + j]! += reader.zigzag();
      ++k;
    }
    if (reader.at !== reader.end) throw new StreamError('section longer than its values');
  }

  /** A plane stands for itself (1), or differs from the one before (2). */
  private fluid(reader: Reader, view: DataView, at: number): FluidPlane {
    const kind = view.getUint8(at);
    const columns = view.getUint16(at + 4, true);
    const rows = view.getUint16(at + 6, true);
    const count = columns * rows;
    if (kind !== 1 && kind !== 2) throw new StreamError(`unknown kind of fluid ${kind}`);
    if (kind === 1) this.fluid_cells = new Int16Array(4 * count);
    if (this.fluid_cells.length !== 4 * count) throw new StreamError('fluid of another size than the one before');
    const cells = this.fluid_cells;
    reader.at = at + fluid_header_bytes;
    for (let k = 0; k < count; ) {
      const mask = reader.byte();
      if (mask === run_mask) {
        const run = reader.varint();
        if (run < 1 || k + run > count) throw new StreamError('run of cells longer than their number');
        k += run;
        continue;
      }
      if (mask >>> 4 !== 0) throw new StreamError(`unknown mask ${mask}`);
      for (let j = 0; j < 4; ++j) if (mask & (1 << j)) cells[4 * k + j]! += reader.zigzag();
      ++k;
    }
    if (reader.at !== reader.end) throw new StreamError('section longer than its values');
    const float = (k: number): number => view.getFloat32(at + 8 + 4 * k, true);
    return {
      columns,
      rows,
      axes: [view.getUint8(at + 1), view.getUint8(at + 2)],
      origin: [float(0), float(1), float(2)],
      spacing: [float(3), float(4)],
      scale: [float(5), float(6), float(7)],
      cells,
    };
  }

  private poses(): void {
    const { bodies, position_quantum } = this.layout;
    const { positions, orientations } = this.frame;
    const last = this.bodies.last;
    for (let k = 0; k < bodies; ++k) {
      const from = 7 * k;
      for (let j = 0; j < 3; ++j) positions[3 * k + j] = last[from + j]! * position_quantum;
      const w = last[from + 3]!;
      const x = last[from + 4]!;
      const y = last[from + 5]!;
      const z = last[from + 6]!;
      // Rounding has changed the length, so the quantum drops out.
      const length = Math.sqrt(w * w + x * x + y * y + z * z);
      const scale = length > 0 ? 1 / length : 0;
      orientations[4 * k] = length > 0 ? w * scale : 1;
      orientations[4 * k + 1] = x * scale;
      orientations[4 * k + 2] = y * scale;
      orientations[4 * k + 3] = z * scale;
    }
  }
}
