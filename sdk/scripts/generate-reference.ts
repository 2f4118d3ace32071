/** Writes REFERENCE.md from the doc comments of the SDK and from the contract. `--check` fails on drift instead. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import document from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { publicModules } from './public-modules.ts';

interface Described {
  operationId: string;
  summary: string;
  tags: string[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

interface Content {
  $ref?: string;
  content?: Record<string, { schema?: { $ref?: string } }>;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const file = fileURLToPath(new URL('../REFERENCE.md', import.meta.url));

const text = [
  '# Reference',
  '',
  'Made by `npm run generate -w sdk`; do not edit.',
  '',
  '## Modules',
  ...publicModules.flatMap(moduleLines),
  '',
  '## Operations',
  '',
  "Each is a call of the client with its path, typed by the contract; `components['schemas']` of `@gpuaas/sdk/contract`",
  'has the shapes that are named here.',
  ...document.tags.flatMap(({ name, description }) => tagLines(name, description)),
  '',
].join('\n');

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('sdk/REFERENCE.md differs from the SDK and the contract; run npm run generate');
  process.exit(1);
}

function moduleLines(name: string): string[] {
  const source = readFileSync(new URL(`../src/${name}.ts`, import.meta.url), 'utf8');
  const entries = [...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\n(export [^]*?\n)(?=\n|$)/g)].flatMap(
    ([, comment, code]) => (comment && code ? [`- ${indented(wordsOf(comment))}`, ...exampleOf(code)] : []),
  );
  return ['', `### \`@gpuaas/sdk/${name}\``, '', ...entries];
}

function wordsOf(comment: string): string {
  return comment
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .trim();
}

/** An interface with its members; for other declarations, the part before the body. */
function exampleOf(code: string): string[] {
  const shown = code.startsWith('export interface') ? code : code.replace(/ \{\n[^]*$/, '\n');
  return [
    '',
    '  ```ts',
    ...shown
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    '  ```',
    '',
  ];
}

/** Continuation lines and code belong to their list item. */
function indented(words: string): string {
  return words.replaceAll('\n', '\n  ').replaceAll(/^ +$/gm, '');
}

function tagLines(tag: string, description: string): string[] {
  const rows = Object.entries(document.paths).flatMap(([path, methods]) => {
    const described = new Map<string, Described>(Object.entries(methods));
    return METHODS.flatMap((method) => {
      const operation = described.get(method);
      if (!operation?.tags.includes(tag)) return [];
      const shapes = [shapeOf(operation.requestBody) ?? '', answerOf(operation)];
      return [`| \`${method.toUpperCase()} ${path}\` | ${operation.summary} | ${shapes.join(' | ')} |`];
    });
  });
  return rows.length === 0
    ? []
    : [
        '',
        `### ${tag}`,
        '',
        description,
        '',
        '| operation | what | takes | answers |',
        '|---|---|---|---|',
        ...rows,
      ];
}

function answerOf({ responses }: Described): string {
  const status = Object.keys(responses).find((one) => one.startsWith('2'));
  if (status === undefined) return '';
  return [status, shapeOf(responses[status])].filter(Boolean).join(' ');
}

function shapeOf(body: Content | undefined): string | undefined {
  const [shown] = Object.entries(body?.content ?? {});
  if (shown === undefined) return undefined;
  const [media, { schema }] = shown;
  return schema?.$ref
    ? `\`${schema.$ref.split('/').at(-1)}\``
    : media === 'application/json'
      ? 'JSON'
      : media;
}
