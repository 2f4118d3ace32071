import Ajv2020 from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { Problem, type ProblemDetail } from './problem.ts';

/** Bodies are taken as they are; only path, query and header text is coerced. */
export function createValidators(): { compile(schema: object, part: string | undefined): ValidateFunction } {
  const bodies = strictAjv({ coerceTypes: false, useDefaults: true });
  const text = strictAjv({ coerceTypes: 'array', useDefaults: true });
  return {
    compile(schema, part) {
      if (part === 'body') return bodies.compile(schema);
      return text.compile(part === 'headers' ? lowerCaseNames(schema) : schema);
    },
  };
}

interface HeadersSchema {
  properties?: Record<string, object>;
  required?: string[];
}

/** Node gives header names in lower case; with a compiler of one's own fastify leaves the schema as it is. */
function lowerCaseNames(schema: HeadersSchema): object {
  const properties = Object.entries(schema.properties ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ]);
  return {
    ...schema,
    properties: Object.fromEntries(properties) as Record<string, object>,
    required: (schema.required ?? []).map((name) => name.toLowerCase()),
  };
}

const MAX_ERRORS = 100;
const MAX_POINTER = 500;

export function validationProblem(part: string | undefined, errors: FastifySchemaValidationError[]): Problem {
  const details = errors
    .slice(0, MAX_ERRORS)
    .map((error) => describe(part ?? 'request', error as ErrorObject))
    // Names of unknown fields are as long as the caller likes.
    .map(({ pointer, ...rest }) => ({ ...rest, pointer: pointer.slice(0, MAX_POINTER) }));
  return new Problem('invalid_request', `The ${part ?? 'request'} does not match the contract.`, {
    errors: details,
  });
}

function describe(part: string, error: ErrorObject): ProblemDetail {
  const base = part === 'body' ? error.instancePath : `/${part}${error.instancePath}`;
  if (error.keyword === 'additionalProperties') {
    const field = String(error.params['additionalProperty']);
    return { pointer: `${base}/${field}`, code: 'unknown_field', detail: 'is not a known field' };
  }
  if (error.keyword === 'required') {
    const field = String(error.params['missingProperty']);
    return { pointer: `${base}/${field}`, code: 'required', detail: 'is required' };
  }
  return { pointer: base, code: error.keyword, detail: error.message ?? 'is not valid' };
}

function strictAjv(options: { coerceTypes?: boolean | 'array'; useDefaults?: boolean }): Ajv2020.default {
  const ajv = new Ajv2020.default({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  return ajv;
}
