import { readFileSync } from 'node:fs';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import nodeDocument from '@gpuaas/contracts/generated/node-openapi.json' with { type: 'json' };
import { taskSchemas } from '@gpuaas/contracts/generated/tasks.ts';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { notSecret } from './not-secret.ts';
import { Contract } from './operations.ts';
import type { Schema } from './schema-values.ts';
import { fieldsBelow, fieldsOf, soundsSecret, type NamedField } from './secret-fields.ts';

const asyncapi = parse(readFileSync(new URL('../../contracts/asyncapi.yaml', import.meta.url), 'utf8')) as {
  components: { schemas: Record<string, Schema> };
};

function ofContract(file: object): NamedField[] {
  const contract = new Contract(file);
  return contract.operations.flatMap((operation) => Object.values(fieldsOf(contract, operation)).flat());
}

const fromFile = (ref: string): Schema => taskSchemas[ref] ?? {};
const ofTasks = Object.entries(taskSchemas).flatMap(([name, schema]) =>
  fieldsBelow(
    (value) => (value.$ref ? (fromFile(value.$ref) as typeof value) : value),
    schema as Schema,
    `tasks/${name}`,
  ),
);
const events = new Contract({ ...asyncapi, paths: {} });
/** Stages are enums in a separate file that the document refers to; they have no fields. */
const isStage = (value: Schema): boolean => value.$ref?.startsWith('generated/stages.schema.json#/') ?? false;
const ofEvents = Object.entries(asyncapi.components.schemas).flatMap(([name, schema]) =>
  fieldsBelow(
    (value) => (isStage(value) ? ({} as typeof value) : events.resolve(value)),
    schema,
    `events/${name}`,
  ),
);
const everything = [...ofContract(document), ...ofContract(nodeDocument), ...ofTasks];

describe('fields of the contract whose names sound secret', () => {
  it('are marked `x-secret: true`, or tests/contract/not-secret.ts says why they are not', () => {
    const unmarked = everything
      .filter((field) => soundsSecret(field) && !field.schema['x-secret'])
      .map(({ where }) => where);
    expect([...new Set(unmarked)].filter((where) => !(where in notSecret))).toEqual([]);
  });

  it('are not in events, which have many readers and are stored', () => {
    const secrets = ofEvents.filter((field) => soundsSecret(field) || field.schema['x-secret']);
    expect(secrets.map(({ where }) => where)).toEqual([]);
  });

  it('have no exemption that exempts nothing', () => {
    const known = new Set(everything.map(({ where }) => where));
    expect(Object.keys(notSecret).filter((where) => !known.has(where))).toEqual([]);
  });

  it('are found', () => {
    const marked = everything.filter(({ schema }) => schema['x-secret']).map(({ where }) => where);
    expect(marked).toEqual(
      expect.arrayContaining([
        'createTerminalToken/201/token',
        'enrollNode/request/token',
        'finishLogin/code',
      ]),
    );
    expect(ofTasks.length).toBeGreaterThan(20);
    expect(ofEvents.length).toBeGreaterThan(10);
  });
});
