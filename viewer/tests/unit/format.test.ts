import { describe, expect, it } from 'vitest';
import { vector_text } from '../../src/ui/format';

describe('vectors in words', () => {
  it('have no sign where they round to zero', () => {
    expect(vector_text([-1e-9, 1.5, -0.25])).toBe('0.000  1.500  −0.250');
    expect(vector_text([-0.0004, -0.0006, 1])).toBe('0.000  −0.001  1.000');
    expect(vector_text([0, 0, 0])).toBe('0.000  0.000  0.000');
  });
  it('keep their digits where they are large or small', () => {
    expect(vector_text([1.496e11, -2, 3e10])).toBe('1.50e11  0  3.00e10');
    expect(vector_text([-0.002, 0, 1e-20])).toBe('−0.002  0  0');
    expect(vector_text([-250.04, 1, 0])).toBe('−250.0  1.000  0.000');
  });
});
