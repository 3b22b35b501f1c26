import { expect, test } from 'vitest';
import { recipe_value } from '../../src/stream/messages';

test('values of recipe fields, for choices as names and as objects', () => {
  const recipe = { dt: 0.01, solver: { name: 'sor', relaxation: 1.4 }, integrator: 'rk4', contacts: { split: true } };
  expect(recipe_value(recipe, 'dt')).toBe(0.01);
  expect(recipe_value(recipe, 'solver')).toBe('sor');
  expect(recipe_value(recipe, 'solver.name')).toBe('sor');
  expect(recipe_value(recipe, 'solver.relaxation')).toBe(1.4);
  expect(recipe_value(recipe, 'integrator.name')).toBe('rk4');
  expect(recipe_value(recipe, 'contacts.split')).toBe(true);
  expect(recipe_value(recipe, 'integrator.order')).toBeUndefined();
  expect(recipe_value(recipe, 'nothing.at.all')).toBeUndefined();
});
