// The page: joins the stream, the drawing and the panels.

import { Vector3 } from 'three';
import { AutoFrame, Follow, parse_camera, place_camera } from './scene/camera';
import { ModeShape } from './scene/mode_shape';
import type { ColourBy } from './scene/palette';
import { Stage } from './scene/stage';
import { World } from './scene/world';
import { Connection, stream_address } from './stream/connection';
import { FrameDecoder, layout_of, StreamError } from './stream/frame_decoder';
import type { BodyMessage, Command, ModeMessage, SceneMessage, ServerMessage, StateMessage, Vector } from './stream/messages';
import { BodyPanel } from './ui/body_panel';
import { find, h, icon_button } from './ui/dom';
import { first_sentence, title_text } from './ui/format';
import { free_the_keys, help_dialog, layer_shortcuts, listen, type Shortcut } from './ui/keys';
import { Labels } from './ui/labels';
import { LayersPanel } from './ui/layers_panel';
import { ModesPanel } from './ui/modes_panel';
import { Notices } from './ui/notices';
import { Panel } from './ui/panel';
import { PlotsPanel } from './ui/plots_panel';
import { Pointer } from './ui/pointer';
import { RecipePanel } from './ui/recipe_panel';
import { ScenesDialog } from './ui/scenes_dialog';
import { ThemeSwitch } from './ui/theme';
import { moment_text } from './ui/speeds';
import { Transport } from './ui/transport';

export class App {
  readonly stage: Stage;
  readonly connection: Connection;
  readonly layers: LayersPanel;
  readonly plots = new PlotsPanel();
  world: World | null = null;
  scene: SceneMessage | null = null;
  state: StateMessage | null = null;
  body: BodyMessage | null = null;
  frames = 0;
  following = false;
  readonly errors: string[] = [];
  private decoder: FrameDecoder | null = null;
  private key_asked = false;
  private undrawn = false;
  private fitted = '';
  private readonly follow = new Follow();
  private readonly framing = new AutoFrame();
  private readonly notices: Notices;
  private readonly transport: Transport;
  private readonly recipe: RecipePanel;
  private readonly body_panel = new BodyPanel();
  private readonly modes: ModesPanel;
  /** Since when a mode is shown, and how fast: one oscillation in two seconds, whatever its own. */
  private mode_began = 0;
  private mode_time = 0;
  private readonly labels = new Labels();
  private readonly panel: Panel;
  private readonly scenes: ScenesDialog;
  private readonly theme: ThemeSwitch;
  private readonly pointer: Pointer;
  private readonly title = h('h1', { id: 'title' });
  private readonly about = h('p', { id: 'about' });
  private readonly follow_button: HTMLButtonElement;
  private readonly throw_button: HTMLButtonElement;

