// Materials of bodies and ground: the stock ones with a few lines of shader added.

import { Color, DoubleSide, MeshLambertMaterial, MeshStandardMaterial, type Material, type WebGLProgramParametersWithUniforms } from 'three';

export type Surface = 'box' | 'marble' | 'wheel' | 'plain';

// Edges a little darker, so that bricks without gaps are seen as bricks.
const box_fragment = `
  vec3 to_faces = (0.5 - abs(v_unit)) * v_scale;
  float to_edge = max(min(to_faces.x, to_faces.y), min(max(to_faces.x, to_faces.y), to_faces.z));
  float edge_width = 0.05 * min(v_scale.x, min(v_scale.y, v_scale.z));
  float pixel = fwidth(to_edge) + 1e-9;
  float edge = 1.0 - smoothstep(0.25 * edge_width, edge_width + pixel, to_edge);
  diffuseColor.rgb *= 1.0 - 0.38 * edge * clamp(1.5 * edge_width / pixel, 0.0, 1.0);`;

// A belt and two caps, so that rolling is seen.
const marble_fragment = `
  vec3 on_ball = normalize(v_unit);
  float blur = fwidth(on_ball.z) + 1e-4;
  float belt = 1.0 - smoothstep(0.2 - blur, 0.2 + blur, abs(on_ball.z));
  diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.93), 0.72 * belt * clamp(0.2 / blur, 0.0, 1.0));`;

// A spoke, so that turning is seen.
const wheel_fragment = `
  float spoke_blur = fwidth(v_unit.y) + 1e-4;
  float spoke = (1.0 - smoothstep(0.09 - spoke_blur, 0.09 + spoke_blur, abs(v_unit.y))) * step(0.0, v_unit.x);
  diffuseColor.rgb = mix(diffuseColor.rgb, vec3(0.93), 0.6 * spoke * clamp(0.09 / spoke_blur, 0.0, 1.0));`;

const fragments: Partial<Record<Surface, string>> = { box: box_fragment, marble: marble_fragment, wheel: wheel_fragment };

function add_surface(shader: WebGLProgramParametersWithUniforms, fragment: string): void {
  shader.vertexShader = shader.vertexShader
    .replace('#include <common>', '#include <common>\nvarying vec3 v_unit;\nvarying vec3 v_scale;')
    .replace(
      '#include <begin_vertex>',
      `#include <begin_vertex>
  v_unit = position;
  v_scale = vec3(length(instanceMatrix[0].xyz), length(instanceMatrix[1].xyz), length(instanceMatrix[2].xyz));`,
    );
  shader.fragmentShader = shader.fragmentShader
    .replace('#include <common>', '#include <common>\nvarying vec3 v_unit;\nvarying vec3 v_scale;')
    .replace('#include <color_fragment>', `#include <color_fragment>${fragment}`);
}

export function body_material(surface: Surface, light_mode: boolean): Material {
  const material = light_mode
    ? new MeshLambertMaterial({ color: '#ffffff' })
    : new MeshStandardMaterial({ color: '#ffffff', roughness: surface === 'marble' ? 0.32 : 0.62, metalness: 0.02 });
  const fragment = fragments[surface];
  if (fragment) {
    material.onBeforeCompile = (shader) => add_surface(shader, fragment);
    material.customProgramCacheKey = () => surface;
  }
  return material;
}

export function cloth_material(light_mode: boolean): Material {
  const options = { color: '#d9584a', side: DoubleSide };
  return light_mode ? new MeshLambertMaterial(options) : new MeshStandardMaterial({ ...options, roughness: 0.85 });
}

export interface GroundUniforms {
  grid_colour: { value: Color };
  spacing: { value: number };
  reach: { value: number };
}

/** A plane with lines at two spacings that fades out towards the horizon. */
export function ground_material(light_mode: boolean, uniforms: GroundUniforms): Material {
  const options = { transparent: true, side: DoubleSide };
  const material = light_mode ? new MeshLambertMaterial(options) : new MeshStandardMaterial({ ...options, roughness: 0.95, metalness: 0 });
  material.onBeforeCompile = (shader) => {
    Object.assign(shader.uniforms, uniforms);
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec2 v_ground;')
      .replace('#include <begin_vertex>', '#include <begin_vertex>\n  v_ground = position.xy;');
    shader.fragmentShader = shader.fragmentShader
      .replace(
        '#include <common>',
        `#include <common>
varying vec2 v_ground;
uniform vec3 grid_colour;
uniform float spacing;
uniform float reach;
float ground_lines(vec2 at, float step_length, float width) {
  vec2 pixel = fwidth(at) + 1e-9;
  vec2 away = abs(fract(at / step_length + 0.5) - 0.5) * step_length;
  vec2 line = 1.0 - smoothstep(pixel * (width - 0.5), pixel * (width + 0.5), away);
  line *= clamp(0.25 * step_length / pixel, 0.0, 1.0);
  return max(line.x, line.y);
}`,
      )
      .replace(
        '#include <color_fragment>',
        `#include <color_fragment>
  float far = length(v_ground) / reach;
  float lines = max(0.3 * ground_lines(v_ground, spacing, 0.6), 0.6 * ground_lines(v_ground, 5.0 * spacing, 0.9));
  diffuseColor.rgb = mix(diffuseColor.rgb, grid_colour, lines * (1.0 - smoothstep(0.1, 0.7, far)));
  diffuseColor.a *= 1.0 - smoothstep(0.25, 1.0, far);`,
      );
  };
  material.customProgramCacheKey = () => 'ground';
  return material;
}
