// Writes frames as docs/viewer_stream.md says, for the tests of the decoder.

export class Bytes {
  private readonly values: number[] = [];
  u8(value: number): this {
    this.values.push(value & 0xff);
    return this;
  }
  u16(value: number): this {
    return this.u8(value).u8(value >>> 8);
  }
  u32(value: number): this {
    return this.u16(value).u16(value >>> 16);
  }
  f32(...values: number[]): this {
    return this.append(new Uint8Array(new Float32Array(values).buffer));
  }
  f64(...values: number[]): this {
    return this.append(new Uint8Array(new Float64Array(values).buffer));
  }
  varint(value: bigint): this {
    for (; value >= 128n; value >>= 7n) this.u8(Number(value & 127n) | 128);
    return this.u8(Number(value));
  }
  append(bytes: Iterable<number>): this {
    this.values.push(...bytes);
    return this;
  }
  section(id: number, payload: Bytes): this {
    return this.u8(id).u32(payload.values.length).append(payload.values);
  }
  buffer(): ArrayBuffer {
    return new Uint8Array(this.values).buffer;
  }
}

export function header(kind: number, generation: number, number: number, time: number, step: number): Bytes {
  return new Bytes().u8(kind).u8(0).u16(generation).u32(number).f64(time).u32(step);
}

function zigzag(value: bigint): bigint {
  return value >= 0n ? 2n * value : -2n * value - 1n;
}

/** Rows of integers minus their predictions, with runs of rows that are as predicted. */
export function residuals(rows: bigint[][], predictions: bigint[][]): Bytes {
  const bytes = new Bytes();
  let run = 0n;
  const flush = (): void => {
    if (run > 0n) bytes.u8(0x80).varint(run);
    run = 0n;
  };
  rows.forEach((row, k) => {
    const left = row.map((value, j) => value - predictions[k]![j]!);
    if (left.every((value) => value === 0n)) {
      ++run;
      return;
    }
    flush();
    bytes.u8(left.reduce((mask, value, j) => mask | (value === 0n ? 0 : 1 << j), 0));
    for (const value of left) if (value !== 0n) bytes.varint(zigzag(value));
  });
  flush();
  return bytes;
}
