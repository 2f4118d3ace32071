import Ajv2020 from 'ajv/dist/2020.js';
import type { AnySchema, ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifySchemaValidationError } from 'fastify/types/schema.js';
import { parseInstant } from './instants.ts';
import { MAX_ERRORS, Problem, type ProblemDetail } from './problem.ts';

/** Validator that fastify calls: returns whether a part of a request is valid, and keeps the errors beside it. */
export interface Validator {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/** A form that a person fills in has fewer values; only such bodies get every error reported. */
const MAX_FORM_VALUES = 200;

/** Bodies are not coerced; only path, query and header text is. */
export function createValidators(): { compile(schema: object, part: string | undefined): Validator } {
  const bodies = createAjvPair({ coerceTypes: false });
  const text = createAjvPair({ coerceTypes: 'array' });
  return {
    compile(schema, part) {
      if (part === 'body') return validator(bodies, schema);
      return validator(text, part === 'headers' ? lowerCaseNames(schema) : schema);
    },
  };
}

/** `first` stops at the first error, for a value of any size; `all` finds every one. */
interface AjvPair {
  first: Ajv2020.default;
  all: Ajv2020.default;
}

function validator({ first, all }: AjvPair, schema: object): Validator {
  const marked = markInstants(schema);
  const isValid = first.compile(marked);
  let findAll: ValidateFunction | undefined;
  const validate: Validator = (value) => {
    if (isValid(value)) return true;
    validate.errors = isValid.errors ?? [];
    if (isForm(value)) {
      // Compiled when the first form is refused: most operations never need it.
      findAll ??= all.compile(marked);
      if (!findAll(value)) validate.errors = findAll.errors ?? [];
    }
    return false;
  };
  return validate;
}

/** Counts values until there are too many for a form. */
function isForm(value: unknown): boolean {
  let left = MAX_FORM_VALUES;
  const fits = (one: unknown): boolean => {
    left -= 1;
    if (left < 0) return false;
    if (typeof one !== 'object' || one === null) return true;
    for (const name in one) if (!fits((one as Record<string, unknown>)[name])) return false;
    return true;
  };
  return fits(value);
}

interface HeadersSchema {
  properties?: Record<string, object>;
  required?: string[];
}

/** Node gives header names in lower case; with a custom compiler fastify leaves the schema as it is. */
function lowerCaseNames(schema: HeadersSchema): object {
  const properties = Object.entries(schema.properties ?? {}).map(([name, value]): [string, object] => [
    name.toLowerCase(),
    value,
  ]);
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: (schema.required ?? []).map((name) => name.toLowerCase()),
  };
}

const MAX_POINTER = 500;

export function validationProblem(part: string | undefined, errors: FastifySchemaValidationError[]): Problem {
  const details = errors
    .slice(0, MAX_ERRORS)
    .map((error) => describe(part ?? 'request', error))
    // Names of unknown fields can have any length.
    .map(({ pointer, ...rest }) => ({ ...rest, pointer: pointer.slice(0, MAX_POINTER) }));
  return new Problem('invalid_request', `Invalid ${part ?? 'request'}.`, {
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

function createAjvPair({ coerceTypes }: { coerceTypes: boolean | 'array' }): AjvPair {
  const create = (allErrors: boolean): Ajv2020.default => {
    const ajv = new Ajv2020.default({ strict: false, allErrors, coerceTypes, useDefaults: true });
    addFormats.default(ajv);
    ajv.addFormat('date-time', { type: 'string', validate: (text: string) => parseInstant(text) !== null });
    ajv.addKeyword({ keyword: INSTANT, modifying: true, errors: false, validate: writeAsIso });
    return ajv;
  };
  return { first: create(false), all: create(true) };
}

/** Set beside `format: date-time`: handlers and the database get every time in one form. */
const INSTANT = 'x-instant';

function writeAsIso(
  _schema: unknown,
  value: unknown,
  _parent: unknown,
  place?: { parentData: Record<string | number, unknown>; parentDataProperty: string | number },
): boolean {
  const instant = typeof value === 'string' ? parseInstant(value) : null;
  if (instant && place) place.parentData[place.parentDataProperty] = instant.toISOString();
  return true;
}

/** A copy of the schema with the keyword at every date-time. */
function markInstants(schema: object): AnySchema {
  const copies = new Map<object, object>();
  const copy = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    const known = copies.get(value);
    if (known) return known;
    const made: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
    copies.set(value, made);
    for (const [name, part] of Object.entries(value)) (made as Record<string, unknown>)[name] = copy(part);
    if ('format' in value && value.format === 'date-time') (made as Record<string, unknown>)[INSTANT] = true;
    return made;
  };
  return copy(schema) as AnySchema;
}
