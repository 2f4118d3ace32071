import { describe, expect, it } from 'vitest';
import { filesIn, importsOf, type SourceFile } from './source-files.ts';

interface Arrow {
  from: RegExp;
  /** Allowed imports of our own modules; any other is against the arrow. */
  may: RegExp[];
}

const CONTRACTS = /^@gpuaas\/contracts\//;
const SDK = /^@gpuaas\/sdk\//;
const CONTROL_PLANE = /^@gpuaas\/control-plane\//;
const OURS = /^(@gpuaas\/|contracts\/|control-plane\/|node-agent\/|sdk\/|cli\/|console\/|lab\/|tests\/)/;

/** The arrows of ARCHITECTURE.md. The first entry that matches a file holds for it. */
const arrows: readonly Arrow[] = [
  { from: /^control-plane\/src\/domains\/placement\//, may: [/^control-plane\/src\/domains\/placement\//] },
  {
    from: /^control-plane\/src\/platform\//,
    may: [/^control-plane\/src\/platform\//, CONTRACTS],
  },
  {
    from: /^control-plane\/src\/domains\//,
    may: [/^control-plane\/src\/(domains|platform)\//, CONTRACTS],
  },
  { from: /^control-plane\/src\/roles\//, may: [/^control-plane\/src\//, CONTRACTS] },
  { from: /^control-plane\/scripts\//, may: [/^control-plane\//] },
  { from: /^node-agent\//, may: [/^node-agent\//, CONTRACTS] },
  { from: /^sdk\/examples\//, may: [SDK] },
  { from: /^sdk\//, may: [/^sdk\//, CONTRACTS] },
  { from: /^console\//, may: [/^console\//, SDK] },
  { from: /^cli\//, may: [/^cli\//, SDK] },
  // What `npm start` runs: the roles of a control plane in one process, beside a simulated fleet.
  { from: /^lab\/(src\/up|scripts)\//, may: [/^lab\//, CONTROL_PLANE, SDK] },
  { from: /^lab\//, may: [/^lab\//, CONTRACTS, SDK] },
  { from: /^contracts\//, may: [/^contracts\//] },
  { from: /^tests\//, may: [OURS] },
];

/** Reviewed one by one. An unneeded entry fails, so that the list can only shrink. */
const reviewed: readonly { from: string; to: string; why: string }[] = [
  {
    from: 'lab/src/simulated-machine.ts',
    to: 'node-agent/src/main.ts',
    why: 'the simulated fleet starts real agents as processes; it calls nothing of them',
  },
  {
    from: 'lab/src/shared-machines.ts',
    to: 'node-agent/src/many-main.ts',
    why: 'the same, for a fleet whose agents share a process',
  },
];

const workspaces = ['contracts', 'control-plane', 'node-agent', 'sdk', 'cli', 'console', 'lab', 'tests'];
const sources = workspaces.flatMap((name) => filesIn(name, '.ts', '.tsx'));

interface Breach {
  from: string;
  to: string;
}

function breachesOf(file: SourceFile): Breach[] {
  const arrow = arrows.find(({ from }) => from.test(file.path));
  if (!arrow) return [{ from: file.path, to: 'no arrow names this folder' }];
  return importsOf(file)
    .filter(({ target }) => OURS.test(target) && !arrow.may.some((allowed) => allowed.test(target)))
    .map(({ target }) => ({ from: file.path, to: target }));
}

const isTest = (path: string): boolean => path.includes('.test.') || path.includes('/testing/');
const breaches = sources.flatMap(breachesOf);

describe('dependency arrows', () => {
  it('hold in every source file', () => {
    const unknown = breaches
      .filter(({ from }) => !isTest(from))
      .filter((breach) => !reviewed.some(({ from, to }) => from === breach.from && to === breach.to));
    expect(unknown).toEqual([]);
  });

  it('let tests beside the code reach further only for what tests need', () => {
    // Commands are run as processes, as people run them.
    const allowed = /(\/testing\/|^@gpuaas\/|^control-plane\/scripts\/)/;
    expect(breaches.filter(({ from, to }) => isTest(from) && !allowed.test(to))).toEqual([]);
  });

  it('keep tests out of the product', () => {
    const product = sources.filter(({ path }) => !path.startsWith('tests/'));
    const intoTests = product.flatMap((file) =>
      importsOf(file)
        .filter(({ target }) => /^(tests\/|@gpuaas\/tests)/.test(target) || target.includes('.test.'))
        .map(({ target }) => ({ from: file.path, to: target })),
    );
    expect(intoTests).toEqual([]);
    const intoTesting = product
      .filter(({ path }) => !isTest(path))
      .flatMap((file) => importsOf(file).filter(({ target }) => target.includes('/testing/')));
    expect(intoTesting).toEqual([]);
  });

  it('keep placement pure', () => {
    const placement = sources.filter(({ path }) => path.startsWith('control-plane/src/domains/placement/'));
    expect(placement.length).toBeGreaterThan(0);
    const impure = placement
      .filter(({ path }) => !isTest(path))
      .flatMap((file) =>
        importsOf(file)
          .filter(
            ({ target, typesOnly }) =>
              !typesOnly && !target.startsWith('control-plane/src/domains/placement/'),
          )
          .map(({ target }) => ({ from: file.path, to: target })),
      );
    expect(impure).toEqual([]);
  });

  it('form no cycle between domains', () => {
    const DOMAIN = /^control-plane\/src\/domains\/([^/]+)\//;
    const graph = new Map<string, Map<string, string>>();
    for (const file of sources.filter(({ path }) => DOMAIN.test(path) && !isTest(path))) {
      const from = DOMAIN.exec(file.path)![1]!;
      const arrowsOf = graph.get(from) ?? new Map<string, string>();
      graph.set(from, arrowsOf);
      for (const { target } of importsOf(file)) {
        const to = DOMAIN.exec(target)?.[1];
        if (to && to !== from && !arrowsOf.has(to)) arrowsOf.set(to, `${file.path} imports ${target}`);
      }
    }
    expect(graph.size).toBeGreaterThan(10);
    // Whatever is left after the domains that import nothing left are taken away is on a cycle, or leads to one.
    for (let before = Infinity; graph.size < before;) {
      before = graph.size;
      for (const [from, arrowsOf] of graph)
        if ([...arrowsOf.keys()].every((to) => !graph.has(to))) graph.delete(from);
    }
    const left = [...graph].flatMap(([, arrowsOf]) =>
      [...arrowsOf].filter(([to]) => graph.has(to)).map(([, reason]) => reason),
    );
    expect(left).toEqual([]);
  });

  it('load no native pty on a real GPU host', () => {
    const loaded = new Map<string, string>();
    const visit = (path: string, from: string): void => {
      if (loaded.has(path)) return;
      loaded.set(path, from);
      const file = sources.find((source) => source.path === path);
      for (const { target, typesOnly, dynamic } of file ? importsOf(file) : [])
        if (!typesOnly && !dynamic) visit(target, path);
    };
    visit('node-agent/src/main.ts', 'the agent');
    expect(loaded.size).toBeGreaterThan(50);
    expect(loaded.get('@lydell/node-pty')).toBeUndefined();
    const manifest = filesIn('node-agent', 'package.json')[0]!.text;
    const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> };
    expect(Object.keys(dependencies)).not.toContain('@lydell/node-pty');
  });

  it('has no reviewed exception that nothing needs', () => {
    const unneeded = reviewed.filter(
      (exception) => !breaches.some(({ from, to }) => from === exception.from && to === exception.to),
    );
    expect(unneeded).toEqual([]);
  });
});