  constructor(private readonly query: URLSearchParams) {
    const root = find('app');
    document.documentElement.classList.toggle('light_mode', query.get('light') === '1');
    this.stage = new Stage(find<HTMLCanvasElement>('canvas'), { light_mode: query.get('light') === '1', fixed_size: null });
    const send = (command: Command): void => this.connection.send(command);
    this.layers = new LayersPanel(query.get('show')?.split(',') ?? [], () => this.layers_changed());
    this.recipe = new RecipePanel({
      change: (changes) => send({ do: 'recipe', changes }),
      turn: (setting) => send({ do: 'dial', setting }),
      accuracy: (accuracy) => send({ do: 'dial', accuracy }),
    });
    this.modes = new ModesPanel({
      ask: () => {
        this.show_mode(null);
        send({ do: 'modes' });
      },
      choose: (mode) => (mode === null ? this.show_mode(null) : send({ do: 'modes', shape: mode })),
    });
    this.transport = new Transport(send);
    this.scenes = new ScenesDialog((scene) => send({ do: 'open', scene }));
    this.plots.visible = () => this.panel.shows('plots');
    this.panel = new Panel([
      { id: 'layers', label: 'Show', element: this.layers.element },
      { id: 'recipe', label: 'Recipe', element: this.recipe.element },
      { id: 'plots', label: 'Plots', element: this.plots.element, shown: () => this.plots.draw() },
      { id: 'body', label: 'Body', element: this.body_panel.element },
      { id: 'modes', label: 'Modes', element: this.modes.element },
    ]);

    const shortcuts = this.shortcuts();
    const help = help_dialog(shortcuts);
    this.follow_button = icon_button('follow', 'Follow the picked body', 'T', () => this.toggle_follow());
    this.throw_button = icon_button('ball', 'Throw a ball', 'B', () => this.throw_ball());
    const buttons = h(
      'nav',
      { 'aria-label': 'View' },
      this.throw_button,
      this.follow_button,
      icon_button('home', 'See everything', '0', () => this.see_everything()),
      icon_button('scenes', 'Scenes', 'S', () => this.scenes.show(this.scene?.name ?? '')),
      icon_button('panel', 'Panel', 'P', () => this.panel.toggle()),
      icon_button('theme', 'Dark or light', 'L', () => this.theme.toggle()),
      icon_button('help', 'Help', '?', () => help.showModal()),
    );
    root.append(h('header', { class: 'bar', id: 'top' }, h('div', { class: 'names' }, this.title, this.about), buttons), this.panel.element, this.transport.element, this.labels.element, this.scenes.element, help);
    this.notices = new Notices(root);
    this.theme = new ThemeSwitch(query.get('theme'), (theme) => {
      this.stage.set_theme(theme);
      this.world?.repaint();
      this.plots.repaint();
    });
    this.pointer = new Pointer(this.stage, {
      world: () => this.world,
      send,
      picked: (body, dragged) => {
        if (dragged) {
          this.framing.active = false;
          this.show_mode(null);
        }
        this.pick(body);
      },
      over: (name, at) => this.labels.over(name, at),
      live: () => this.scene?.source === 'live',
    });
    this.stage.before_render = () => {
      this.draw_frame();
      this.swing();
      this.move_along();
      this.labels.draw(this.world, this.stage, this.layers.shown.has('names'));
    };
    this.stage.controls.addEventListener('start', () => (this.framing.active = false));
    new ResizeObserver(() => this.make_room()).observe(this.panel.element);
    window.addEventListener('resize', () => this.make_room());
    listen(shortcuts);
    free_the_keys();
    const tab = query.get('panel');
    if (tab !== null) this.panel.open(tab);
    this.connection = new Connection(stream_address(window.location), {
      opened: () => this.opened(),
      message: (message) => this.message(message),
      frame: (bytes) => this.take_frame(bytes),
      lost: (seconds) => {
        this.pointer.let_go();
        this.transport.set_connected(false);
        this.notices.keep(`Connection lost: trying again in ${seconds.toFixed(1)} s`);
      },
    });
  }

  private shortcuts(): Shortcut[] {
    return [
      { keys: [' ', 'k'], label: 'play or pause', run: () => this.transport.toggle() },
      { keys: ['.'], label: 'one step', run: () => this.transport.step(1) },
      { keys: ['>'], label: 'ten steps', run: () => this.transport.step(10) },
      { keys: ['ArrowLeft'], label: 'back in time', run: () => this.transport.jump(-0.02) },
      { keys: ['ArrowRight'], label: 'forth in time', run: () => this.transport.jump(0.02) },
      { keys: ['Home'], label: 'restart', run: () => this.connection.send({ do: 'restart' }) },
      { keys: ['['], label: 'slower', run: () => this.transport.change_speed(-1) },
      { keys: [']'], label: 'faster', run: () => this.transport.change_speed(1) },
      { keys: ['d'], label: 'record every step\'s problems to a file, on and off', run: () => this.connection.send({ do: 'record' }) },
      { keys: ['b'], label: 'throw a ball where the pointer is', run: () => this.throw_ball() },
      { keys: ['t'], label: 'follow the picked body, or all', run: () => this.toggle_follow() },
      { keys: ['0'], label: 'see everything', run: () => this.see_everything() },
      ...layer_shortcuts((id) => this.layers.toggle(id)),
      { keys: ['i'], label: 'islands by colour', run: () => this.layers.set_colour_by(this.layers.colour_by === 'islands' ? 'kind' : 'islands') },
      { keys: ['q'], label: 'the fluid by vorticity, speed or pressure', run: () => this.layers.next_fluid_colour() },
      { keys: ['s'], label: 'list of scenes', run: () => this.scenes.show(this.scene?.name ?? '') },
      { keys: ['p'], label: 'panel', run: () => this.panel.toggle() },
      { keys: ['r'], label: 'recipe', run: () => this.panel.open('recipe') },
      { keys: ['o'], label: 'plots', run: () => this.panel.open('plots') },
      { keys: ['l'], label: 'dark or light', run: () => this.theme.toggle() },
      { keys: ['u'], label: 'hide or show bars and panels', run: () => document.documentElement.classList.toggle('bare') },
      { keys: ['Escape'], label: 'let the picked body go', run: () => this.pick(null) },
      { keys: ['?', '/'], label: 'this help', run: () => find<HTMLDialogElement>('help').showModal() },
    ];
  }

  private opened(): void {
    this.notices.keep(null);
    this.transport.set_connected(true);
    this.decoder = null;
    this.connection.send({ do: 'show', parts: this.layers.parts() });
  }

