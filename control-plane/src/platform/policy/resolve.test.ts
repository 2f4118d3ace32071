import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { policyValueError, type PolicyDefinition, type PolicyValue } from '@gpuaas/contracts/policies';
import { isLooser, resolvePolicy } from './resolve.ts';

const set_by = { global: 'policy.manage', tenant: 'tenant_policy.manage', project: 'tenant_policy.manage' };
const doc = 'for the test';
const VALUES = ['none', 'some', 'most', 'all'];

const types: fc.Arbitrary<PolicyDefinition> = fc.constantFrom<PolicyDefinition>(
  { type: 'duration', default: 50, minimum: 10, maximum: 90, doc, set_by },
  { type: 'integer', default: 3, minimum: 0, maximum: 10, doc, set_by },
  { type: 'boolean', default: false, doc, set_by },
  { type: 'string', default: 'some', values: VALUES, doc, set_by },
  { type: 'list', default: ['some', 'all'], values: VALUES, doc, set_by },
);

const definitions = fc
  .tuple(types, fc.constantFrom(undefined, 'at_most' as const, 'at_least' as const))
  .map(([type, guard_rail]): PolicyDefinition => (guard_rail ? { ...type, guard_rail } : type));

/** Includes values that the registry does not allow: a row may be older than the registry. */
const anything = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: -5, max: 100 }),
  fc.boolean(),
  fc.constantFrom(...VALUES, 'unknown'),
  fc.subarray(VALUES),
);
const levels = fc.record({ global: anything, tenant: anything, project: anything });

describe('resolution', () => {
  test('of a guard-rail never gets weaker at a lower scope, for any values in any order', () => {
    fc.assert(
      fc.property(definitions, levels, (definition, { global, tenant, project }) => {
        const platform = resolvePolicy(definition, { global }).value;
        const inTenant = resolvePolicy(definition, { global, tenant }).value;
        const inProject = resolvePolicy(definition, { global, tenant, project }).value;
        expect(isLooser(definition, inTenant, platform)).toBe(false);
        expect(isLooser(definition, inProject, inTenant)).toBe(false);
        expect(isLooser(definition, inProject, platform)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  test('always gives a value that the registry allows', () => {
    fc.assert(
      fc.property(definitions, levels, (definition, set) => {
        expect(policyValueError(definition, resolvePolicy(definition, set).value)).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  test('without a guard-rail takes the lowest allowed value', () => {
    fc.assert(
      fc.property(types, levels, (definition, set) => {
        const allowed = [set.project, set.tenant, set.global].filter(
          (value) => value !== undefined && !policyValueError(definition, value),
        ) as PolicyValue[];
        expect(resolvePolicy(definition, set)).toMatchObject({
          value: allowed[0] ?? definition.default,
          clamped: false,
        });
      }),
      { numRuns: 2000 },
    );
  });

  const rail: PolicyDefinition = {
    type: 'duration',
    default: 50,
    minimum: 10,
    maximum: 90,
    doc,
    set_by,
    guard_rail: 'at_most',
  };

  test('follows an upper scope that is tightened after a lower one was set', () => {
    expect(resolvePolicy(rail, { tenant: 40, project: 30 })).toEqual({
      value: 30,
      source: 'project',
      clamped: false,
    });
    expect(resolvePolicy(rail, { global: 20, tenant: 40, project: 30 })).toEqual({
      value: 20,
      source: 'global',
      clamped: true,
    });
  });

  test('lets the platform itself go beyond the default', () => {
    expect(resolvePolicy(rail, { global: 90 }).value).toBe(90);
  });

  test('passes over a scope at which the key cannot be set', () => {
    const global: PolicyDefinition = { ...rail, set_by: { global: 'policy.manage' } };
    expect(resolvePolicy(global, { tenant: 20 })).toMatchObject({ value: 50, source: 'default' });
  });

  test('keeps of a list what the rail above allows', () => {
    const list: PolicyDefinition = {
      type: 'list',
      default: VALUES,
      values: VALUES,
      doc,
      set_by,
      guard_rail: 'at_most',
    };
    expect(resolvePolicy(list, { global: ['none', 'some'], tenant: ['some', 'all'] })).toEqual({
      value: ['some'],
      source: 'tenant',
      clamped: true,
    });
  });
});
