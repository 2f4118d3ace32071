import { describe, expect, it } from 'vitest';
import { GuestError } from '../guest-error.ts';
import { readAnswer, readLine } from './read-answer.ts';
import { readEvidence, readMember, readObservation } from './read-observation.ts';

const MEMBER = {
  member: '0199aaaa-0000-7000-8000-00000000000a',
  state: 'exited',
  pid: null,
  status: 0,
  ended: 1_794_971_406,
  oom: false,
  started: 1_794_971_404,
  ticks: 250,
  memory: 4096,
  listening: [8080, 80],
  files: true,
  log: 10,
};
const answer = (...lines: unknown[]): Buffer =>
  Buffer.from(
    ['gpuaas 7 begin', ...lines.map((line) => JSON.stringify(line)), 'gpuaas 7 end', ''].join('\n'),
  );
const member = (change: object) => readMember(new Map(Object.entries({ ...MEMBER, ...change })));

describe('the answer of the runner', () => {
  it('begins after whatever a login shell printed', () => {
    const banner = Buffer.from('Welcome!\ngpuaas 6 begin\n');
    expect(readObservation(readAnswer(Buffer.concat([banner, answer(MEMBER)]), '7'))).toEqual({
      members: [
        {
          memberId: MEMBER.member,
          state: 'exited',
          pid: null,
          exitCode: 0,
          signal: null,
          oom: false,
          startedAt: new Date('2026-11-18T03:10:04Z'),
          endedAt: new Date('2026-11-18T03:10:06Z'),
          cpuSeconds: 2.5,
          memoryBytes: 4096,
          listening: [80, 8080],
          filesPresent: true,
          logBytes: 10,
        },
      ],
      gpus: [],
    });
  });

  it('tells GPUs beside members', () => {
    const { gpus } = readObservation(readAnswer(answer({ gpu: 0, use: 250, memory: 12 }), '7'));
    expect(gpus).toEqual([{ index: 0, utilisationPercent: 100, memoryUsedMb: 12 }]);
  });

  it('tells a signal apart from an exit code', () => {
    expect(member({ status: 137 })).toMatchObject({ exitCode: null, signal: 9 });
    expect(member({ status: 128 })).toMatchObject({ exitCode: 128, signal: null });
    expect(member({ status: 255 })).toMatchObject({ exitCode: 255, signal: null });
    expect(member({ status: null })).toMatchObject({ exitCode: null, signal: null });
  });

  it.each([
    ['nothing', Buffer.from('')],
    ['no begin', Buffer.from('{}\n')],
    ['another nonce', Buffer.from('gpuaas 8 begin\ngpuaas 8 end\n')],
    ['no end', Buffer.from('gpuaas 7 begin\n{"member":')],
    ['no JSON', Buffer.from('gpuaas 7 begin\nhello\ngpuaas 7 end\n')],
    ['no object', Buffer.from('gpuaas 7 begin\n7\ngpuaas 7 end\n')],
    ['random bytes', Buffer.from([...Array(4096).keys()].map((byte) => byte % 256))],
  ])('is an error of a known kind: %s', (_name, output) => {
    expect(() => readAnswer(output, '7')).toThrow(GuestError);
  });

  it.each([
    ['a state', { state: 'flying' }],
    ['a number as text', { memory: '12' }],
    ['a negative number', { log: -1 }],
    ['a fraction', { ticks: 0.5 }],
    ['a port', { listening: [70_000] }],
    ['no list', { listening: 'all' }],
    ['a long list', { listening: Array.from({ length: 1001 }, () => 1) }],
    ['a flag', { files: 1 }],
    ['a long name', { member: 'a'.repeat(101) }],
  ])('does not accept %s that cannot be', (_name, change) => {
    expect(() => member(change)).toThrow(GuestError);
  });

  it('is no proof of a teardown if it lacks a part', () => {
    const whole = { processes: 0, ports: [], files: false, forced: false };
    for (const name of Object.keys(whole)) {
      const { [name]: _left, ...rest } = { ...whole } as Record<string, unknown>;
      expect(() => readEvidence(new Map(Object.entries(rest)), new Date())).toThrow(GuestError);
    }
  });

  it.each([
    ['disk_full', 'disk_full'],
    ['permissions', 'permissions'],
    ['digest_mismatch', 'digest_mismatch'],
    ['port_taken', 'rejected'],
    ['something new', 'executor_error'],
    [7, 'executor_error'],
  ])('names the reason of %s', (error, reason) => {
    expect(() => readLine(JSON.stringify({ error }))).toThrow(expect.objectContaining({ reason }));
  });

  it('keeps a date that no calendar has within bounds', () => {
    expect(member({ started: Number.MAX_SAFE_INTEGER }).startedAt!.getTime()).not.toBeNaN();
  });
});
