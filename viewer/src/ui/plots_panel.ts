// Live plots of the run's numbers over time.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { NumberHistory } from '../stream/number_history';
import type { NumberDescription } from '../stream/messages';
import { h } from './dom';
import { number_text, tick_text } from './format';
import { decades, powers_between, room_around } from './plots_range';

const refresh_ms = 120;
const plot_height = 112;

interface Plot {
  number: NumberDescription;
  value: HTMLElement;
  holder: HTMLElement;
  figure: HTMLElement | null;
  chart: uPlot | null;
  logarithmic: boolean;
}

export class PlotsPanel {
  readonly element = h('section');
  private readonly absent = h('p', { class: 'legend', id: 'absent' });
  private history = new NumberHistory(0);
  private plots: Plot[] = [];
  private key = '';
  private timer = 0;
  private pause = refresh_ms;
  private now = 0;
  visible = (): boolean => false;

  constructor() {
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  show_scene(scene_name: string, numbers: NumberDescription[]): void {
    const key = JSON.stringify([scene_name, numbers]);
    if (key === this.key) return;
    this.key = key;
    this.history = new NumberHistory(numbers.length);
    for (const plot of this.plots) plot.chart?.destroy();
    this.plots = numbers.map((number) => {
      const plot: Plot = { number, value: h('output'), holder: h('div', { class: 'chart' }), figure: null, chart: null, logarithmic: number.logarithmic };
      return plot;
    });
    this.element.replaceChildren(...this.plots.map((plot) => (plot.figure = this.figure(plot))), this.absent);
    if (numbers.length === 0) this.element.append(h('p', { class: 'hint' }, 'This run has no numbers to plot.'));
  }

  private figure(plot: Plot): HTMLElement {
    const scale = h('button', { type: 'button', class: 'chip', 'aria-pressed': plot.logarithmic, title: 'Logarithmic scale' }, 'log');
    scale.addEventListener('click', () => {
      plot.logarithmic = !plot.logarithmic;
      scale.setAttribute('aria-pressed', String(plot.logarithmic));
      this.rebuild(plot);
    });
    const { label, unit, key, about } = plot.number;
    return h('figure', { 'data-number': key }, h('figcaption', {}, h('span', { title: about }, label), plot.value, h('span', { class: 'unit' }, unit), scale), plot.holder);
  }

  add(time: number, numbers: ArrayLike<number>): void {
    this.now = time;
    this.history.add(time, numbers);
    this.draw_soon();
  }

  cut(after: number): void {
    this.history.cut(after);
  }

  get points(): number {
    return this.history.times.length;
  }

  /** Not more often than is of use; on a slow machine plots take at most an eighth of the time. */
  private draw_soon(): void {
    if (this.timer !== 0 || !this.visible()) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      const start = performance.now();
      if (this.visible()) this.draw();
      this.pause = Math.max(refresh_ms, 7 * (performance.now() - start));
    }, this.pause);
  }

  draw(): void {
    const last = this.at_now();
    this.plots.forEach((plot, k) => {
      plot.value.textContent = last < 0 ? '–' : number_text(this.history.columns[k]![last]!);
      // What has always been the same needs no picture: its value says all. What a scene does not have needs no place either.
      const data = this.data(plot, k);
      const drawable = this.history.changes(k) && (data[1] as (number | null)[]).filter((v) => v !== null).length > 1;
      plot.holder.hidden = !drawable;
      plot.figure!.hidden = !this.history.present(k);
      if (!drawable) return;
      plot.chart ??= this.chart(plot);
      plot.chart.setData(data);
    });
    const absent = this.plots.filter((plot) => plot.figure!.hidden).map((plot) => plot.number.label.toLowerCase());
    this.absent.textContent = absent.length > 0 ? `Nothing in this run: ${absent.join(', ')}.` : '';
  }

  private data(plot: Plot, k: number): uPlot.AlignedData {
    const usable = (v: number): number | null => (Number.isFinite(v) && (!plot.logarithmic || v !== 0) ? (plot.logarithmic ? Math.abs(v) : v) : null);
    return [this.history.times, this.history.columns[k]!.map(usable)];
  }

  /** Place of the frame that is shown now. */
  private at_now(): number {
    let at = this.history.times.length - 1;
    while (at > 0 && this.history.times[at]! > this.now) --at;
    return at;
  }

  private chart(plot: Plot): uPlot {
    const style = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const font = '11px system-ui, sans-serif';
    const axis = { stroke: () => style('--dim'), grid: { stroke: () => style('--line'), width: 1 }, ticks: { show: false }, font };
    const labels = (_: uPlot, values: (number | null)[]): string[] => values.map((v) => (v === null ? '' : tick_text(v)));
    // Where four digits would all be the same, the ticks say how far they are above the lowest.
    const values_or_changes = (_: uPlot, values: (number | null)[], _axis: number, _space: number, step: number): string[] => {
      const lowest = values.find((v) => v !== null) ?? 0;
      if (plot.logarithmic || step > 1e-4 * Math.abs(lowest)) return labels(_, values);
      return values.map((v) => (v === null ? '' : v === lowest ? number_text(v) : `+${tick_text(Number((v - lowest).toPrecision(2)))}`));
    };
    const here = (chart: uPlot): void => {
      const x = chart.valToPos(this.now, 'x', true);
      const { left, top, width, height } = chart.bbox;
      if (x < left || x > left + width) return;
      chart.ctx.fillStyle = style('--accent');
      chart.ctx.globalAlpha = 0.5;
      chart.ctx.fillRect(x - 1, top, 2, height);
      chart.ctx.globalAlpha = 1;
    };
    const options: uPlot.Options = {
      width: Math.max(160, plot.holder.clientWidth),
      height: plot_height,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { x: { time: false }, y: plot.logarithmic ? { distr: 3, range: (_, low, high) => decades(low, high) } : { range: (_, low, high) => room_around(low, high) } },
      axes: [
        { ...axis, size: 22, values: labels, space: 60 },
        { ...axis, size: 54, values: values_or_changes, space: 26, ...(plot.logarithmic ? { splits: (_: uPlot, _axis: number, low: number, high: number) => powers_between(low, high), filter: (_: uPlot, all: number[]) => all } : {}) },
      ],
      series: [{}, { stroke: () => style('--plot'), width: 1.5, points: { show: false } }],
      hooks: { draw: [here] },
      padding: [6, 8, 0, 0],
    };
    return new uPlot(options, [[], []], plot.holder);
  }

  private rebuild(plot: Plot): void {
    plot.chart?.destroy();
    plot.chart = null;
    if (this.visible()) this.draw();
  }

  /** After a change of theme. */
  repaint(): void {
    for (const plot of this.plots) plot.chart?.redraw();
  }

  private resize(): void {
    for (const plot of this.plots) {
      const width = plot.holder.clientWidth;
      if (width > 0 && plot.chart && plot.chart.width !== width) plot.chart.setSize({ width, height: plot_height });
    }
  }
}
