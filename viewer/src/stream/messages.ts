// The text messages of the stream, both ways. docs/viewer_stream.md describes them; positions are in metres, z is up.

export type Vector = [number, number, number];

export interface ShapeMessage {
  type: string;
  radius?: number;
  height?: number;
  length?: number;
  size?: Vector;
  radii?: Vector;
  vertices?: number[];
  triangles?: number[];
  position?: Vector;
  orientation?: [number, number, number, number];
}

export interface BodyDescription {
  name: string;
  static: boolean;
  mass: number;
  com: Vector;
  shapes: ShapeMessage[];
}

export interface JointDescription {
  name: string;
  type: string;
  bodies: [number, number];
  anchor: Vector;
  /** Of a rod: its other end, in the frame of the second body. */
  other_anchor?: Vector;
  /** Where the second partner, or both, are particles instead; else −1. */
  particles?: [number, number];
}

export interface LinkDescription {
  body: number;
  at: Vector;
  other?: number;
  other_at?: Vector;
  /** Where an end is a particle instead. */
  particle?: number;
  other_particle?: number;
}

export interface NumberDescription {
  key: string;
  label: string;
  unit: string;
  about: string;
  /** Spans decades. */
  logarithmic: boolean;
}

export type FieldValue = string | number | boolean;

export interface Field {
  path: string;
  label: string;
  kind: string;
  choices?: string[];
  /** Choices under headings, where there are many. */
  groups?: Record<string, string[]>;
  /** What a choice is for. */
  hints?: Record<string, string>;
  /** Why a choice would be refused in this scene, with the other fields as they are. */
  unfit?: Record<string, string>;
  min?: number;
  max?: number;
  unit?: string;
  about?: string;
  value?: FieldValue;
}

export interface SceneMessage {
  say: 'scene';
  generation: number;
  source: 'live' | 'recording';
  name: string;
  about: string;
  dt: number;
  duration: number;
  /** Seconds of its time per second of the clock, at which it is well watched. */
  pace: number;
  /** What the recipe was made for, where somebody turned the dial. */
  dial: string | null;
  accuracy: number | null;
  gravity: Vector;
  position_quantum: number;
  quaternion_quantum: number;
  bounds: [Vector, Vector];
  bodies: BodyDescription[];
  joints: JointDescription[];
  particles: { count: number; radius: number; pinned: number[]; groups: { name: string; first: number; count: number }[] };
  springs: number[];
  triangles: number[];
  links: LinkDescription[];
  /** Where a plane of a fluid can be seen. */
  fluid: { grid: Vector; box: [Vector, Vector]; slice: { axis: number; at: number } } | null;
  numbers: NumberDescription[];
  recipe: Record<string, unknown>;
  fields: Field[];
}

export interface StateMessage {
  say: 'state';
  playing: boolean;
  speed: number;
  time: number;
  live_end: number;
  history_start: number;
  duration: number;
  /** Steps since the last of these messages that the recipe's budget cut short, and the largest residual that was left. */
  cut_steps: number;
  cut_residual: number;
}

export interface BodyMessage {
  say: 'body';
  body: number;
  name: string;
  position: Vector;
  orientation: [number, number, number, number];
  velocity: Vector;
  angular_velocity: Vector;
  mass: number;
  energy: number;
  contacts: number;
  force: Vector;
}

export interface ModesMessage {
  say: 'modes';
  /** m/s², rad/s²: how far from an equilibrium the pose is. */
  unbalance: number;
  modes: { frequency: number; damping_ratio: number; real: number; imaginary: number }[];
}

export interface ModeMessage {
  say: 'mode';
  mode: number;
  frequency: number;
  damping_ratio: number;
  /** Per body its translation and rotation, six numbers, each as real and imaginary part; per particle three. */
  bodies: number[];
  particles: number[];
}

export interface SceneEntry {
  name: string;
  about: string;
}

export type ServerMessage =
  | SceneMessage
  | StateMessage
  | BodyMessage
  | ModesMessage
  | ModeMessage
  | { say: 'scenes'; scenes: SceneEntry[] }
  | { say: 'error' | 'warning' | 'end'; text: string };

export type Command =
  | { do: 'play' | 'pause' | 'restart' | 'release' | 'key' | 'record' }
  | { do: 'step'; count: number }
  | { do: 'speed'; factor: number }
  | { do: 'seek'; time: number }
  | { do: 'open'; scene: string }
  | { do: 'pick'; body: number | null }
  | { do: 'drag' | 'pose'; body: number; at: Vector; to: Vector }
  | { do: 'modes'; shape?: number }
  | { do: 'throw'; from: Vector; velocity: Vector; radius: number; mass: number }
  | { do: 'recipe'; changes: Record<string, FieldValue> }
  | { do: 'dial'; setting: string }
  | { do: 'dial'; accuracy: number }
  | { do: 'slice'; axis: number; at: number }
  | { do: 'show'; parts: string[] };

/** The value of a recipe's field: `solver` and `solver.relaxation`, whether the solver is a bare name or an object with a name. */
export function recipe_value(recipe: unknown, path: string): FieldValue | undefined {
  let value = recipe;
  for (const key of path.split('.')) {
    if (typeof value === 'string' && key === 'name') continue;
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  if (typeof value === 'object' && value !== null) value = (value as Record<string, unknown>)['name'];
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}
