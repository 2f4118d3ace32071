import { expect, it } from 'vitest';
import { keysOf } from '@gpuaas/contracts/typed-keys';
import { artifactMoves, canMove, stepsTo } from './states.ts';

const states = keysOf(artifactMoves);

it('an artifact moves along the six arrows of the lifecycle and no others', () => {
  const arrows = states.flatMap((from) =>
    states.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`),
  );
  expect(arrows.toSorted()).toEqual([
    'active deprecated',
    'canary active',
    'canary staged',
    'deprecated retired',
    'draft staged',
    'staged canary',
  ]);
});

it('a promotion enters each state on its way, and none from beyond', () => {
  expect(stepsTo('draft', 'active')).toEqual(['staged', 'canary', 'active']);
  expect(stepsTo('draft', 'canary')).toEqual(['staged', 'canary']);
  expect(stepsTo('active', 'canary')).toEqual([]);
  expect(stepsTo('active', 'active')).toEqual([]);
  expect(stepsTo('deprecated', 'active')).toBeNull();
  expect(stepsTo('retired', 'canary')).toBeNull();
});
