import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const here = (name: string): string => join(import.meta.dirname, name);
const has = (command: string): boolean => existsSync(join('/usr/bin', command));
const canRun = ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool'].every(has);

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'gpuaas-keyring-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Stores a sign-in and reads it back in a separate desktop session. */
async function keepAndRead(unlock: string): Promise<{ kept: string; secret: string }> {
  const program = `
    const { tokenStorage, readTokens, writeTokens } = await import(${JSON.stringify(here('stored-tokens.ts'))});
    const tokens = { issuer: 'i', client_id: 'c', access_token: 'very secret', refresh_token: null, expires_at: 'e' };
    await writeTokens('https://cloud.example', tokens);
    const place = tokenStorage('https://cloud.example');
    const { access_token } = await readTokens('https://cloud.example');
    if (process.env.FORGET) await writeTokens('https://cloud.example', null);
    console.log(JSON.stringify({ kept: place, secret: access_token }));`;
  const script = `${unlock}
"${process.execPath}" --input-type=module -e "$PROGRAM"
secret-tool lookup service gpuaas account https://cloud.example >"$HOME/left" || true`;
  const { stdout } = await run('dbus-run-session', ['--', 'bash', '-c', script], {
    timeout: 60_000,
    env: {
      PATH: process.env['PATH'],
      PROGRAM: program,
      HOME: home,
      XDG_RUNTIME_DIR: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
    },
  });
  return JSON.parse(stdout) as { kept: string; secret: string };
}

describe.skipIf(!canRun)('a sign-in (needs libsecret-tools, gnome-keyring and dbus-run-session)', () => {
  it('is stored in the keyring and in no file', async () => {
    const unlock = `printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null`;
    expect(await keepAndRead(unlock)).toEqual({ kept: 'keyring', secret: 'very secret' });
    expect(await readFile(join(home, 'gpuaas', 'tokens.json'), 'utf8')).not.toContain('very secret');
    expect(await readFile(join(home, 'left'), 'utf8')).toContain('very secret');
    expect(await keepAndRead(`export FORGET=1; ${unlock}`)).toMatchObject({ kept: 'keyring' });
    expect(await readFile(join(home, 'left'), 'utf8')).toBe('');
  });

  it('is stored in a private file without an open keyring', async () => {
    expect(await keepAndRead('')).toEqual({ kept: 'file', secret: 'very secret' });
    expect((await stat(join(home, 'gpuaas', 'tokens.json'))).mode & 0o777).toBe(0o600);
  });
});
