import { describe, expect, it } from 'vitest';
import { chooseContext, type ContextOptions } from './choose-context.ts';
import type { SavedContexts } from './saved-contexts.ts';

const kept: SavedContexts = {
  current: 'work',
  contexts: {
    work: { url: 'https://cloud.example/', project: 'research' },
    operator: { url: 'https://cloud.example', own_login: true },
  },
};
const none: SavedContexts = { current: null, contexts: {} };

function choose(asked: ContextOptions, env: NodeJS.ProcessEnv = {}, contexts = kept) {
  return chooseContext(asked, env, () => contexts);
}

describe('chooseContext', () => {
  it('prefers flags to the environment, and the environment to the current context', () => {
    expect(choose({})).toMatchObject({ name: 'work', url: 'https://cloud.example', project: 'research' });
    expect(choose({}, { GPUAAS_CONTEXT: 'operator' })).toMatchObject({ name: 'operator' });
    expect(choose({}, { GPUAAS_URL: 'http://env.test' })).toMatchObject({
      name: null,
      url: 'http://env.test',
    });
    expect(choose({ context: 'work' }, { GPUAAS_URL: 'http://env.test' })).toMatchObject({ name: 'work' });
    expect(choose({ url: 'http://said.test' }, { GPUAAS_CONTEXT: 'work' })).toMatchObject({
      name: null,
      url: 'http://said.test',
      project: undefined,
    });
    expect(choose({}, {}, none).url).toBe('http://127.0.0.1:8080');
  });

  it('shares the sign-in of a server, except for a context with its own', () => {
    expect(choose({}).signIn).toBe('https://cloud.example');
    expect(choose({ url: 'https://cloud.example/' }).signIn).toBe('https://cloud.example');
    expect(choose({ context: 'operator' }).signIn).toBe('operator@https://cloud.example');
  });

  it('lists the known contexts in the error', () => {
    expect(() => choose({ context: 'elsewhere' })).toThrow('you have work, operator');
    expect(() => choose({ context: 'toString' })).toThrow('No context named toString');
    expect(() => choose({ context: 'x' }, {}, none)).toThrow('gpuaas context set x --url');
    expect(() => choose({ context: 'work', url: 'http://both.test' })).toThrow('not both');
    expect(() => choose({ url: 'cloud.example' })).toThrow('is not a server URL');
  });
});
