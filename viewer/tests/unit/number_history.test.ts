import { expect, test } from 'vitest';
import { NumberHistory } from '../../src/stream/number_history';

test('frames in any order end up in order of time, each once', () => {
  const history = new NumberHistory(1);
  for (const t of [0, 3, 1, 2, 2, 1, 4]) history.add(t, [10 * t]);
  expect(history.times).toEqual([0, 1, 2, 3, 4]);
  expect(history.columns).toEqual([[0, 10, 20, 30, 40]]);
});

test('a restart forgets what came later', () => {
  const history = new NumberHistory(2);
  for (const t of [0, 1, 2]) history.add(t, [t, -t]);
  history.cut(1);
  expect(history.times).toEqual([0, 1]);
  expect(history.columns[1]).toEqual([-0, -1]);
  history.cut(5);
  expect(history.times).toEqual([0, 1]);
});

test('a long run is thinned out evenly, with its first and last frames kept', () => {
  const history = new NumberHistory(1, 100);
  for (let t = 0; t <= 1000; ++t) history.add(t, [t]);
  expect(history.times.length).toBeLessThanOrEqual(100);
  expect(history.times[0]).toBe(0);
  expect(history.times.at(-1)).toBe(1000);
  const gaps = history.times.slice(1).map((t, k) => t - history.times[k]!);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(3 * (1000 / 50));
  expect(history.columns[0]).toEqual(history.times);
});

test('a number that stays what it is does not change; one that is not known does not count', () => {
  const history = new NumberHistory(3);
  for (const t of [0, 1, 2]) history.add(t, [5, t === 0 ? Number.NaN : 1, t]);
  expect([0, 1, 2].map((k) => history.changes(k))).toEqual([false, false, true]);
});
