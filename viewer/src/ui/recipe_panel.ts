// The recipe: one dial from fast to exact, and below it every field, made from what the program names. A change goes to the running
// simulation at once.

import { recipe_value, type Field, type FieldValue, type SceneMessage } from '../stream/messages';
import { h } from './dom';

type Control = HTMLInputElement | HTMLSelectElement;
export const settings = ['realtime', 'balanced', 'exact'];

export interface RecipeEvents {
  change(changes: Record<string, FieldValue>): void;
  turn(setting: string): void;
  accuracy(value: number): void;
}

export class RecipePanel {
  readonly element = h('section');
  private readonly controls = new Map<string, { field: Field; control: Control }>();
  private readonly dial = h('input', { type: 'range', id: 'dial', min: 0, max: settings.length - 1, step: 1, 'aria-label': 'From fast to exact' });
  private readonly accuracy = h('input', { type: 'number', id: 'accuracy', min: 1e-12, max: 1, step: 'any', placeholder: '1e-6', inputmode: 'decimal' });
  private readonly said = h('p', { class: 'legend', id: 'dial_says' });
  private readonly fields = h('div');
  private fields_text = '';

  constructor(private readonly events: RecipeEvents) {
    const marks = h('div', { class: 'marks' });
    settings.forEach((name) => marks.append(h('button', { type: 'button', id: `dial_${name}`, onclick: () => events.turn(name) }, name)));
    this.dial.addEventListener('change', () => events.turn(settings[Number(this.dial.value)]!));
    this.accuracy.addEventListener('change', () => {
      const value = this.accuracy.valueAsNumber;
      if (value > 0 && value <= 1) events.accuracy(value);
    });
    const wanted = h('div', { class: 'row field' }, h('label', { for: 'accuracy', title: 'Relative error that is wanted; methods and step follow from it' }, 'or accuracy'), this.accuracy, h('span', { class: 'unit' }));
    this.element.append(h('div', { id: 'dial_box' }, this.dial, marks, wanted, this.said), this.fields);
  }

  show_scene(scene: SceneMessage): void {
    const text = JSON.stringify([scene.source, scene.fields.map(({ value: _, ...field }) => field)]);
    if (text !== this.fields_text) this.build(scene);
    this.fields_text = text;
    this.show_dial(scene);
    for (const { field, control } of this.controls.values()) {
      if (document.activeElement === control && control instanceof HTMLInputElement && control.type === 'number') continue;
      write(control, recipe_value(scene.recipe, field.path) ?? scene.fields.find((f) => f.path === field.path)?.value);
    }
  }

  private show_dial(scene: SceneMessage): void {
    this.element.firstElementChild!.toggleAttribute('hidden', scene.source === 'recording');
    const at = scene.dial === null ? -1 : settings.indexOf(scene.dial);
    this.dial.value = String(at < 0 ? 1 : at);
    this.dial.classList.toggle('unset', at < 0);
    settings.forEach((name, k) => this.element.querySelector(`#dial_${name}`)!.setAttribute('aria-pressed', String(k === at)));
    if (document.activeElement !== this.accuracy) this.accuracy.value = scene.accuracy === null ? '' : String(scene.accuracy);
    this.said.textContent =
      scene.accuracy !== null ? `The recipe for an accuracy of ${scene.accuracy}.` : at >= 0 ? `The recipe "${scene.dial}" for this scene.` : 'The scene’s own recipe, or one changed by hand.';
  }

  /** After a refused change: back to what holds. */
  restore(scene: SceneMessage): void {
    this.show_dial(scene);
    for (const { field, control } of this.controls.values())
      write(control, recipe_value(scene.recipe, field.path) ?? scene.fields.find((f) => f.path === field.path)?.value);
  }

  private build(scene: SceneMessage): void {
    const focused = document.activeElement?.id ?? '';
    this.controls.clear();
    const recorded = scene.source === 'recording';
    this.fields.replaceChildren();
    if (recorded || scene.fields.length === 0)
      this.fields.append(h('p', { class: 'hint' }, recorded ? 'A recording: what it was made with. It cannot be changed.' : 'This scene has nothing to set.'));
    for (const field of scene.fields) {
      const id = `field_${field.path}`;
      const control = this.control(field, id);
      control.disabled = recorded;
      this.controls.set(field.path, { field, control });
      const label = h('label', { for: id, title: field.about ?? field.path }, field.label);
      // Of values that are several things in one, all of them at the pointer.
      const all = field.unit ?? '';
      const unit = h('span', { class: 'unit', title: all }, all.split(',').length > 2 ? 'SI' : all);
      this.fields.append(h('div', { class: field.path.includes('.') ? 'row field part' : 'row field' }, label, control, unit));
    }
    // The list was made anew under somebody's hand.
    if (focused.startsWith('field_')) document.getElementById(focused)?.focus();
  }

  private control(field: Field, id: string): Control {
    if (field.kind === 'choice') {
      const select = h('select', { id }, ...options_of(field));
      select.addEventListener('change', () => this.events.change({ [field.path]: select.value }));
      return select;
    }
    if (field.kind === 'bool') {
      const box = h('input', { id, type: 'checkbox' });
      box.addEventListener('change', () => this.events.change({ [field.path]: box.checked }));
      return box;
    }
    const input = h('input', { id, type: 'number', min: field.min, max: field.max, step: field.kind === 'integer' ? 1 : 'any', inputmode: 'decimal' });
    input.addEventListener('change', () => {
      const value = input.valueAsNumber;
      if (Number.isFinite(value)) this.events.change({ [field.path]: value });
    });
    return input;
  }
}

/** Those that fit first, under their headings; those that would be refused here last, with the reason. */
export function options_of(field: Field): HTMLElement[] {
  const { choices = [], groups, hints = {}, unfit = {} } = field;
  const option = (name: string): HTMLElement => h('option', { value: name, title: unfit[name] ?? hints[name] }, name.replace(/_/g, ' '));
  const group = (label: string, names: string[]): HTMLElement[] => (names.length > 0 ? [h('optgroup', { label }, ...names.map(option))] : []);
  const fits = (name: string): boolean => unfit[name] === undefined;
  const fitting = groups ? Object.entries(groups).flatMap(([label, names]) => group(label, names.filter(fits))) : choices.filter(fits).map(option);
  return [...fitting, ...group('not with this scene and recipe', choices.filter((name) => !fits(name)))];
}

function write(control: Control, value: FieldValue | undefined): void {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') control.checked = value === true;
  else if (control instanceof HTMLSelectElement) {
    const text = String(value ?? '');
    if (value !== undefined && ![...control.options].some((o) => o.value === text)) control.append(h('option', { value: text }, text));
    control.value = text;
  } else control.value = value === undefined ? '' : String(Number(Number(value).toPrecision(6)));
}
