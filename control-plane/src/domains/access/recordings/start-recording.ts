import { StringDecoder } from 'node:string_decoder';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import type { Machine } from '../../allocations/connection/find-machines.ts';
import type { MachineAccess } from '../machine-door.ts';
import type { TerminalRecorder } from './terminal-recorder.ts';

const FLUSH_MS = 1_000;
const FLUSH_CHARACTERS = 64 * 1024;
const NOTICE = '\r\nThis terminal is recorded, as the policy of your organization says.\r\n';

/**
 * Records the terminal's output, if the policy requires it, as an asciicast sealed with the platform key.
 * Input is recorded only if it is echoed: passwords are not. `onFailure` must end a terminal that cannot be
 * recorded.
 */
export async function startRecording(
  services: Services,
  access: MachineAccess,
  machine: Machine,
  size: { cols: number; rows: number },
  onFailure: () => void,
): Promise<TerminalRecorder | null> {
  const { db, policies, sealer, clock, log } = services;
  const scope = { organizationId: machine.organizationId, projectId: machine.projectId };
  if (!policies.get('terminal.recorded', scope)) return null;
  const id = newId();
  const startedAt = clock.now();
  const began = performance.now();
  const most = policies.get('terminal.recording_max_bytes', scope);
  await db
    .insertInto('terminal_recordings')
    .values({
      id,
      organization_id: machine.organizationId,
      project_id: machine.projectId,
      allocation_id: access.allocationId,
      actor_id: access.actorId,
      started_at: startedAt,
    })
    .execute();

  const text = new StringDecoder('utf8');
  let pending = `${JSON.stringify({
    version: 2,
    width: size.cols,
    height: size.rows,
    timestamp: Math.floor(startedAt.getTime() / 1000),
  })}\n`;
  let [bytes, part, truncated, failed] = [0, 0, false, false];
  let writing: Promise<void> = Promise.resolve();

  const flush = (): void => {
    if (pending === '' || failed) return;
    const [content, number] = [pending, part++];
    pending = '';
    bytes += Buffer.byteLength(content);
    writing = writing.then(async () => {
      await db
        .insertInto('terminal_recording_parts')
        .values({
          recording_id: id,
          part: number,
          sealed: sealer.seal('terminal_recording', content, `${id} ${number}`),
        })
        .execute();
    });
    writing = writing.catch((error: unknown) => {
      if (failed) return;
      failed = true;
      log.error({ err: error, recording_id: id }, 'a terminal could not be recorded and is closed');
      onFailure();
    });
  };
  const timer = setInterval(flush, FLUSH_MS);
  const add = (kind: 'o' | 'r', data: string): void => {
    if (data === '' || truncated) return;
    pending += `${JSON.stringify([(performance.now() - began) / 1000, kind, data])}\n`;
    truncated = bytes + pending.length > most;
    if (pending.length > FLUSH_CHARACTERS) flush();
  };
  return {
    notice: NOTICE,
    output: (data) => add('o', text.write(data)),
    resize: (cols, rows) => add('r', `${cols}x${rows}`),
    async end() {
      clearInterval(timer);
      flush();
      await writing;
      await db
        .updateTable('terminal_recordings')
        .set({ ended_at: clock.now(), bytes: BigInt(bytes), truncated })
        .where('id', '=', id)
        .execute()
        .catch((error: unknown) =>
          log.error({ err: error, recording_id: id }, 'the end of a recording was lost'),
        );
    },
  };
}
