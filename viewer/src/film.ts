// Film mode, for `rotule film`: one picture per frame, sent back to the program, which sends the next frame only then.
// ?film=WIDTHxHEIGHT [&format=jpeg] [&camera=x,y,z,tx,ty,tz] [&theme=dark] [&show=forces,joints]

import { Vector3 } from 'three';
import { fit_camera, parse_camera, place_camera, view_direction } from './scene/camera';
import { fluid_colours } from './scene/fluid';
import { layers } from './scene/overlays';
import { colourings, type ColourBy } from './scene/palette';
import { Stage } from './scene/stage';
import { World } from './scene/world';
import { Connection, stream_address } from './stream/connection';
import { FrameDecoder, layout_of } from './stream/frame_decoder';
import type { SceneMessage, Vector } from './stream/messages';
import { find } from './ui/dom';

export class Film {
  pictures = 0;
  private readonly stage: Stage;
  private readonly connection: Connection;
  private readonly shown: Set<string>;
  private readonly colour_by: ColourBy;
  private world: World | null = null;
  private decoder: FrameDecoder | null = null;

  constructor(
    private readonly query: URLSearchParams,
    size: [number, number],
  ) {
    document.documentElement.classList.add('film');
    this.stage = new Stage(find<HTMLCanvasElement>('canvas'), { light_mode: query.get('light') === '1', fixed_size: size });
    this.stage.set_theme(query.get('theme') === 'dark' ? 'dark' : 'light');
    const wanted = query.get('show')?.split(',') ?? [];
    this.colour_by = colourings.find(({ id }) => wanted.includes(id))?.id ?? 'kind';
    this.shown = new Set([...layers.filter((layer) => layer.on).map((layer) => layer.id), ...wanted]);
    this.connection = new Connection(stream_address(window.location), {
      opened: () => {
        const parts = [...layers, ...colourings].filter(({ id }) => this.shown.has(id)).flatMap((layer) => layer.parts);
        this.connection.send({ do: 'show', parts: [...new Set(parts)] });
      },
      message: (message) => {
        if (message.say === 'scene') this.show_scene(message);
      },
      frame: (bytes) => void this.take_frame(bytes),
      lost: () => undefined,
    });
  }

  private show_scene(scene: SceneMessage): void {
    this.world?.dispose();
    this.world = new World(this.stage, scene, this.colour_by);
    this.world.set_shown(this.shown);
    this.world.fluid.colour = fluid_colours.find(({ id }) => this.shown.has(`fluid_${id}`))?.id ?? 'vorticity';
    this.decoder = new FrameDecoder(layout_of(scene));
    const camera = parse_camera(this.query.get('camera'));
    if (camera) place_camera(this.stage.camera, this.stage.controls, ...camera.map((point) => new Vector3(...this.world!.space.to_drawn(point.toArray() as Vector))) as [Vector3, Vector3]);
    else {
      const box = this.world.bounds();
      fit_camera(this.stage.camera, this.stage.controls, box, view_direction(box));
    }
  }

  private async take_frame(bytes: ArrayBuffer): Promise<void> {
    if (!this.decoder || !this.world || this.decoder.decode(bytes) !== 'frame') return;
    const { number } = this.decoder.frame;
    this.world.update(this.decoder.frame, this.shown);
    this.stage.render();
    const jpeg = this.query.get('format') === 'jpeg';
    const blob = await new Promise<Blob | null>((done) => this.stage.canvas.toBlob(done, jpeg ? 'image/jpeg' : 'image/png', 0.92));
    if (blob === null) throw new Error('the browser gave no picture');
    const picture = new Uint8Array(await blob.arrayBuffer());
    const answer = new Uint8Array(4 + picture.length);
    new DataView(answer.buffer).setUint32(0, number, true);
    answer.set(picture, 4);
    this.connection.send_bytes(answer.buffer);
    ++this.pictures;
  }
}

/** "1920x1080", or null. */
export function parse_size(text: string | null): [number, number] | null {
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(text ?? '');
  if (!match) return null;
  const size: [number, number] = [Number(match[1]), Number(match[2])];
  return size.every((n) => n >= 16 && n <= 8192) ? size : null;
}
