import { escapeHtml, renderInline, page, renderProse } from './page.ts';
import { schemaOutline, type DocumentSchema } from './schema-outline.ts';

interface ReferenceParameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: DocumentSchema;
}

interface ReferenceOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  'x-permission'?: string;
  'x-max-body-bytes'?: number;
  parameters?: ReferenceParameter[];
  requestBody?: { content: Record<string, { schema?: DocumentSchema }> };
  responses: Record<
    string,
    { $ref?: string; description?: string; content?: Record<string, { schema?: DocumentSchema }> }
  >;
}

interface ReferenceDocument {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, ReferenceOperation>>;
}

/** The contract as one page without scripts; it loads nothing from other servers. */
export function referencePage(contract: object): string {
  const document = contract as ReferenceDocument;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const tags = (document.tags ?? []).map((tag) => ({
    ...tag,
    operations: operations.filter(({ operation }) => operation.tags?.[0] === tag.name),
  }));
  const navigation = tags
    .map(
      (tag) =>
        `<strong><a href="#tag-${tag.name}">${tag.name}</a></strong><ul>${tag.operations
          .map(
            ({ operation }) =>
              `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary ?? operation.operationId)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('');
  const { title, version, description } = document.info;
  const main = `<h1>${escapeHtml(title)} <span class="dim">${escapeHtml(version)}</span></h1>${renderProse(description)}
<p><a href="/openapi.json">openapi.json</a> · <a href="/docs/problems">problems</a></p>
${tags
  .map(
    (tag) =>
      `<h2 id="tag-${tag.name}">${tag.name}</h2>${renderProse(tag.description)}${tag.operations
        .map(({ path, method, operation }) => section(contract, path, method, operation))
        .join('')}`,
  )
  .join('')}`;
  return page(title, `<p><a href="/docs/problems">Problems</a></p>${navigation}`, main);
}

function section(contract: object, path: string, method: string, operation: ReferenceOperation): string {
  return `<section id="${operation.operationId}"><h3><code><span class="method">${method}</span>${escapeHtml(path)}</code></h3>
<p>${escapeHtml(operation.summary ?? '')} <span class="dim">${escapeHtml(access(operation))}</span></p>${renderProse(operation.description)}
${parameters(contract, operation)}${body(contract, operation)}${answers(contract, operation)}</section>`;
}

function access(operation: ReferenceOperation): string {
  if (operation.security?.length === 0) return 'open to everybody';
  const permission = operation['x-permission'];
  return permission && permission !== 'self' ? `needs ${permission}` : 'needs a signed-in caller';
}

function parameters(contract: object, operation: ReferenceOperation): string {
  if (!operation.parameters?.length) return '';
  const rows = operation.parameters.map((given) => {
    const parameter = resolveRef(contract, given);
    const name = `<code>${escapeHtml(parameter.name)}</code>${parameter.required ? '' : ' <span class="dim">optional</span>'}`;
    return `<tr><td>${name}</td><td class="dim">${parameter.in}</td><td>${schemaOutline(contract, parameter.schema)}${renderProse(parameter.description)}</td></tr>`;
  });
  return `<table><tbody>${rows.join('')}</tbody></table>`;
}

function body(contract: object, operation: ReferenceOperation): string {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const limit = `up to ${operation['x-max-body-bytes']?.toLocaleString('en') ?? 0} bytes`;
  return schema
    ? `<details open><summary>Body <span class="dim">${escapeHtml(limit)}</span></summary><pre>${schemaOutline(contract, schema)}</pre></details>`
    : '';
}

function answers(contract: object, operation: ReferenceOperation): string {
  return Object.entries(operation.responses)
    .map(([status, given]) => {
      const response = resolveRef(contract, given);
      const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
      const label = `<code>${status}</code> ${renderInline(response.description ?? '')} <span class="dim">${type ?? 'no body'}</span>`;
      if (!content?.schema || status.startsWith('4')) return `<p>${label}</p>`;
      return `<details><summary>${label}</summary><pre>${schemaOutline(contract, content.schema)}</pre></details>`;
    })
    .join('');
}

export function resolveRef<T extends { $ref?: string }>(contract: object, value: T): T {
  let current = value;
  while (current.$ref) {
    let target: unknown = contract;
    for (const part of current.$ref.slice(2).split('/')) {
      target = (target as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
    }
    current = target as T;
  }
  return current;
}
