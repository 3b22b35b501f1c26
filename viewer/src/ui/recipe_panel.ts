// The recipe as a form, made from the fields that the program names. A change goes to the running simulation at once.

import { recipe_value, type Field, type FieldValue, type SceneMessage } from '../stream/messages';
import { h } from './dom';

type Control = HTMLInputElement | HTMLSelectElement;

export class RecipePanel {
  readonly element = h('section');
  private readonly controls = new Map<string, { field: Field; control: Control }>();
  private fields_text = '';

  constructor(private readonly change: (changes: Record<string, FieldValue>) => void) {}

  show_scene(scene: SceneMessage): void {
    const text = JSON.stringify([scene.source, scene.fields.map(({ value: _, ...field }) => field)]);
    if (text !== this.fields_text) this.build(scene);
    this.fields_text = text;
    for (const { field, control } of this.controls.values()) {
      if (document.activeElement === control && control instanceof HTMLInputElement && control.type === 'number') continue;
      write(control, recipe_value(scene.recipe, field.path) ?? scene.fields.find((f) => f.path === field.path)?.value);
    }
  }

  /** After a refused change: back to what holds. */
  restore(scene: SceneMessage): void {
    for (const { field, control } of this.controls.values())
      write(control, recipe_value(scene.recipe, field.path) ?? scene.fields.find((f) => f.path === field.path)?.value);
  }

  private build(scene: SceneMessage): void {
    this.controls.clear();
    const recorded = scene.source === 'recording';
    this.element.replaceChildren();
    if (recorded || scene.fields.length === 0)
      this.element.append(h('p', { class: 'hint' }, recorded ? 'A recording: what it was made with. It cannot be changed.' : 'This scene has nothing to set.'));
    for (const field of scene.fields) {
      const id = `field_${field.path}`;
      const control = this.control(field, id);
      control.disabled = recorded;
      this.controls.set(field.path, { field, control });
      const label = h('label', { for: id, title: field.about ?? field.path }, field.label);
      const unit = h('span', { class: 'unit' }, field.unit ?? '');
      this.element.append(h('div', { class: field.path.includes('.') ? 'row field part' : 'row field' }, label, control, unit));
    }
  }

  private control(field: Field, id: string): Control {
    if (field.kind === 'choice') {
      const select = h('select', { id });
      for (const choice of field.choices ?? []) select.append(h('option', { value: choice }, choice.replace(/_/g, ' ')));
      select.addEventListener('change', () => this.change({ [field.path]: select.value }));
      return select;
    }
    if (field.kind === 'boolean' || field.kind === 'switch' || field.kind === 'bool') {
      const box = h('input', { id, type: 'checkbox' });
      box.addEventListener('change', () => this.change({ [field.path]: box.checked }));
      return box;
    }
    const input = h('input', { id, type: 'number', min: field.min, max: field.max, step: field.kind === 'integer' ? 1 : 'any', inputmode: 'decimal' });
    input.addEventListener('change', () => {
      const value = input.valueAsNumber;
      if (Number.isFinite(value)) this.change({ [field.path]: value });
    });
    return input;
  }
}

function write(control: Control, value: FieldValue | undefined): void {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') control.checked = value === true;
  else if (control instanceof HTMLSelectElement) {
    const text = String(value ?? '');
    if (value !== undefined && ![...control.options].some((o) => o.value === text)) control.append(h('option', { value: text }, text));
    control.value = text;
  } else control.value = value === undefined ? '' : String(Number(Number(value).toPrecision(6)));
}
