import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { taskSchemas } from '../generated/tasks.ts';
import type { TaskKind, TaskOutput, TaskParams } from '../generated/tasks.ts';

export type { TaskKind, TaskOutput, TaskParams } from '../generated/tasks.ts';
export type { AccessGrant, CandidateSlot, SlotBundle } from '../generated/tasks.ts';

const ajv = new Ajv2020.default({ strict: true, allErrors: true, allowUnionTypes: true });
addFormats.default(ajv);
for (const [id, schema] of Object.entries(taskSchemas)) ajv.addSchema(schema, id);

const kinds = new Set(
  Object.keys(taskSchemas)
    .filter((id) => id.endsWith('.params.json'))
    .map((id) => id.slice(0, -'.params.json'.length)),
);

export class TaskSchemaError extends Error {}

export function isTaskKind(kind: string): kind is TaskKind {
  return kinds.has(kind);
}

export function parseTaskParams<K extends TaskKind>(kind: K, value: unknown): TaskParams[K] {
  return parse<TaskParams[K]>(`${kind}.params.json`, value);
}

export function parseTaskOutput<K extends TaskKind>(kind: K, value: unknown): TaskOutput[K] {
  return parse<TaskOutput[K]>(`${kind}.output.json`, value);
}

/** Checks `value` against a schema of `contracts/tasks`, by file name. */
export function parse<T>(schemaId: string, value: unknown): T {
  const validate = ajv.getSchema(schemaId);
  if (!validate) throw new TaskSchemaError(`unknown schema ${schemaId}`);
  if (!validate(value)) throw new TaskSchemaError(`${schemaId}: ${ajv.errorsText(validate.errors)}`);
  return value as T;
}
