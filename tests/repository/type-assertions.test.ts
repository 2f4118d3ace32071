import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesIn, ROOT, type SourceFile } from './source-files.ts';

/** How many there may be; lower them when some go. `as const` is no cast. */
const MOST_CASTS = 125;
const MOST_NON_NULL = 116;
/** Parsed JSON or YAML that is used without a check, because its parser answers `any`. */
const MOST_UNCHECKED = 52;

const LATEST = 99;

interface Node {
  parent: Node;
  getText(): string;
}

/** What is used here of the compiler's API. */
interface Compiler {
  createSourceFile(path: string, text: string, options: { languageVersion: number }, parents: true): Node;
  forEachChild(node: Node, visit: (child: Node) => void): void;
  isAsExpression(node: Node): node is Node & { type: Node };
  isNonNullExpression(node: Node): boolean;
  isCallExpression(node: Node): node is Node & { expression: Node };
  isAwaitExpression(node: Node): boolean;
  isParenthesizedExpression(node: Node): boolean;
  isVariableDeclaration(node: Node): node is Node & { type?: Node };
}

const WORKSPACES = ['contracts', 'control-plane', 'node-agent', 'sdk', 'cli', 'console', 'lab'];
// The compiler of the other packages has no API to read a file with.
const ts: Compiler = createRequire(join(ROOT, 'contracts/package.json'))('typescript');

const sources = WORKSPACES.flatMap((name) => filesIn(name, '.ts', '.tsx')).filter(
  ({ path }) => !path.includes('/generated/') && !path.includes('.test.'),
);
const counts = new Map(sources.map((file) => [file.path, countAssertions(file)]));
interface Count {
  casts: number;
  nonNull: number;
  unchecked: number;
}

const sum = (kind: keyof Count): number =>
  [...counts.values()].reduce((total, count) => total + count[kind], 0);

function countAssertions({ path, text }: SourceFile): Count {
  const count = { casts: 0, nonNull: 0, unchecked: 0 };
  const visit = (node: Node): void => {
    if (ts.isNonNullExpression(node)) count.nonNull += 1;
    if (ts.isAsExpression(node) && node.type.getText() !== 'const') count.casts += 1;
    if (ts.isCallExpression(node) && isUnchecked(node)) count.unchecked += 1;
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, { languageVersion: LATEST }, true));
  return count;
}

/** An argument counts as checked by the function that takes it, and a cast is counted as one. */
function isUnchecked(call: Node & { expression: Node }): boolean {
  if (!/^(JSON\.parse|parseYaml|.*\.json)$/s.test(call.expression.getText())) return false;
  let user = call.parent;
  while (ts.isAwaitExpression(user) || ts.isParenthesizedExpression(user)) user = user.parent;
  if (ts.isAsExpression(user) || ts.isCallExpression(user)) return false;
  return !(ts.isVariableDeclaration(user) && user.type?.getText() === 'unknown');
}

it('casts no more than before', () => {
  expect(sum('casts')).toBeLessThanOrEqual(MOST_CASTS);
});

it('asserts no more often than before that a value is there', () => {
  expect(sum('nonNull')).toBeLessThanOrEqual(MOST_NON_NULL);
});

it('uses no more parsed text without a check than before', () => {
  expect(sum('unchecked')).toBeLessThanOrEqual(MOST_UNCHECKED);
});

it('lists no file for unsafe casts that has none; the list can only shrink', () => {
  const { overrides }: { overrides: { files: string[]; rules: Record<string, string> }[] } = JSON.parse(
    readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8'),
  );
  const listed = overrides
    .filter(({ rules }) => rules['typescript/no-unsafe-type-assertion'] === 'off')
    .flatMap(({ files }) => files)
    .filter((file) => !file.includes('*'));
  expect(listed.length).toBeGreaterThan(0);
  expect(listed.filter((file) => !counts.get(file)?.casts)).toEqual([]);
});
