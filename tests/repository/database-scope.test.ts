import { describe, expect, it } from 'vitest';
import { filesIn } from './source-files.ts';

/** Ways to reach the database as the login user, past every role. */
const waysPastScopes: readonly { name: string; pattern: RegExp }[] = [
  { name: 'a separate connection', pattern: /\bnew (?:pg\.)?(?:Client|Pool)\(/ },
  { name: 'the pool', pattern: /\bpool\.(?:query|connect)\b|\bdatabase\.pool\b/ },
  { name: 'a handle of the login user', pattern: /\bopenDatabase\(|\bdatabase\.db\b/ },
  { name: 'the address of the database', pattern: /\bdatabase\.url\b/ },
];

/** Reviewed one by one. An unneeded entry fails, so that the list can only shrink. */
const reviewed: readonly { file: string; way: string; why: string }[] = [
  {
    file: 'platform/db/bounded-pool.ts',
    way: 'a separate connection',
    why: 'the pool that scopes are opened on',
  },
  {
    file: 'platform/db/database.ts',
    way: 'a handle of the login user',
    why: 'where the handle is made',
  },
  { file: 'platform/db/migrate.ts', way: 'a separate connection', why: 'migrations are the owner’s work' },
  {
    file: 'platform/db/listener.ts',
    way: 'a separate connection',
    why: 'listens and runs nothing else',
  },
  {
    file: 'platform/db/embedded/connection.ts',
    way: 'a separate connection',
    why: 'asks whether the server takes connections',
  },
  {
    file: 'platform/workflows/migrate-workflows.ts',
    way: 'a separate connection',
    why: 'migrations are the owner’s work',
  },
  {
    file: 'platform/workflows/engine.ts',
    way: 'the address of the database',
    why: 'the engine keeps its own tables through its own connections',
  },
  {
    file: 'platform/workflows/engine.ts',
    way: 'a handle of the login user',
    why: 'the worker hands in a database that acts as gpuaas_worker',
  },
  {
    file: 'roles/open-services.ts',
    way: 'a handle of the login user',
    why: 'loads the platform’s keys before anything is served; every role binds the handle before it works with it',
  },
  ...[
    'domains/tenancy/credentials/credentials.ts',
    'domains/tenancy/credentials/record-use.ts',
    'platform/auth/sign-ins.ts',
  ].map((file) => ({
    file,
    way: 'the pool',
    why: 'the pool of identities, whose connections act as gpuaas_auth',
  })),
  { file: 'roles/readiness-parts.ts', way: 'the pool', why: 'readiness asks `select 1`' },
  {
    file: 'roles/migrate.ts',
    way: 'a handle of the login user',
    why: 'migrations are the owner’s work, and so are the months that tables begin with',
  },
];

/** Files that may bind a handle to a role: those that start a part of the platform. */
const MAY_BIND = /^roles\//;
/** Handlers work with the transaction of their request. */
const ROUTES = /(?:^|\/)(?:node-)?routes\.ts$/;
const reviewedRoutes: Record<string, string> = {};

const SOURCES = 'control-plane/src/';
const sources = filesIn('control-plane/src', '.ts')
  .filter(({ path }) => !path.includes('.test.') && !path.includes('/testing'))
  .map(({ path, text }) => ({ file: path.slice(SOURCES.length), text }));

const found = sources.flatMap(({ file, text }) =>
  waysPastScopes.filter(({ pattern }) => pattern.test(text)).map(({ name }) => ({ file, way: name })),
);
const isSame = (a: { file: string; way: string }, b: { file: string; way: string }): boolean =>
  a.file === b.file && a.way === b.way;

describe('the database', () => {
  it('is reached through scopes, apart from what was reviewed', () => {
    expect(found.filter((use) => !reviewed.some((exception) => isSame(use, exception)))).toEqual([]);
  });

  it('has no reviewed way past scopes that nothing needs', () => {
    expect(reviewed.filter((exception) => !found.some((use) => isSame(use, exception)))).toEqual([]);
  });

  it('is bound to a role only by the code that starts a part of the platform', () => {
    const binding = sources.filter(
      ({ file, text }) => /\bservicesAsRole\(/.test(text) && file !== 'platform/db/scope.ts',
    );
    expect(binding.map(({ file }) => file).filter((file) => !MAY_BIND.test(file))).toEqual([]);
    expect(binding.map(({ file }) => file).toSorted()).toEqual([
      'roles/api.ts',
      'roles/app-gateway.ts',
      'roles/app-runtime-worker.ts',
      'roles/event-consumers.ts',
      'roles/node-api.ts',
      'roles/open-services.ts',
      'roles/payment-provider.ts',
      'roles/readiness-parts.ts',
      'roles/relay.ts',
      'roles/worker.ts',
      'roles/workflow-definitions.ts',
    ]);
  });

  it('is not used by handlers outside the scope of their request', () => {
    const direct = sources
      .filter(({ file, text }) => ROUTES.test(file) && /\bdb\b/.test(text.replaceAll(/^import .*$/gm, '')))
      .map(({ file }) => file);
    expect(direct).toEqual(Object.keys(reviewedRoutes));
  });

  it('gets roles and settings from one module', () => {
    const elsewhere = sources.filter(
      ({ file, text }) =>
        /set (?:local )?(?:role|session authorization|app\.)/i.test(text) && file !== 'platform/db/scope.ts',
    );
    expect(elsewhere.map(({ file }) => file)).toEqual([]);
  });
});
