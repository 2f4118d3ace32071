import fc from 'fast-check';
import { newId } from '@gpuaas/control-plane/platform/ids';
import type { KnownValues } from '../known-resources.ts';
import type { Contract, Operation } from '../operations.ts';
import { plainRequests, type GeneratedRequest } from '../requests.ts';
import type { Schema } from '../schema-values.ts';
import type { Target } from './expectation.ts';

/** The same request about an existing and about a missing resource. */
export function targetRequests(
  contract: Contract,
  operation: Operation,
  known: KnownValues,
): Record<Target, GeneratedRequest> {
  requireMakers(operation, known);
  const missing = Object.fromEntries(
    operation.targets.map((name) => [
      name,
      [missingValue(schemaOf(contract, operation, name)) ?? known[name]![0]],
    ]),
  );
  const request = (values: KnownValues): GeneratedRequest =>
    fc.sample(plainRequests(contract, operation, firstOf(values)), { seed: 7, numRuns: 1 })[0]!;
  return { existing: request(known), missing: request({ ...known, ...missing }) };
}

/** Without a seeded resource, the operation would only ever be tested with missing ones. */
function requireMakers(operation: Operation, known: KnownValues): void {
  const unknown = operation.targets.filter((name) => !known[name]?.length);
  if (unknown.length === 0) return;
  throw new Error(
    `${operation.id} is about ${unknown.join(', ')}, and nothing makes one for the tests; add it to tests/contract/known-resources.ts`,
  );
}

function firstOf(values: KnownValues): KnownValues {
  return Object.fromEntries(Object.entries(values).map(([name, list]) => [name, list.slice(0, 1)]));
}

function schemaOf(contract: Contract, operation: Operation, name: string): Schema {
  const parameter = operation.parameters.find((one) => one.name === name);
  const body = operation.body ? contract.resolve(operation.body) : null;
  return contract.resolve(parameter?.schema ?? body!.properties![name]!);
}

/** Null where the contract names everything there can be. */
function missingValue(schema: Schema): string | null {
  if (schema.enum) return null;
  if (schema.format === 'uuid') return newId();
  const text = 'no-such-thing';
  if (!schema.pattern || new RegExp(schema.pattern).test(text)) return text;
  return fc.sample(fc.stringMatching(new RegExp(schema.pattern)), { seed: 7, numRuns: 1 })[0]!;
}
