import { policies } from '@gpuaas/contracts/generated/policies.ts';
import { describe, expect, it } from 'vitest';
import { filesIn, importsOf } from './source-files.ts';
import { technicalConstants, technicalLifetimes } from './technical-constants.ts';

const SOURCES = 'control-plane/src/';
const sources = filesIn('control-plane/src', '.ts')
  .filter(({ path }) => !path.includes('.test.') && !/\/testing(\/|\.ts)/.test(path))
  .map((file) => ({ ...file, file: file.path.slice(SOURCES.length) }));

/** A constant whose name says that it is a lifetime, a limit in time or a number of tries. */
const NAMED_LIKE_A_POLICY =
  /^(?:export )?const ([A-Z_]*(?:TTL|LIFETIME|RETENTION|KEPT|EXPIR|DEADLINE|TIMEOUT|SETTLED|ATTEMPTS|MAX_PER|_SECONDS|_MINUTES|_HOURS|_DAYS|_MONTHS)[A-Z_]*)\b/gm;
/** A lifetime inside an expression: `expires_at: now + 24 * 3600 * 1000`. */
const LIFETIME_IN_PLACE =
  /(?:expires|expiry|ttl|lifetime|valid)\w*\b[^\n;]{0,80}\b\d[\d_]*\s*\*\s*(?:60|1000|3600|86_?400)/i;

describe('business values', () => {
  it('are read from the registry by the policy client alone', () => {
    const readers = sources.filter((file) =>
      importsOf(file).some(({ target, typesOnly }) => target.includes('generated/policies') && !typesOnly),
    );
    expect(readers.map(({ file }) => file).filter((file) => !mayReadRegistry(file))).toEqual([]);
  });

  it('are read from the database by the policy client alone', () => {
    const readers = sources.filter(
      ({ text }) => /\bpolicy_values\b/.test(text) && !/generated\/schema/.test(text),
    );
    const outside = readers.map(({ file }) => file).filter((file) => !file.startsWith('platform/policy/'));
    expect(outside.filter((file) => !file.startsWith('platform/db/generated/'))).toEqual([]);
  });

  it('do not come from the environment', () => {
    const words = Object.keys(policies).map((key) => key.replaceAll('.', '_').toUpperCase());
    const config = sources.flatMap(({ file, text }) =>
      [...text.matchAll(/GPUAAS_([A-Z_]+)/g)]
        .filter(([, name]) => words.some((word) => name!.includes(word)))
        .map(([name]) => `${file} ${name}`),
    );
    expect(config).toEqual([]);
    const retention = sources.filter(({ text }) =>
      /GPUAAS_\w*(?:RETENTION|TTL|LIFETIME|DEADLINE)/.test(text),
    );
    expect(retention.map(({ file }) => file)).toEqual([]);
  });

  const named = sources.flatMap(({ file, text }) =>
    [...text.matchAll(NAMED_LIKE_A_POLICY)].map(([, name]) => `${file} ${name}`),
  );

  it('are not constants in code, apart from reviewed technical ones', () => {
    expect(named.filter((constant) => !(constant in technicalConstants))).toEqual([]);
    const inPlace = sources.filter(({ text }) => LIFETIME_IN_PLACE.test(text)).map(({ file }) => file);
    expect(inPlace.filter((file) => !(file in technicalLifetimes))).toEqual([]);
  });

  it('has no reviewed constant that no longer exists', () => {
    expect(Object.keys(technicalConstants).filter((constant) => !named.includes(constant))).toEqual([]);
  });

  it('are not kept from one moment to another: a value is asked for where it is used', () => {
    const kept = sources.filter(({ text }) => /^(?:export )?(?:const|let) [^\n]*policies\.get\(/m.test(text));
    expect(kept.map(({ file }) => file)).toEqual([]);
  });
});

describe('policy keys', () => {
  const text = sources.map((file) => file.text).join('\n');
  const isRead = (key: string): boolean => {
    const limit = /^http\.(\w+)_(burst|per_second)$/.exec(key);
    return text.includes(`'${key}'`) || (limit !== null && text.includes(`http.\${name}_${limit[2]}`));
  };

  it('are all read by something', () => {
    const unread = Object.keys(policies).filter((key) => !isRead(key));
    expect(unread).toEqual([]);
  });

  it('that a tenant can have are read for a tenant', () => {
    const scoped = Object.entries(policies).filter(([, { set_by }]) => 'tenant' in set_by);
    // A second argument of `get`.
    const reads = scoped.filter(([key]) => new RegExp(`'${key}',\\s*[^\\s)\\]]`).test(text));
    const unread = scoped.filter((entry) => !reads.includes(entry)).map(([key]) => key);
    expect(unread).toEqual([]);
  });
});

function mayReadRegistry(file: string): boolean {
  return file.startsWith('platform/policy/');
}
