import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';
import { ENVIRONMENT_ONLY, helpText, SETTINGS } from './settings.ts';

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

const MAAS = ['--maas-enabled', 'true', '--maas-url', 'https://maas.example:5443/MAAS'];

const S3 = ['--blobs-s3-url', 'https://s3.example', '--blobs-s3-bucket', 'payloads'];

const OWN = ['--oidc-issuer', 'https://idp.example', '--oidc-client-id', 'us', '--oidc-client-secret', 'x'];
const GITHUB = ['--github-client-id', 'us', '--github-client-secret', 'x'];

describe('settings', () => {
  it('name public providers beside a provider of the operator', () => {
    const google = ['--google-client-id', 'us', '--google-client-secret', 'y'];
    expect(readConfig(OWN, {}).oidc?.publicProviders).toEqual([]);
    expect(readConfig([...OWN, ...GITHUB, ...google], {}).oidc?.publicProviders).toEqual([
      { name: 'google', clientId: 'us', clientSecret: 'y', url: 'https://accounts.google.com' },
      { name: 'github', clientId: 'us', clientSecret: 'x', url: 'https://github.com' },
    ]);
  });

  it('come from the environment, and a flag wins', () => {
    const env = { GPUAAS_PORT: '1111', GPUAAS_NODE_PORT: '2222' };
    expect(readConfig(['--port', '3333'], env)).toMatchObject({ port: 3333, nodePort: 2222 });
    expect(readConfig(['--port=3333'], env)).toMatchObject({ port: 3333 });
  });

  it('keep content in the data folder, or in a bucket', () => {
    expect(readConfig(['--data-dir', '/data'], {}).blobs).toEqual({ folder: '/data/blobs', s3: null });
    const env = { GPUAAS_BLOBS_S3_ACCESS_KEY_ID: 'id', GPUAAS_BLOBS_S3_SECRET_KEY: 'key' };
    expect(readConfig(S3, env).blobs.s3).toMatchObject({
      bucket: 'payloads',
      region: 'us-east-1',
      prefix: '',
    });
  });

  it.each([
    [['--prot', '1'], /Unknown option --prot\b/],
    [['--no-such=1'], /Unknown option --no-such\b/],
    [['-x'], /Unknown option -x\b/],
    [['serve'], /Unexpected argument "serve"/],
    [['--port'], /--port needs a value/],
    [['--port', 'many'], /GPUAAS_PORT must be a number from 0 to 65535, not "many"/],
    [['--sim-faults', 'wipe_fails,gremlins'], /"gremlins" is not known; known are wipe_fails/],
    [['--sim-faults', 'wipe_fails2'], /"wipe_fails2" is not known/],
    [['--node-hostnames', 'a b'], /"a b" is neither a name nor an address/],
    [['--step-ca-url', 'http://ca'], /GPUAAS_STEP_CA_URL must be an https URL/],
    [['--step-ca-url', 'https://ca'], /GPUAAS_STEP_CA_FINGERPRINT must be set together with/],
    [['--step-ca-url', 'https://ca', '--step-ca-fingerprint', 'ab'], /must be a SHA-256 in hex/],
    [['--sim-nodes', '65'], /more than 64 hosts need GPUAAS_SIM_PROCESSES=one/],
    [['--sim-processes', 'two'], /GPUAAS_SIM_PROCESSES must be "each" or "one"/],
    [['--maas-enabled', 'yes'], /MAAS_ENABLED must be true or false, not "yes"/],
    [['--maas-enabled', 'true'], /MAAS_URL must be the https URL of MAAS/],
    [['--maas-enabled', 'true', '--maas-url', 'http://maas/MAAS'], /plain http only on this machine/],
    [['--maas-enabled', 'true', '--maas-url', 'http://127.0.0.1/MAAS'], /MAAS_API_KEY or MAAS_API_KEY_FILE/],
    [['--maas-api-key-file', '/no/such', ...MAAS], /MAAS_API_KEY_FILE: .* cannot be read/],
    [['--blobs-s3-url', 'http://s3.example'], /GPUAAS_BLOBS_S3_URL must be an https URL/],
    [['--blobs-s3-url', 'https://s3.example'], /GPUAAS_BLOBS_S3_BUCKET must name a bucket/],
    [[...S3, '--blobs-s3-prefix', '../x/'], /GPUAAS_BLOBS_S3_PREFIX must be words/],
    [S3, /GPUAAS_BLOBS_S3_SECRET_KEY_FILE must be set together with GPUAAS_BLOBS_S3_URL/],
    [['--oidc-issuer', 'https://idp.example'], /GPUAAS_OIDC_CLIENT_ID must be set/],
    [['--google-client-id', 'us'], /GPUAAS_GOOGLE_CLIENT_ID needs GPUAAS_OIDC_ISSUER/],
    [[...OWN, '--github-client-id', 'us'], /GPUAAS_GITHUB_CLIENT_SECRET must be set together with/],
    [[...OWN, ...GITHUB, '--github-url', 'http://git.example'], /GPUAAS_GITHUB_URL must be an https URL/],
  ])('are refused when wrong: %j', (argv, message) => {
    expect(() => readConfig(argv, {})).toThrow(ConfigError);
    expect(() => readConfig(argv, {})).toThrow(message);
  });

  it('turn MAAS on only when enabled, and know the node port as machines reach it', () => {
    const env = { MAAS_API_KEY: 'a1:b2:c3\n', MAAS_URL: 'https://maas.example/MAAS' };
    expect(readConfig([], env).maas).toBeNull();
    const on = { ...env, MAAS_ENABLED: 'true' };
    expect(() => readConfig([], on)).toThrow(/MAAS_NODE_URL must be the https URL/);
    expect(readConfig(['--node-hostnames', 'gpuaas.example', '--node-port', '9443'], on).maas).toMatchObject({
      key: { consumer: 'a1', token: 'b2', secret: 'c3' },
      deployment: { nodeUrl: 'https://gpuaas.example:9443', distroSeries: null, testingScripts: null },
    });
    for (const key of ['a1:b2', 'a1:b2:c3:d4', 'a1::c3', 'a1:b2:c 3']) {
      expect(() => readConfig([], { ...on, MAAS_API_KEY: key })).toThrow(/consumer:token:secret/);
    }
  });

  it('accept a large fleet in one process', () => {
    const fleet = readConfig(['--sim-nodes', '500', '--sim-processes', 'one'], {});
    expect(fleet).toMatchObject({ simNodes: 500, simOneProcess: true });
  });

  it('accept known faults, also for one host', () => {
    const text = 'wipe_fails@sim-h200-02, slow_clone';
    expect(readConfig([], { GPUAAS_SIM_FAULTS: text }).simFaults).toBe(text);
  });

  it('are all in the help and in the README, which name no others', () => {
    const names = [...Object.values(SETTINGS).map(({ env }) => env), ...Object.keys(ENVIRONMENT_ONLY)];
    for (const name of names) {
      expect(helpText()).toContain(name);
      expect(README).toContain(`\`${name}\``);
    }
  });
});
