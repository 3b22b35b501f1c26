// Renderer, camera, lights and sky. Draws only when something has changed.

import { CanvasTexture, DirectionalLight, HemisphereLight, NeutralToneMapping, PCFShadowMap, PerspectiveCamera, Scene, SRGBColorSpace, Vector3, WebGLRenderer } from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { looks, type Look, type Theme } from './palette';

export interface StageOptions {
  /** For graphics without a GPU: no shadows, few pixels, cheap materials. */
  light_mode: boolean;
  /** Width and height in pixels; null: those of the window. */
  fixed_size: [number, number] | null;
}

export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

const sun = new Vector3(-0.45, -0.75, 1.15).normalize();

export class Stage {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(36, 1, 0.01, 1000);
  readonly renderer: WebGLRenderer;
  readonly controls: OrbitControls;
  look: Look = looks.light;
  private readonly hemisphere = new HemisphereLight();
  private readonly key_light = new DirectionalLight('#fff4e2');
  private readonly fill_light = new DirectionalLight('#cfe0ff', 0.5);
  private dirty = true;
  private covered: Margins = { left: 0, right: 0, top: 0, bottom: 0 };
  /** Called before each picture, e.g. to move the camera along. */
  before_render: () => void = () => undefined;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly options: StageOptions,
  ) {
    this.renderer = new WebGLRenderer({ canvas, antialias: !options.light_mode, preserveDrawingBuffer: options.fixed_size !== null, powerPreference: 'high-performance' });
    this.renderer.toneMapping = NeutralToneMapping;
    this.renderer.shadowMap.enabled = !options.light_mode;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.zoomToCursor = true;
    this.controls.maxPolarAngle = 0.98 * Math.PI;
    this.controls.addEventListener('change', () => this.invalidate());
    this.key_light.castShadow = true;
    this.key_light.shadow.mapSize.set(2048, 2048);
    this.key_light.shadow.radius = 7;
    this.fill_light.position.set(0.8, 0.5, 0.35);
    this.scene.add(this.hemisphere, this.key_light, this.key_light.target, this.fill_light);
    this.set_theme('light');
    this.resize();
    if (options.fixed_size === null) {
      new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
      this.renderer.setAnimationLoop(() => {
        if (this.dirty) this.render();
      });
    }
  }

  set_theme(theme: Theme): void {
    this.look = looks[theme];
    const { sky_top, sky_horizon, hemisphere, key_light, exposure } = this.look;
    const sky = document.createElement('canvas');
    sky.width = 2;
    sky.height = 256;
    const paint = sky.getContext('2d')!;
    const gradient = paint.createLinearGradient(0, 0, 0, 256);
    gradient.addColorStop(0, sky_top);
    gradient.addColorStop(0.62, sky_horizon);
    gradient.addColorStop(1, sky_horizon);
    paint.fillStyle = gradient;
    paint.fillRect(0, 0, 2, 256);
    const texture = new CanvasTexture(sky);
    texture.colorSpace = SRGBColorSpace;
    (this.scene.background as CanvasTexture | null)?.dispose();
    this.scene.background = texture;
    this.hemisphere.color.set(hemisphere[0]);
    this.hemisphere.groundColor.set(hemisphere[1]);
    this.hemisphere.intensity = hemisphere[2];
    this.key_light.intensity = key_light;
    this.renderer.toneMappingExposure = exposure;
    this.invalidate();
  }

  set_shadows(on: boolean): void {
    this.key_light.castShadow = on && !this.options.light_mode;
    this.invalidate();
  }

  /** The sun shines on a ball of this centre and radius; its shadow map covers that and no more. */
  light_up(centre: Vector3, radius: number): void {
    const { shadow } = this.key_light;
    this.key_light.target.position.copy(centre);
    this.key_light.position.copy(sun).multiplyScalar(3 * radius).add(centre);
    const lens = shadow.camera;
    lens.left = lens.bottom = -radius;
    lens.right = lens.top = radius;
    lens.near = 0.5 * radius;
    lens.far = 8 * radius;
    lens.updateProjectionMatrix();
    const texel = (2 * radius) / shadow.mapSize.x;
    shadow.normalBias = 1.6 * texel;
    shadow.bias = -0.00012;
  }

  /** Pixels at each side that something covers: the picture's middle moves to the middle of what is free. */
  set_covered(covered: Margins): void {
    this.covered = covered;
    this.resize();
  }

  resize(): void {
    const [width, height] = this.options.fixed_size ?? [this.canvas.parentElement!.clientWidth, this.canvas.parentElement!.clientHeight];
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(this.options.fixed_size ? 1 : this.options.light_mode ? 0.5 : Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, this.options.fixed_size === null);
    const { left, right, top, bottom } = this.covered;
    this.camera.aspect = width / height;
    this.camera.setViewOffset(width, height, (right - left) / 2, (bottom - top) / 2, width, height);
    this.camera.updateProjectionMatrix();
    this.invalidate();
  }

  /** Width and height of the part that nothing covers, as shares of the whole. */
  get free(): [number, number] {
    const { left, right, top, bottom } = this.covered;
    const share = (covered: number, whole: number): number => Math.max(0.2, 1 - covered / Math.max(1, whole));
    return [share(left + right, this.canvas.clientWidth), share(top + bottom, this.canvas.clientHeight)];
  }

  invalidate(): void {
    this.dirty = true;
  }

  render(): void {
    this.before_render();
    this.dirty = false;
    const distance = this.camera.position.distanceTo(this.controls.target);
    this.camera.near = 0.01 * distance;
    this.camera.far = 60 * distance;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
  }
}
