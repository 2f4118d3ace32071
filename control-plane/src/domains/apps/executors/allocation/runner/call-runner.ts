import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { GuestError } from '../guest-error.ts';
import type { Guest } from '../guest.ts';
import { afterBegin } from './read-answer.ts';

const RUNNER = readFileSync(new URL('./member-runner.sh', import.meta.url));
const DIGEST = createHash('sha256').update(RUNNER).digest('hex');
const FILE = '.gpuaas/runner';

export interface RunnerCall {
  verb: 'probe' | 'observe' | 'payload' | 'start' | 'stop' | 'remove' | 'logs';
  /** Words without a special meaning to a shell: ids and numbers. */
  args?: readonly (string | number)[];
  stdin?: () => Promise<Buffer | Readable>;
  maxBytes?: number;
  deadlineMs?: number;
}

export interface RunnerAnswer {
  output: Buffer;
  nonce: string;
}

const MAX_BYTES = 256 * 1024;
const DEADLINE_MS = 30_000;

/**
 * Calls the runner in the machine, and puts it there first if it is missing or not ours: each call compares its digest.
 * A tenant who is root can still deceive us, about their own machine.
 */
export async function callRunner(guest: Guest, call: RunnerCall): Promise<RunnerAnswer> {
  const answer = await tryRunner(guest, call);
  if (answer) return answer;
  await pushRunner(guest);
  const second = await tryRunner(guest, call);
  if (second) return second;
  throw new GuestError('access_lost', 'The runner in the machine does not stay as it was put there.');
}

/** Puts the runner into the machine if it is missing or altered. */
export async function ensureRunner(guest: Guest): Promise<void> {
  await callRunner(guest, { verb: 'probe' });
}

/** Null if the machine has another runner than ours, or none. */
async function tryRunner(guest: Guest, call: RunnerCall): Promise<RunnerAnswer | null> {
  const { verb, args = [], stdin, maxBytes = MAX_BYTES, deadlineMs = DEADLINE_MS } = call;
  const nonce = randomBytes(8).toString('hex');
  const words = [nonce, verb, ...args].map(plainWord).join(' ');
  const output = await guest.run({
    command:
      `exec sh -c 'cd && [ "$(sha256sum < ${FILE} | cut -c1-64)" = ${DIGEST} ] && exec sh ${FILE} "$@"; ` +
      `echo "gpuaas $1 begin"; echo "gpuaas $1 other"' sh ${words}`,
    maxBytes,
    deadlineMs,
    ...(stdin ? { stdin: await stdin() } : {}),
  });
  const other = `gpuaas ${nonce} other\n`;
  return afterBegin(output, nonce).subarray(0, other.length).toString() === other ? null : { output, nonce };
}

const PUSHED = 'gpuaas-pushed';

async function pushRunner(guest: Guest): Promise<void> {
  const temporary = `${FILE}.${randomBytes(8).toString('hex')}`;
  const output = await guest.run({
    command:
      `exec sh -c 'umask 077; export LC_ALL=C; cd && { mkdir -p .gpuaas && rm -rf ${FILE} && cat > ${temporary} && ` +
      `mv ${temporary} ${FILE} && echo ${PUSHED}; rm -f ${temporary}; } 2>&1'`,
    stdin: RUNNER,
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
  });
  const text = output.toString('utf8');
  if (text.includes(PUSHED)) return;
  if (/No space left|quota exceeded/.test(text))
    throw new GuestError('disk_full', 'The disk of the machine is full.');
  if (/ermission denied|Read-only file system/.test(text))
    throw new GuestError('permissions', 'The home folder of the machine cannot be written.');
  if (/No such file|nonexistent/.test(text))
    throw new GuestError('node_lost', 'The folder of the platform was deleted meanwhile.');
  throw new GuestError('executor_error', 'The runner could not be put into the machine.');
}

function plainWord(word: string | number): string {
  const text = String(word);
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(text)) throw new Error(`not a plain word: ${text}`);
  return text;
}
