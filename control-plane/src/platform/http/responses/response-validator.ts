import Ajv2020 from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { ContractDocument, OperationObject } from '../operation.ts';
import { first } from '../../present.ts';

export interface ServerResponseParts {
  method: string;
  /** The route as the contract writes it; null if no path of the contract matched. */
  path: string | null;
  status: number;
  headers: Record<string, unknown>;
  body: string | null;
}

/** A response, a header or a media type of the document. */
interface Declared {
  $ref?: string;
  headers?: Record<string, object>;
  content?: Record<string, object>;
  required?: boolean;
  schema?: { type?: string };
}

const DOCUMENT = 'contract';
/** Responses without an operation: unknown paths, undeclared methods, our own failures. */
const PROBLEM = '#/components/responses/Problem';

/** Compares responses with the contract: status, media type, headers and body must all be declared. */
export class ResponseValidator {
  readonly #document: ContractDocument;
  readonly #ajv = new Ajv2020.default({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: ContractDocument) {
    this.#document = document;
    addFormats.default(this.#ajv);
    this.#ajv.addSchema(document, DOCUMENT);
  }

  /** The mismatch, or null. */
  mismatch(answer: ServerResponseParts): string | null {
    const found = this.#declared(answer);
    if (typeof found === 'string') return found;
    if (typeof answer.headers['x-correlation-id'] !== 'string') return 'it carries no X-Correlation-Id';
    return this.#headers(found, answer) ?? this.#body(found, answer);
  }

  /** Where the response is declared, or why it is not. */
  #declared({ method, path, status }: ServerResponseParts): { pointer: string } | string {
    const operation = path === null ? undefined : this.#operation(path, method);
    if (!operation || status === 500) return { pointer: PROBLEM };
    const { responses } = operation;
    const key = [String(status), `${Math.floor(status / 100)}XX`].find((name) => name in responses);
    // A database or a provider may be away; the contract declares that once for all operations.
    if (!key && status === 503) return { pointer: PROBLEM };
    if (!key) return `${operation.operationId} declares no status ${status}`;
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    return { pointer: this.#follow(`#/paths/${escape(path!)}/${verb}/responses/${key}`) };
  }

  #operation(path: string, method: string): OperationObject | undefined {
    const item = this.#document.paths[path];
    return item?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
  }

  #headers({ pointer }: { pointer: string }, { headers }: ServerResponseParts): string | null {
    for (const name of Object.keys(this.#at(pointer).headers ?? {})) {
      const place = this.#follow(`${pointer}/headers/${escape(name)}`);
      const { required, schema } = this.#at(place);
      const text = headers[name.toLowerCase()];
      if (text === undefined && required) return `the header ${name} is missing`;
      if (text === undefined || !schema) continue;
      const wrong = this.#check(`${place}/schema`, schema.type === 'integer' ? Number(text) : text);
      if (wrong) return `the header ${name} ${wrong}`;
    }
    return null;
  }

  #body({ pointer }: { pointer: string }, { headers, body }: ServerResponseParts): string | null {
    const { content } = this.#at(pointer);
    if (!content) return body ? 'it has a body and none is declared' : null;
    const mediaType = first(String(headers['content-type']).split(';'), 'media type').trim();
    if (!(mediaType in content)) return `the media type ${mediaType} is not declared`;
    const place = `${pointer}/content/${escape(mediaType)}/schema`;
    if (!this.#at(`${pointer}/content/${escape(mediaType)}`).schema)
      return `the media type ${mediaType} has no schema`;
    // A stream has no body to compare yet.
    if (body === null) return mediaType === 'text/event-stream' ? null : 'it has no body and one is declared';
    return this.#check(place, mediaType.endsWith('json') ? JSON.parse(body) : body);
  }

  #check(pointer: string, value: unknown): string | null {
    let validate = this.#validators.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: DOCUMENT + encodeURI(pointer) });
      this.#validators.set(pointer, validate);
    }
    return validate(value) ? null : this.#ajv.errorsText(validate.errors);
  }

  #follow(pointer: string): string {
    const { $ref } = this.#at(pointer);
    return $ref ? this.#follow($ref) : pointer;
  }

  #at(pointer: string): Declared {
    let value: unknown = this.#document;
    for (const part of pointer.slice(2).split('/')) {
      value = (value as Record<string, unknown> | undefined)?.[
        part.replaceAll('~1', '/').replaceAll('~0', '~')
      ];
    }
    return value as Declared;
  }
}

function escape(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