  private message(message: ServerMessage): void {
    this.transport.heard(false);
    switch (message.say) {
      case 'scene':
        this.show_scene(message);
        break;
      case 'state':
        // A restart begins the time anew.
        if (this.state && message.live_end < this.state.live_end - 1e-9) this.plots.cut(message.live_end);
        this.state = message;
        this.transport.show_state(message);
        break;
      case 'body':
        if (message.body !== this.world?.picked) break;
        this.body = message;
        this.body_panel.show(message);
        break;
      case 'modes':
        this.modes.show(message);
        break;
      case 'mode':
        this.show_mode(message);
        break;
      case 'scenes':
        this.scenes.set_scenes(message.scenes);
        if (this.query.get('scenes') === '1') this.scenes.show('');
        break;
      case 'error':
        this.errors.push(message.text);
        this.notices.show(message.text, 'error');
        if (this.scene) this.recipe.restore(this.scene);
        break;
      case 'warning':
      case 'end':
        this.notices.show(message.text, 'warning');
        break;
    }
  }

  private show_scene(scene: SceneMessage): void {
    this.notices.clear('error');
    this.transport.show_scene(scene.pace, scene.dt);
    const same = this.scene?.name === scene.name;
    if (same && this.decoder && this.scene?.generation === scene.generation) {
      // The same bodies under another recipe.
      this.scene = scene;
      this.recipe.show_scene(scene);
      return;
    }
    const picked = same && this.world !== null && this.world.picked !== null ? this.scene?.bodies[this.world.picked]?.name : undefined;
    const drag = same ? (this.world?.drag ?? null) : null;
    if (!same) {
      this.pointer.let_go();
      this.following = false;
      this.follow_changed();
    }
    // The scale of things stays what it was when the scene was opened, wherever a thrown ball is.
    if (same && this.scene) scene.bounds = this.scene.bounds;
    this.modes.clear();
    this.world?.dispose();
    this.scene = scene;
    this.world = new World(this.stage, scene, this.layers.colour_by);
    this.decoder = new FrameDecoder(layout_of(scene));
    this.key_asked = false;
    this.layers.offer(scene.fluid !== null);
    this.world.set_shown(this.layers.shown);
    this.world.fluid.colour = this.layers.fluid_colour;
    this.title.textContent = title_text(scene.name);
    this.about.textContent = first_sentence(scene.about);
    this.about.title = scene.about;
    document.title = `${title_text(scene.name)} – rotule`;
    this.throw_button.disabled = scene.source !== 'live';
    this.plots.show_scene(scene.name, scene.numbers);
    this.recipe.show_scene(scene);
    // Bodies that were added come last, so numbers still hold; names make sure.
    const body = picked === undefined ? -1 : scene.bodies.findIndex((b) => b.name === picked);
    this.pick(body >= 0 ? body : null);
    if (drag && scene.bodies[drag.body]) this.world.drag = drag;
    if (this.fitted !== scene.name) {
      this.fitted = scene.name;
      this.see_everything();
      const camera = parse_camera(this.query.get('camera'));
      if (camera) {
        this.framing.active = false;
        const { space } = this.world;
        const [from, to] = camera.map((point) => new Vector3(...space.to_drawn(point.toArray() as Vector)));
        place_camera(this.stage.camera, this.stage.controls, from!, to!);
      }
    }
  }

  private take_frame(bytes: ArrayBuffer): void {
    this.transport.heard(true);
    if (!this.decoder || !this.world) return;
    try {
      const outcome = this.decoder.decode(bytes);
      if (outcome === 'lost') this.ask_for_key();
      if (outcome !== 'frame') return;
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      console.warn(`frame refused: ${error.message}`);
      this.ask_for_key();
      return;
    }
    this.key_asked = false;
    const frame = this.decoder.frame;
    ++this.frames;
    this.undrawn = true;
    this.plots.add(frame.time, frame.numbers);
    this.stage.invalidate();
  }

  /** Brings the drawing to the newest frame: once per picture, however many frames have come since the last. */
  draw_frame(): void {
    const frame = this.frame;
    if (!this.undrawn || !frame || !this.world) return;
    this.undrawn = false;
    // A mode is of the pose that it was found about.
    if (this.world.shows_mode && frame.time !== this.mode_time) {
      this.show_mode(null);
      this.modes.clear();
    }
    this.world.update(frame, this.layers.shown);
    if (this.framing.active && !this.following && this.framing.take(this.world.framing())) this.frame_all();
    this.transport.show_time(frame.time);
    if (!this.panel.shows('layers')) return;
    const { overlays, ground, space, colouring, fluid } = this.world;
    this.layers.show_legend({ grid: ground.spacing * space.unit, unit: space.unit, newtons: overlays.force_scale.per_metre, speed: overlays.velocity_scale.per_metre, colouring, fluid: fluid.scale });
  }

