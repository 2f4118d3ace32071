import { expect, it } from 'vitest';
import { filesIn, importsOf } from './source-files.ts';

/** Folders that a walk gives its paths from. */
const DOMAINS = 'control-plane/src/domains/';
const BASES = ['allocations/', 'billing/', 'statements/', ''].map((folder) => DOMAINS + folder);
const FAR = 3;

/** Steps that no earlier step of their walk imports, and what leads to them. */
const HANDED_OVER: Record<string, string> = {
  'platform/http/operation-route': 'an HTTP request',
  'platform/http/admission/admission': 'the contract server passes it in',
  'tenancy/credentials/authenticate': 'the role passes it in',
  'allocations/routes': 'the role names the handlers',
  'tasks/claim-task': 'the agent asks for its next task',
  'node-agent/src/tasks/task-loop': 'the answer to the claim',
  'node-agent/src/tasks/task-runner': 'the agent passes it in',
  'node-agent/src/tasks/slice-vm-release': 'the answer to the claim',
  'timeline/record-stage-progress': 'the role names the sink of progress',
  'allocations/observe/observe-leases': 'the role passes it in',
  'cleanup/record-cleanup': 'a field of the services',
  'metering/metering-tick': 'a tick',
  'statements/close-months': 'a tick',
  'statement-pdf': 'an HTTP request for the document',
  'statement-csv': 'an HTTP request for the document',
  'console/src/allocations/timeline/timeline-panel': 'the answer with the steps',
};

const sources = ['control-plane', 'node-agent', 'console'].flatMap((folder) =>
  filesIn(folder, '.ts', '.tsx'),
);
const imports = new Map(
  sources.map((file) => [
    file.path,
    importsOf(file)
      .filter(({ typesOnly }) => !typesOnly)
      .map(({ target }) => target),
  ]),
);

const text = filesIn('', 'ARCHITECTURE.md')[0]!.text;
const walks = text
  .split('\n\n')
  .filter((paragraph) => paragraph.startsWith('Walk'))
  .map((paragraph) => [...paragraph.matchAll(/`([\w./{},-]+)`/g)].flatMap(([, path]) => expanded(path!)))
  .map((steps) => steps.filter((step) => fileOf(step) !== null));

it('each step of a walk is reached from an earlier one, or handed over', () => {
  expect(walks.map((steps) => steps.length > 8)).toEqual([true, true, true]);
  const unexplained = walks.flatMap((steps) =>
    steps
      .slice(1)
      .filter((step) => !(step in HANDED_OVER))
      .filter((step) => {
        const before = steps.slice(0, steps.indexOf(step));
        return !before.some((earlier) => reaches(fileOf(earlier)!, fileOf(step)!));
      }),
  );
  expect(unexplained).toEqual([]);
});

function reaches(from: string, to: string): boolean {
  let edge = new Set([from]);
  for (let hop = 0; hop < FAR; hop += 1) {
    edge = new Set([...edge].flatMap((path) => imports.get(path) ?? []));
    if (edge.has(to)) return true;
  }
  return false;
}

function fileOf(step: string): string | null {
  const candidates = [...BASES.map((base) => base + step), step, `control-plane/src/${step}`].flatMap(
    (path) => [`${path}.ts`, `${path}.tsx`],
  );
  return candidates.find((path) => imports.has(path)) ?? null;
}

function expanded(path: string): string[] {
  const [group, inside] = /\{([^{}]*)\}/.exec(path) ?? [];
  return group === undefined ? [path] : inside!.split(',').map((word) => path.replace(group, word));
}
