import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuestError } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest-error';
import type { Guest } from '@gpuaas/control-plane/domains/apps/executors/allocation/guest';
import type {
  MemberObservation,
  MemberPayload,
  MemberSpec,
} from '@gpuaas/control-plane/domains/apps/executors/allocation/members';
import {
  observeGuest,
  probeGuest,
  readMemberLog,
  removeMember,
  startMember,
  stopMember,
} from '@gpuaas/control-plane/domains/apps/executors/allocation/run-members';
import { eventually } from '../eventually.ts';
import { asTenant, memberSpec, shell, type RunnerPlace } from './runner-place.ts';
import { tarOf } from './tar.ts';

const FOREVER = 'while :; do sleep 1; done';
/** Emulated machines take seconds to start a process. */
const SLOW_MS = 110_000;
const LEFT_NOTHING = { processes: 0, ports: [], files: false };

/** What the runner promises, in every place that it runs in. */
export function testMemberRunner(name: string, open: () => Promise<RunnerPlace>): void {
  describe(`the member runner ${name}`, () => {
    let place: RunnerPlace;
    let guest: Guest;
    const started = new Set<string>();

    beforeAll(async () => {
      place = await open();
      guest = await place.enter();
    });
    afterAll(async () => {
      for (const id of guest ? started : []) {
        await stopMember(guest, id, 0);
        await removeMember(guest, id);
      }
      guest?.close();
      await place?.close();
    });

    async function start(spec: MemberSpec): Promise<MemberObservation> {
      started.add(spec.memberId);
      return await startMember(guest, spec);
    }
    async function observe(id: string): Promise<MemberObservation | undefined> {
      const { members } = await observeGuest(guest);
      return members.find(({ memberId }) => memberId === id);
    }
    async function exited(id: string): Promise<MemberObservation> {
      return await eventually(
        'the end of the member',
        async () => {
          const member = await observe(id);
          return member?.state === 'exited' ? member : null;
        },
        SLOW_MS,
      );
    }
    async function log(id: string): Promise<string> {
      const { bytes } = await readMemberLog(guest, id, 0, 1024 * 1024);
      return bytes.toString('utf8');
    }
    async function logHas(id: string, text: string): Promise<string> {
      return await eventually(
        `"${text}" in the log`,
        async () => {
          const written = await log(id);
          return written.includes(text) ? written : null;
        },
        SLOW_MS,
      );
    }
    async function endsWithNothing(id: string, forced: boolean): Promise<void> {
      expect(await stopMember(guest, id, forced ? 1 : 20)).toMatchObject({ processes: 0, ports: [], forced });
      expect(await removeMember(guest, id)).toMatchObject({ ...LEFT_NOTHING, forced });
      expect(await observe(id)).toBeUndefined();
      started.delete(id);
    }

    it('finds all its tools', async () => {
      const probe = await probeGuest(guest);
      expect(probe.missing).toEqual([]);
      expect(probe.processors).toBeGreaterThan(0);
      expect(probe.diskFreeBytes).toBeGreaterThan(0);
      expect(probe.memoryBytes).toBeGreaterThan(0);
    });

    it('starts a member once, tells what it does, stops it, and leaves nothing', async () => {
      const value = 'it\'s "quoted" $HOME `id`\nand on two lines';
      const spec = memberSpec(shell(`echo "$WORDS"; echo oops >&2; pwd; ${FOREVER}`), {
        env: { WORDS: value },
      });
      const first = await start(spec);
      expect(first).toMatchObject({ state: 'running', exitCode: null, signal: null, filesPresent: true });
      expect(first.pid).toBeGreaterThan(1);
      expect(first.memoryBytes).toBeGreaterThan(0);
      expect(Math.abs(first.startedAt!.getTime() - Date.now())).toBeLessThan(24 * 3_600_000);
      const written = await logHas(spec.memberId, 'work');
      expect(written).toContain(`${value}\noops\n`);
      expect(await start(spec)).toMatchObject({ state: 'running', pid: first.pid });
      await endsWithNothing(spec.memberId, false);
    });

    it('keeps secrets away from command lines and files', async () => {
      const secret = `s3cret-${Math.random()}`;
      const spec = memberSpec(shell(`echo ready; ${FOREVER}`), { env: { TOKEN: secret } });
      await start(spec);
      await logHas(spec.memberId, 'ready');
      const half = [secret.slice(0, 4), secret.slice(4)];
      const found = await asTenant(
        guest,
        `s='${half[0]}'; s="$s"'${half[1]}'; grep -rlF "$s" ~/.gpuaas /proc/[0-9]*/cmdline 2>/dev/null`,
      );
      expect(found).toBe('');
      await endsWithNothing(spec.memberId, false);
    });

    it('runs one process however many start it at the same time', async () => {
      const spec = memberSpec(shell(`echo "I am $$"; ${FOREVER}`));
      started.add(spec.memberId);
      const others = await Promise.all([1, 2, 3].map(() => place.enter()));
      const seen = await Promise.all(others.map((other) => startMember(other, spec)));
      for (const other of others) if (other !== guest) other.close();
      expect(new Set(seen.map(({ pid }) => pid)).size).toBe(1);
      await logHas(spec.memberId, 'I am');
      expect((await log(spec.memberId)).match(/I am/g)).toHaveLength(1);
      await endsWithNothing(spec.memberId, false);
    });

    it('tells exit codes and signals, and starts nothing twice that has ended', async () => {
      const cases: [string, Partial<MemberObservation>][] = [
        ['exit 0', { exitCode: 0, signal: null }],
        ['exit 3', { exitCode: 3, signal: null }],
        ['kill -9 $$', { exitCode: null, signal: 9 }],
        ['exec no-such-program', { exitCode: 127, signal: null }],
      ];
      for (const [script, end] of cases) {
        const spec = memberSpec(shell(`echo run; ${script}`));
        await start(spec);
        expect(await exited(spec.memberId)).toMatchObject({ ...end, pid: null, oom: false });
        expect(await start(spec)).toMatchObject({ ...end, state: 'exited' });
        expect((await log(spec.memberId)).match(/run/g)).toHaveLength(1);
        await endsWithNothing(spec.memberId, false);
      }
    });

    it('starts no member again that was stopped, even before it started', async () => {
      const spec = memberSpec(shell(FOREVER));
      expect(await stopMember(guest, spec.memberId, 0)).toMatchObject(LEFT_NOTHING);
      await expect(start(spec)).rejects.toThrow('does not start again');
      expect(await removeMember(guest, spec.memberId)).toMatchObject(LEFT_NOTHING);
    });

    it('forces a member that ignores the request to end', async () => {
      const spec = memberSpec(shell(`trap '' TERM INT HUP; echo deaf; ${FOREVER}`));
      await start(spec);
      await logHas(spec.memberId, 'deaf');
      await endsWithNothing(spec.memberId, true);
    });

    it('finds daemons that left their parent, their session or their environment', async () => {
      const inNewSession = `setsid sh -c '(exec sleep 4321) & exit 0'; exit 0`;
      const withoutEnvironment = `(env -i PATH="$PATH" sleep 4321 &) ; exit 0`;
      for (const script of [inNewSession, withoutEnvironment]) {
        const spec = memberSpec(shell(script));
        await start(spec);
        await eventually(
          'the end of the first process',
          async () => {
            const member = await observe(spec.memberId);
            expect(member?.state).toBe('running');
            const status = await asTenant(guest, `cat ~/.gpuaas/members/${spec.memberId}/exit`);
            return status.startsWith('0 ') || null;
          },
          SLOW_MS,
        );
        expect(await observe(spec.memberId)).toMatchObject({ state: 'running', exitCode: null });
        await endsWithNothing(spec.memberId, false);
      }
    });

    it('still knows a member whose supervisor the tenant killed', async () => {
      const spec = memberSpec(shell(FOREVER));
      const { pid } = await start(spec);
      const claim = await asTenant(guest, `cat ~/.gpuaas/members/${spec.memberId}/claim`);
      await asTenant(guest, `kill -9 ${claim.split(' ')[1]}; sleep 1`);
      expect(await observe(spec.memberId)).toMatchObject({ state: 'running', pid });
      expect(await start(spec)).toMatchObject({ state: 'running', pid });
      await endsWithNothing(spec.memberId, false);
    });

    it('takes a process with the same number for another one', async () => {
      const spec = memberSpec(shell('exit 0'));
      await start(spec);
      await exited(spec.memberId);
      const folder = `~/.gpuaas/members/${spec.memberId}`;
      // As after a reboot: the numbers belong to others now, and nobody saw the member end.
      await asTenant(
        guest,
        `sleep 300 < /dev/null > /dev/null 2>&1 & other=$!; cd ${folder} && ` +
          `read -r boot pid began rest < process && rm exit && echo "$boot $other $began" > process && ` +
          `read -r boot pid began at < claim && rm claim && echo "$boot $other $began $at" > claim && ` +
          `echo $other > ~/other`,
      );
      expect(await observe(spec.memberId)).toMatchObject({ state: 'exited', exitCode: null, pid: null });
      expect(await start(spec)).toMatchObject({ state: 'exited' });
      await endsWithNothing(spec.memberId, false);
      expect(await asTenant(guest, 'kill $(cat ~/other) && rm ~/other && echo it lived')).toBe('it lived');
    });

    it('brings a payload by digest, and refuses another', async () => {
      const archive = tarOf({ 'bin/run.sh': 'echo from the archive', 'data.txt': 'some data' });
      for (const content of [archive, gzipSync(archive)]) {
        const spec = memberSpec(shell('sh bin/run.sh; cat data.txt'), { payload: payloadOf(content, 'tar') });
        await start(spec);
        await exited(spec.memberId);
        expect(await log(spec.memberId)).toBe('from the archive\nsome data');
        await endsWithNothing(spec.memberId, false);
      }
      const program = Buffer.from('#!/bin/sh\necho one file of $1\n');
      const spec = memberSpec(['./payload', 'ours'], { payload: payloadOf(program, 'file') });
      await start(spec);
      await exited(spec.memberId);
      expect(await log(spec.memberId)).toBe('one file of ours\n');
      await endsWithNothing(spec.memberId, false);

      const wrong = { ...payloadOf(program, 'file'), digest: `sha256:${'0'.repeat(64)}` };
      const refused = memberSpec(['./payload'], { payload: wrong });
      await expect(start(refused)).rejects.toMatchObject({ reason: 'digest_mismatch' });
      expect(await observe(refused.memberId)).toMatchObject({ state: 'absent' });
      await endsWithNothing(refused.memberId, false);
    });

    it('is put back when the tenant deletes or replaces it', async () => {
      const spec = memberSpec(shell(FOREVER));
      const { pid } = await start(spec);
      for (const damage of [
        'rm ~/.gpuaas/runner',
        `printf 'echo "gpuaas $1 begin"; echo "gpuaas $1 end"' > ~/.gpuaas/runner`,
        'rm ~/.gpuaas/runner && mkdir ~/.gpuaas/runner',
      ]) {
        await asTenant(guest, damage);
        expect(await observe(spec.memberId)).toMatchObject({ state: 'running', pid });
      }
      await endsWithNothing(spec.memberId, false);
    });

    it('still knows a member whose files the tenant deleted', async () => {
      const spec = memberSpec(shell(FOREVER));
      await start(spec);
      await asTenant(guest, `rm -rf ~/.gpuaas`);
      expect(await observe(spec.memberId)).toMatchObject({ state: 'running', filesPresent: false });
      await endsWithNothing(spec.memberId, false);
    });

    it('says that its files were deleted in the middle of a start, and starts the next time', async () => {
      const content = Buffer.from('#!/bin/sh\necho it runs\n');
      const spec = memberSpec(['./payload']);
      const folder = `~/.gpuaas/members/${spec.memberId}`;
      const waits = `while [ ! -d ${folder} ]; do sleep 0.1; done`;
      const payload: MemberPayload = {
        digest: `sha256:${createHash('sha256').update(content).digest('hex')}`,
        size: content.length,
        kind: 'file',
        open: async () =>
          Readable.from(
            (async function* () {
              await asTenant(guest, `${waits}; rm -rf ~/.gpuaas`);
              yield content;
            })(),
          ),
      };
      const vanished = { reason: 'node_lost', message: expect.stringContaining('deleted meanwhile') };
      await expect(start({ ...spec, payload })).rejects.toMatchObject(vanished);
      await start({ ...spec, payload: { ...payload, open: async () => Readable.from([content]) } });
      await logHas(spec.memberId, 'it runs');
      await endsWithNothing(spec.memberId, false);
    });

    it('keeps the end of a log that is too long', async () => {
      const limits = { memoryBytes: null, openFiles: null, logBytes: 1024 * 1024 };
      const lines = 200_000;
      const script = `i=0; awk 'BEGIN { for (i = 0; i < ${lines}; i++) printf "line %012d of the log\\n", i }'; echo the end`;
      const spec = memberSpec(shell(script), { limits });
      await start(spec);
      const { logBytes } = await exited(spec.memberId);
      expect(logBytes).toBe(lines * 29 + 8);
      const kept = Number(await asTenant(guest, `cat ~/.gpuaas/members/${spec.memberId}/log.* | wc -c`));
      expect(kept).toBeLessThan(5 * 1024 * 1024);
      const tail = await readMemberLog(guest, spec.memberId, logBytes - 37, 4096);
      expect(tail.bytes.toString()).toBe(`line ${String(lines - 1).padStart(12, '0')} of the log\nthe end\n`);
      const early = await readMemberLog(guest, spec.memberId, 0, 4096);
      expect(early.offset).toBeGreaterThan(0);
      expect(early.offset % 29 === 0 || early.bytes.length === 4096).toBe(true);
      await endsWithNothing(spec.memberId, false);
    });

    it('refuses a port that something else listens on, and tells which ones a member has', async () => {
      const port = 20_000 + Math.floor(Math.random() * 20_000);
      const spec = memberSpec(place.listen(port), { ports: [port] });
      await start(spec);
      const has = async () => (await observe(spec.memberId))?.listening.includes(port) || null;
      await eventually('the port', has, SLOW_MS);
      const other = memberSpec(place.listen(port), { ports: [port] });
      await expect(start(other)).rejects.toThrow('in use');
      await endsWithNothing(spec.memberId, false);
      expect(await stopMember(guest, other.memberId, 0)).toMatchObject({ processes: 0, ports: [] });
    });

    it('is not confused by what a login shell prints, nor drowned by it', async () => {
      const drown = guest.run({
        command: 'while :; do echo garbage; done',
        maxBytes: 10_000,
        deadlineMs: 30_000,
      });
      await expect(drown).rejects.toBeInstanceOf(GuestError);
      const late = guest.run({ command: 'sleep 30', maxBytes: 10_000, deadlineMs: 500 });
      await expect(late).rejects.toMatchObject({ reason: 'node_lost' });
    });

    it('says that the disk is full, and goes on when it is not', async ({ skip }) => {
      const { disk } = place;
      if (!disk) return skip('the disk is shared with others');
      const spec = memberSpec(shell('echo run; exit 4'));
      const running = memberSpec(shell(`while [ ! -e go ]; do sleep 1; done; echo much; exit 7`));
      const stopped = memberSpec(shell('exec sleep 1000'));
      for (const one of [running, stopped]) await start(one);
      await asTenant(guest, `${disk.fill} 2>/dev/null; :`);
      const error = await start(spec).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ reason: 'disk_full' });
      // How a member ended is known even so.
      await asTenant(guest, `kill -9 $(cut -d' ' -f2 ~/.gpuaas/members/${running.memberId}/process)`);
      expect(await exited(running.memberId)).toMatchObject({ signal: 9 });
      // And one that runs is stopped even so, and does not start again.
      await endsWithNothing(stopped.memberId, false);
      await expect(start(stopped)).rejects.toThrow('does not start again');
      await asTenant(guest, disk.free);
      await start(spec);
      expect(await exited(spec.memberId)).toMatchObject({ exitCode: 4 });
      for (const { memberId } of [spec, running]) await endsWithNothing(memberId, false);
    });
  });
}

function payloadOf(content: Buffer, kind: MemberPayload['kind']): MemberPayload {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { digest, size: content.length, kind, open: () => Promise.resolve(Readable.from([content])) };
}
