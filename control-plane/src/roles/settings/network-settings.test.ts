import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../config.ts';
import { requireLoopbackForDemo } from '../demo-provider.ts';
import { unencryptedLinks } from './unencrypted-links.ts';

const OIDC = {
  GPUAAS_OIDC_ISSUER: 'https://idp.example',
  GPUAAS_OIDC_CLIENT_ID: 'gpuaas',
  GPUAAS_OIDC_CLIENT_SECRET: 'secret',
};

describe('the embedded identity provider', () => {
  it.each([
    {},
    { GPUAAS_HOST: 'localhost' },
    { GPUAAS_HOST: '127.0.0.2' },
    { GPUAAS_PUBLIC_URL: 'http://localhost:9090' },
    { GPUAAS_PUBLIC_URL: 'http://[::1]:9090' },
    { GPUAAS_HOST: '0.0.0.0', GPUAAS_PUBLIC_URL: 'https://gpu.example', ...OIDC },
  ])('runs only where others cannot reach its public passwords: %j', (env) => {
    expect(() => requireLoopbackForDemo(readConfig([], env))).not.toThrow();
  });

  it.each([
    [{ GPUAAS_HOST: '0.0.0.0' }, /GPUAAS_HOST is 0\.0\.0\.0/],
    [{ GPUAAS_HOST: '10.0.0.5' }, /GPUAAS_HOST is 10\.0\.0\.5/],
    [{ GPUAAS_PUBLIC_URL: 'https://gpu.example' }, /GPUAAS_PUBLIC_URL is https:\/\/gpu\.example/],
    [{ GPUAAS_PUBLIC_URL: 'http://127.0.0.1.example' }, /GPUAAS_OIDC_ISSUER/],
    [{ GPUAAS_PUBLIC_URL: 'http://127.example' }, /known passwords/],
  ])('refuses to start where others reach it: %j', (env, reason) => {
    expect(() => requireLoopbackForDemo(readConfig([], env))).toThrow(ConfigError);
    expect(() => requireLoopbackForDemo(readConfig([], env))).toThrow(reason);
  });
});

describe('a connection to another machine without TLS', () => {
  it.each([
    [{ DATABASE_URL: 'postgres://u:p@db.example/gpuaas' }, ['DATABASE_URL']],
    [{ DATABASE_URL: 'postgres://u:p@db.example/gpuaas?sslmode=prefer' }, ['DATABASE_URL']],
    [{ DATABASE_URL: 'postgres://u:p@db.example/gpuaas?sslmode=verify-full' }, []],
    [{ DATABASE_URL: 'postgres://u:p@127.0.0.1/gpuaas' }, []],
    [{ DATABASE_URL: 'postgres:///gpuaas?host=/run/postgresql' }, []],
    [{ NATS_URL: 'nats://nats.example:4222' }, ['NATS_URL']],
    [{ NATS_URL: 'tls://a.example:4222,nats://b.example:4222' }, ['NATS_URL']],
    [{ NATS_URL: 'nats.example:4222' }, ['NATS_URL']],
    [{ NATS_URL: 'tls://nats.example:4222' }, []],
    [{ NATS_URL: 'nats://localhost:4222' }, []],
    [{ REDIS_URL: 'redis://cache.example' }, ['REDIS_URL']],
    [{ REDIS_URL: 'rediss://cache.example' }, []],
    [{ REDIS_URL: 'redis://[::1]:6379' }, []],
  ])('is detected: %j', (env, noticed) => {
    expect(unencryptedLinks(readConfig([], env))).toEqual(noticed);
  });
});
