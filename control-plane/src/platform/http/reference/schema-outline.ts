import { escapeHtml } from './page.ts';
import { resolveRef } from './reference-page.ts';

export interface DocumentSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: DocumentSchema[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  default?: unknown;
  description?: string;
  items?: DocumentSchema;
  properties?: Record<string, DocumentSchema>;
  required?: string[];
}

const MAX_DEPTH = 6;

/** A schema in the shape of the JSON it describes, as escaped text. */
export function schemaOutline(contract: object, schema: DocumentSchema, depth = 0): string {
  const known = resolveRef(contract, schema);
  if (known.const !== undefined) return escapeHtml(JSON.stringify(known.const));
  if (known.enum) return escapeHtml(known.enum.map((value) => JSON.stringify(value)).join(' | '));
  if (known.anyOf) return known.anyOf.map((option) => schemaOutline(contract, option, depth)).join(' | ');
  if (known.properties) return depth >= MAX_DEPTH ? '{ … }' : outlineObject(contract, known, depth);
  if (known.items) return `[${schemaOutline(contract, known.items, depth)}]${limits(known)}`;
  return `${escapeHtml([known.type ?? 'anything'].flat().join(' | '))}${limits(known)}`;
}

function outlineObject(contract: object, schema: DocumentSchema, depth: number): string {
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = schema.required?.includes(name) ? '' : '?';
    const remark = property.description
      ? `  <span class="dim">${escapeHtml(property.description.trim())}</span>`
      : '';
    return `${indent}${escapeHtml(name)}${optional}: ${schemaOutline(contract, property, depth + 1)}${remark}`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}

function limits(schema: DocumentSchema): string {
  const facts = [
    schema.format,
    schema.pattern && `/${schema.pattern}/`,
    range(schema.minimum, schema.maximum),
    schema.maxLength === undefined ? null : `≤ ${schema.maxLength} characters`,
    schema.maxItems === undefined ? null : `≤ ${schema.maxItems}`,
    schema.default === undefined ? null : `default ${JSON.stringify(schema.default)}`,
  ].filter(Boolean);
  return facts.length > 0 ? ` <span class="dim">${escapeHtml(facts.join(', '))}</span>` : '';
}

function range(minimum: number | undefined, maximum: number | undefined): string | null {
  if (minimum === undefined && maximum === undefined) return null;
  return `${minimum ?? ''}…${maximum ?? ''}`;
}
