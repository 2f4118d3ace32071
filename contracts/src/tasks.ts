import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { taskSchemas } from '../generated/tasks.ts';
import { ignorableNames, withoutUnknown, type ParamSchema } from './ignorable-params.ts';
import type { AccessGrant, TaskKind, TaskOutput, TaskParams } from '../generated/tasks.ts';

export type { TaskKind, TaskOutput, TaskParams } from '../generated/tasks.ts';
export type { AccessGrant, CandidateSlot, IngressRule, SlotBundle } from '../generated/tasks.ts';

// One mistake is enough to refuse; a list of all of them could be as long as a host likes.
const ajv = new Ajv2020.default({ strict: true, allowUnionTypes: true });
addFormats.default(ajv);
// For people and tests: the value is never shown or logged.
ajv.addKeyword('x-secret');
// An agent that does not know the parameter may leave it out; see `ignorable` of a task.
ajv.addKeyword('x-ignorable');
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
  check(`${kind}.params.json`, value);
  return value as TaskParams[K];
}

/** The parameters that an agent of an earlier release may leave out; a task names them. */
export function ignorableParams(kind: TaskKind, params: object): string[] {
  return ignorableNames(paramSchema(kind), params);
}

/** Parameters without those that this release does not know, if the task says that they may be left out. */
export function knownParams(kind: TaskKind, params: object, ignorable: readonly string[]): object {
  return withoutUnknown(paramSchema(kind), params, ignorable);
}

function paramSchema(kind: TaskKind): ParamSchema {
  return taskSchemas[`${kind}.params.json`] ?? {};
}

export function parseTaskOutput<K extends TaskKind>(kind: K, value: unknown): TaskOutput[K] {
  check(`${kind}.output.json`, value);
  return value as TaskOutput[K];
}

export function parseAccessGrant(value: unknown): AccessGrant {
  check('access-grant.json', value);
  return value as AccessGrant;
}

/** Checks `value` against a schema of `contracts/tasks`, by file name. */
function check(schemaId: string, value: unknown): void {
  const validate = ajv.getSchema(schemaId);
  if (!validate) throw new TaskSchemaError(`unknown schema ${schemaId}`);
  if (!validate(value)) throw new TaskSchemaError(`${schemaId}: ${ajv.errorsText(validate.errors)}`);
}