  private show_mode(message: ModeMessage | null): void {
    const { world, frame } = this;
    if (!world || !frame) return;
    const fits = message !== null && message.bodies.length === 12 * world.scene.bodies.length;
    world.set_mode(fits ? new ModeShape(message, world.scene, world.size, world.space.unit) : null, this.layers.shown);
    this.mode_began = performance.now();
    this.mode_time = frame.time;
    this.stage.invalidate();
  }

  /** A mode's next picture: slow enough to follow. */
  private swing(): void {
    if (!this.world?.shows_mode) return;
    const seconds = (performance.now() - this.mode_began) / 1000;
    this.world.swing(Math.PI * seconds + Math.PI / 2, this.layers.shown);
    window.requestAnimationFrame(() => this.stage.invalidate());
  }

  private ask_for_key(): void {
    if (this.key_asked) return;
    this.key_asked = true;
    this.connection.send({ do: 'key' });
  }

  get frame(): FrameDecoder['frame'] | null {
    return this.decoder && this.decoder.frame.number >= 0 ? this.decoder.frame : null;
  }

  pick(body: number | null): void {
    if (!this.world) return;
    const before = this.world.picked;
    this.world.picked = body;
    this.world.repaint();
    if (body === null) {
      this.body = null;
      this.body_panel.clear();
      if (before !== null) this.connection.send({ do: 'pick', body: null });
    } else {
      this.connection.send({ do: 'pick', body });
      if (body !== before && this.panel.is_open) this.panel.open('body');
    }
    if (body !== before) this.follow.stop();
    this.stage.invalidate();
  }

  /** The camera stays: it must not run after the ball. */
  private throw_ball(): void {
    this.framing.active = false;
    this.pointer.throw_ball();
  }

  private toggle_follow(): void {
    this.following = !this.following;
    this.follow_changed();
    const { world } = this;
    const whom = world && world.picked !== null ? world.scene.bodies[world.picked]!.name : 'all that moves';
    this.notices.show(this.following ? `Following ${whom}` : 'No longer following');
  }

  private follow_changed(): void {
    this.follow.stop();
    // Zooming towards the pointer would shift what is followed out of the middle.
    this.stage.controls.zoomToCursor = !this.following;
    this.follow_button.setAttribute('aria-pressed', String(this.following));
    this.stage.invalidate();
  }

  private move_along(): void {
    const frame = this.frame;
    if (!this.following || !this.world || !frame) return;
    const { picked, scene } = this.world;
    const point = picked === null ? this.world.framing().getCenter(new Vector3()) : this.world.bodies.place(picked, scene.bodies[picked]!.com, new Vector3());
    this.follow.move(this.stage.camera, this.stage.controls, point);
    if (picked === null) this.follow.keep_in_view(this.stage.camera, this.stage.controls, this.world.framing(), this.stage.free);
  }

  /** The picture's middle is that of what bars and panel leave free. */
  private make_room(): void {
    const { offsetWidth, offsetHeight } = this.panel.element;
    const phone = window.innerWidth < 720;
    const top = find('top').offsetHeight;
    this.stage.set_covered({ left: 0, right: phone ? 0 : offsetWidth, top, bottom: 70 + (phone ? offsetHeight : 0) });
    this.frame_all();
  }

  /** The camera comes back to showing all that moves, and keeps doing so until it is taken by hand. */
  private see_everything(): void {
    this.framing.reset();
    this.follow.stop();
    if (this.frame && this.world) this.framing.take(this.world.framing());
    this.make_room();
  }

  private frame_all(): void {
    if (this.following || !this.framing.active) return;
    this.framing.place(this.stage.camera, this.stage.controls, this.stage.free);
    this.stage.invalidate();
  }

  private layers_changed(): void {
    this.connection.send({ do: 'show', parts: this.layers.parts() });
    this.stage.set_shadows(this.layers.shown.has('shadows'));
    this.world?.set_shown(this.layers.shown);
    this.world?.set_colour_by(this.layers.colour_by);
    this.world?.set_fluid_colour(this.layers.fluid_colour, this.layers.shown);
  }

  get colour_by(): ColourBy {
    return this.layers.colour_by;
  }

  /** One line on the state, for tests and for those who look into the console. */
  summary(): string {
    return `${this.scene?.name ?? 'no scene'}, ${this.scene?.bodies.length ?? 0} bodies, frame ${this.frames}, ${moment_text(this.state?.time ?? 0, this.scene?.dt ?? 0)}`;
  }
}
