import { chownSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../commands.ts';
import { writeKeys } from './write-keys.ts';

const obstacle =
  process.platform !== 'linux' ? 'needs Linux' : process.getuid?.() !== 0 ? 'needs root' : null;
const [UID, GID] = [700_000_001, 700_000_001];
const KEYS = ['ssh-ed25519 AAAA one', 'ssh-ed25519 BBBB two\n'];

describe.skipIf(obstacle !== null)(`keys of a tenant (${obstacle ?? 'needs nothing more'})`, () => {
  let place: string;
  let account: { uid: number; gid: number; home: string };
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'gpuaas-keys-'));
    account = { uid: UID, gid: GID, home: join(place, 'home') };
    mkdirSync(account.home);
    chownSync(account.home, UID, GID);
    chownSync(place, UID, GID);
  });
  afterEach(() => rmSync(place, { recursive: true }));
  const ownerOf = (path: string): number => lstatSync(path).uid;

  it('are written to the login’s home, idempotently', async () => {
    await writeKeys(runCommand, account, KEYS);
    await writeKeys(runCommand, account, KEYS);
    const file = join(account.home, '.ssh/authorized_keys');
    expect(readFileSync(file, 'utf8')).toBe('ssh-ed25519 AAAA one\nssh-ed25519 BBBB two\n');
    for (const path of [file, join(account.home, '.ssh')]) expect(ownerOf(path)).toBe(UID);
    expect(lstatSync(account.home).mode & 0o777).toBe(0o700);
    expect(lstatSync(file).mode & 0o022).toBe(0);
  });

  it.each(['.ssh', '.ssh/authorized_keys'])(
    'reach nothing of the host through a link that a tenant put in place of %s before a second attempt',
    async (link) => {
      const secret = join(place, 'of-the-host');
      mkdirSync(secret, { mode: 0o700 });
      if (link !== '.ssh') {
        mkdirSync(join(account.home, '.ssh'));
        chownSync(join(account.home, '.ssh'), UID, GID);
      }
      symlinkSync(link === '.ssh' ? secret : join(secret, 'file'), join(account.home, link));
      await writeKeys(runCommand, account, KEYS).catch(() => undefined);
      expect(ownerOf(secret)).toBe(0);
      await expect(runCommand('ls', ['-A', secret])).resolves.toMatchObject({ stdout: '' });
    },
  );
});
