import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyPair } from '@gpuaas/node-agent/testing/ssh';
import { unwrap } from '@gpuaas/sdk/problem';
import { launchBody, waitForState, type Allocation } from '../../harness/allocations/allocations.ts';
import { startTestPlatform, type TestPlatform } from '../../harness/platform.ts';

const MAIN = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));
const MEGABYTES = 50;
const missing = ['/usr/bin/ssh', '/usr/bin/bwrap', '/usr/lib/openssh/sftp-server'].filter(
  (file) => !existsSync(file),
);
const reason = missing.length > 0 ? ' (needs openssh-client, openssh-sftp-server and bubblewrap)' : '';

let platform: TestPlatform;
let machine: Allocation;
let home: string;
let env: NodeJS.ProcessEnv;

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

function run(file: string, args: string[]): Promise<Result> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

const gpuaas = (...args: string[]): Promise<Result> => run(process.execPath, [MAIN, ...args]);

describe.skipIf(missing.length > 0)(`OpenSSH into a machine through the tunnel${reason}`, () => {
  let key: string;

  beforeAll(async () => {
    platform = await startTestPlatform({ nodes: 1 });
    home = await mkdtemp(join(tmpdir(), 'gpuaas-openssh-'));
    await mkdir(join(home, '.ssh'), { mode: 0o700 });
    const pair = createKeyPair();
    key = join(home, 'key');
    await writeFile(key, pair.private, { mode: 0o600 });
    const { id } = await unwrap(
      platform.member.POST('/api/v1/ssh-keys', { body: { name: 'laptop', public_key: pair.public } }),
    );
    const body = { ...launchBody(platform.projectId, 1), name: 'reach', ssh_key_ids: [id] };
    const launched = await unwrap(platform.member.POST('/api/v1/allocations', { body }));
    machine = await waitForState(platform.member, launched.id, 'active');
    env = {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: join(home, 'config'),
      GPUAAS_URL: platform.baseUrl,
      GPUAAS_API_KEY: platform.keys.member,
    };
  });
  afterAll(async () => {
    await platform?.stop();
    if (home) await rm(home, { recursive: true, force: true });
  });

  it('runs a command there, by name, with its exit code', async () => {
    const result = await gpuaas('ssh', '-i', key, 'reach', '--', 'echo in $(hostname); exit 7');
    expect(result).toMatchObject({ code: 7, stdout: 'in reach\n' });
  });

  it(`copies ${MEGABYTES} MB there and back, byte for byte`, async () => {
    const [there, back] = [join(home, 'there'), join(home, 'back')];
    const bytes = randomBytes(MEGABYTES * 1024 * 1024);
    await writeFile(there, bytes);
    const sum = createHash('sha256').update(bytes).digest('hex');
    expect(await gpuaas('cp', '-i', key, there, `${machine.id}:data`)).toMatchObject({ code: 0, stderr: '' });
    const seen = await gpuaas('ssh', '-i', key, machine.id, '--', 'sha256sum data');
    expect(seen.stdout).toBe(`${sum}  data\n`);
    expect(await gpuaas('cp', '-i', key, `${machine.id}:data`, back)).toMatchObject({ code: 0, stderr: '' });
    expect(
      createHash('sha256')
        .update(await readFile(back))
        .digest('hex'),
    ).toBe(sum);
  }, 240_000);

  it('is configured for plain ssh, twice the same, and trusts the reported key alone', async () => {
    const written = await gpuaas('config-ssh', '--include', '--json');
    const { file, hosts, changed } = JSON.parse(written.stdout) as {
      file: string;
      hosts: { host: string }[];
      changed: boolean;
    };
    expect({ hosts, changed }).toMatchObject({ hosts: [{ host: 'gpuaas.reach' }], changed: true });
    expect(JSON.parse((await gpuaas('config-ssh', '--include', '--json')).stdout)).toMatchObject({
      changed: false,
      included: true,
    });
    const personal = await readFile(join(home, '.ssh', 'config'), 'utf8');
    expect(personal.match(/^Include /gm)).toHaveLength(1);
    const plain = () => run('ssh', ['-F', file, '-o', 'BatchMode=yes', '-i', key, 'gpuaas.reach', 'id -un']);
    expect(await plain()).toMatchObject({ code: 0, stdout: 'ubuntu\n' });
    const known = join(home, 'config', 'gpuaas', 'ssh', 'known_hosts');
    const [, type] = (await readFile(known, 'utf8')).split(' ');
    const [, other] = createKeyPair().public.split(' ');
    await writeFile(known, `gpuaas-${machine.id} ${type} ${other}\n`);
    const refused = await plain();
    expect(refused.code).toBe(255);
    expect(refused.stderr).toContain('Host key verification failed');
  });

  it.skipIf(process.getuid?.() !== 0)(
    'forwards a port that a program there listens on (needs root)',
    async () => {
      const server =
        '$| = 1; $s = IO::Socket::INET->new(LocalAddr => "127.0.0.1:8000", Listen => 5); print "listening\\n"; ' +
        'while ($c = $s->accept) { $line = <$c>; print $c "heard $line"; close $c }';
      const serving = spawn(
        process.execPath,
        [MAIN, 'ssh', '-i', key, 'reach', '--', `perl -MIO::Socket::INET -e '${server}'`],
        { env, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const forwarding = spawn(process.execPath, [MAIN, '--json', 'forward', 'reach', '0:8000'], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await firstLine(serving.stdout);
        const { port, url } = JSON.parse(await firstLine(forwarding.stdout)) as { port: number; url: string };
        // On the address of the console a browser would send its session to the machine.
        expect(url).toBe(`http://localhost:${port}`);
        expect(await say(port, 'one\n')).toBe('heard one\n');
        expect(await say(port, 'two\n')).toBe('heard two\n');
      } finally {
        forwarding.kill('SIGINT');
        serving.kill('SIGTERM');
      }
    },
    60_000,
  );

  it('opens a terminal without a key', async () => {
    const terminal = spawn(process.execPath, [MAIN, 'terminal', 'reach'], {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [output, words] = ['', ''];
    terminal.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    terminal.stderr.on('data', (chunk: Buffer) => (words += chunk.toString()));
    await expect.poll(() => output, { timeout: 30_000 }).toContain('$ ');
    terminal.stdin.write('echo "sum $((20+22))"; exit\n');
    const code = await new Promise((resolve) => terminal.on('close', resolve));
    expect(code).toBe(0);
    expect(output).toContain('sum 42');
    expect(words).toContain('The shell has ended.');
  });

  it('says what is wrong', async () => {
    expect(await gpuaas('ssh', 'nobody')).toMatchObject({ code: 1 });
    expect((await gpuaas('ssh', 'nobody')).stderr).toContain('No active allocation named nobody');
    expect(await gpuaas('cp', 'a', 'b')).toMatchObject({ code: 2 });
    expect(await gpuaas('forward', 'reach', 'x:y')).toMatchObject({ code: 2 });
  });
});

async function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await expect.poll(() => text, { timeout: 30_000 }).toContain('\n');
  return text.split('\n')[0]!;
}

function say(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(line));
    let heard = '';
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
    socket.on('end', () => resolve(heard));
    socket.on('error', reject);
  });
}
