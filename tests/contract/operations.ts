import type { Schema } from './schema-values.ts';

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
}

export interface Operation {
  id: string;
  method: string;
  path: string;
  public: boolean;
  /** Needs a browser sign-in; a bearer token is not enough. */
  browserOnly: boolean;
  permission: string | null;
  /** Subject of the permission check. */
  scope: string | null;
  audit: string | null;
  /** The policy that bounds how much it makes. */
  limit: string | null;
  /** The parameters and fields that name what the operation is about. */
  targets: string[];
  parameters: Parameter[];
  body: Schema | null;
  bodyRequired: boolean;
  /** Takes bytes instead of JSON. */
  streamed: boolean;
  /** Its path names what it makes, so nothing of that name need exist. */
  makesTarget: boolean;
  maxBodyBytes: number;
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

interface RawOperation {
  operationId: string;
  'x-max-body-bytes'?: number;
  'x-permission'?: string;
  'x-scope'?: string;
  'x-audit'?: string;
  'x-limit'?: string;
  'x-makes-target'?: boolean;
  security?: Record<string, unknown>[];
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { required?: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string } & Operation['responses'][string]>;
}

/** Names whose tenant is spoken about, also in a query or a body. */
const TENANT_NAMES = ['project_id', 'organization_id'];
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** A bundled OpenAPI document as a list of operations with references at hand. */
export class Contract {
  readonly operations: Operation[];
  readonly methodsByPath: Map<string, string[]>;
  readonly #document: Record<string, unknown>;

  constructor(document: object) {
    this.#document = document as Record<string, unknown>;
    const paths = this.#document['paths'] as Record<string, Record<string, RawOperation>>;
    this.operations = Object.entries(paths).flatMap(([path, item]) =>
      METHODS.filter((method) => method in item).map((method) => this.#read(path, method, item[method]!)),
    );
    this.methodsByPath = new Map(
      Object.entries(paths).map(([path, item]) => [
        path,
        METHODS.filter((method) => method in item).map((method) => method.toUpperCase()),
      ]),
    );
  }

  /** Follows `$ref` until there is none. */
  resolve = <T extends { $ref?: string }>(value: T): T => {
    let current = value;
    while (current.$ref) current = this.#at(current.$ref) as T;
    return current;
  };

  /** The operation a request reaches, or undefined. */
  operationAt(method: string, url: string): Operation | undefined {
    const path = url.split('?')[0]!;
    return this.operations.find(
      (operation) => operation.method === method && patternOf(operation.path).test(path),
    );
  }

  /** The response the contract declares for a status, or undefined. */
  response(operation: Operation, status: number): Operation['responses'][string] | undefined {
    const { responses } = operation;
    return responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`] ?? responses['default'];
  }

  #read(path: string, method: string, raw: RawOperation): Operation {
    const parameters = (raw.parameters ?? []).map((parameter) => this.resolve(parameter));
    const body = raw.requestBody?.content['application/json']?.schema ?? null;
    return {
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      public: raw.security?.length === 0,
      browserOnly:
        (raw.security ?? [{}]).some(() => true) && (raw.security ?? [{}]).every((s) => 'browser' in s),
      permission: raw['x-permission'] ?? null,
      scope: raw['x-scope'] ?? null,
      audit: raw['x-audit'] ?? null,
      limit: raw['x-limit'] ?? null,
      targets: [
        ...parameters.filter((p) => p.in === 'path' || (p.required && TENANT_NAMES.includes(p.name))),
        ...TENANT_NAMES.filter((name) => body && this.resolve(body).required?.includes(name)),
      ].map((target) => (typeof target === 'string' ? target : target.name)),
      parameters,
      body,
      bodyRequired: raw.requestBody?.required ?? false,
      streamed: raw.requestBody?.content['application/octet-stream'] !== undefined,
      makesTarget: raw['x-makes-target'] ?? false,
      maxBodyBytes: raw['x-max-body-bytes'] ?? Number(this.#document['x-max-body-bytes']),
      responses: Object.fromEntries(
        Object.entries(raw.responses).map(([status, response]) => [status, this.resolve(response)]),
      ),
    };
  }

  #at(ref: string): unknown {
    let value: unknown = this.#document;
    for (const part of ref.slice(2).split('/')) {
      value = (value as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    return value;
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}
