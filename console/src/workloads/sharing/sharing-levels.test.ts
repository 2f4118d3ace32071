import { describe, expect, it } from 'vitest';
import { levelRefusal } from './sharing-levels.ts';

describe('a level of sharing', () => {
  it('is open to the owner, and to colleagues if it is no wider', () => {
    expect(levelRefusal('public', 'owner', true)).toBeNull();
    expect(levelRefusal('project', 'organization', false)).toBeNull();
    expect(levelRefusal('project', 'project', false)).toBeNull();
    expect(levelRefusal('organization', 'project', false)).toMatch('Only who started it');
  });
});
