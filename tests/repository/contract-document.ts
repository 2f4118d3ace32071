/** The parts of an OpenAPI document that the contract tests use. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  unevaluatedProperties?: boolean;
  items?: Schema;
  prefixItems?: Schema[];
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  [keyword: string]: unknown;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

export interface Parameter {
  $ref?: string;
  name?: string;
  schema?: Schema;
}

export interface Operation {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content & { $ref?: string }>;
  'x-permission'?: string;
  'x-audit'?: string;
  'x-max-body-bytes'?: number;
  'x-max-stream-bytes'?: number;
  'x-limit'?: string;
}

export interface Document {
  'x-max-body-bytes'?: number;
  paths: Record<string, Record<string, Operation>>;
}

export interface FoundOperation {
  method: string;
  path: string;
  operation: Operation;
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

export function operationsOf(document: Document): FoundOperation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

/** Follows `#/a/b` inside the document. */
export function follow<T extends { $ref?: string }>(document: Document, value: T): T {
  if (!value.$ref) return value;
  let found: unknown = document;
  for (const part of value.$ref.slice(2).split('/')) {
    found = (found as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return follow(document, found as T);
}

export interface Place {
  /** Where a reader finds it: the component it stands in, or the operation. */
  where: string;
  schema: Schema;
}

/** Every schema below `schema`, each component once per `seen`. */
export function schemasBelow(document: Document, schema: Schema, where: string, seen: Set<string>): Place[] {
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return [];
    seen.add(schema.$ref);
    return schemasBelow(document, follow(document, schema), schema.$ref.replace('#/components/', ''), seen);
  }
  const below = (child: Schema, name: string): Place[] =>
    schemasBelow(document, child, `${where}/${name}`, seen);
  const many = (children: Schema[] | undefined, name: string): Place[] =>
    (children ?? []).flatMap((child, index) => below(child, `${name}/${index}`));
  const named = (children: Record<string, Schema> | undefined): Place[] =>
    Object.entries(children ?? {}).flatMap(([name, child]) => below(child, name));
  const rest = schema.additionalProperties;
  return [
    { where, schema },
    ...named(schema.properties),
    ...named(schema.patternProperties),
    ...(typeof rest === 'object' ? below(rest, 'additionalProperties') : []),
    ...(schema.items ? below(schema.items, 'items') : []),
    ...many(schema.prefixItems, 'prefixItems'),
    ...many(schema.allOf, 'allOf'),
    ...many(schema.anyOf, 'anyOf'),
    ...many(schema.oneOf, 'oneOf'),
  ];
}
