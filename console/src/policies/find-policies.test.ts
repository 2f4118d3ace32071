import { expect, test } from 'vitest';
import { findPolicies } from './find-policies.ts';

const policies = [
  { name: 'billing.low_balance_hours', doc: 'Warns before the balance is used up.' },
  { name: 'auth.sign_in_idle_seconds', doc: 'Idle timeout of a browser sign-in.' },
];
const found = (typed: string): string[] => findPolicies(policies, typed).map(({ name }) => name);

test('spaces, dots, underscores and hyphens are the same', () => {
  expect(found('low balance')).toEqual(['billing.low_balance_hours']);
  expect(found('Sign-in idle')).toEqual(['auth.sign_in_idle_seconds']);
  expect(found('timeout auth')).toEqual(['auth.sign_in_idle_seconds']);
  expect(found('')).toHaveLength(2);
  expect(found('nothing like it')).toEqual([]);
});
