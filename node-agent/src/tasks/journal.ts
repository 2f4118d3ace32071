import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskOutcome } from '../control-plane.ts';
import { ensureFolder, readJson, removeDurable, writeDurable } from '../durable-file.ts';
import type { Task } from './check-task.ts';

export type StoredOutcome = Omit<TaskOutcome, 'epoch'>;

export interface JournalEntry {
  task_id: string;
  kind: string;
  correlation_id: string;
  nonce: string;
  epoch: number;
  expires_at: string;
  /** Null while the task is accepted but not finished. */
  outcome: StoredOutcome | null;
  delivered: boolean;
}

export type Admission =
  | { verdict: 'run'; entry: JournalEntry }
  /** Finished under an earlier epoch: only its outcome is owed. */
  | { verdict: 'deliver'; entry: JournalEntry }
  | { verdict: 'replayed'; detail: string };

/** Tasks that this agent accepted and finished, on disk: survives a crash and rejects replays. */
export interface Journal {
  admit(task: Task): Promise<Admission>;
  knows(taskId: string): boolean;
  finish(taskId: string, outcome: StoredOutcome): Promise<JournalEntry>;
  markDelivered(taskId: string, epoch: number): Promise<void>;
  undelivered(): JournalEntry[];
  prune(now: Date): Promise<void>;
}

/** A delivered task is forgotten this long after its expiry; from then on the expiry rejects it. */
const KEEP_MS = 24 * 3_600_000;

export async function openJournal(dir: string): Promise<Journal> {
  const folder = join(dir, 'journal');
  await ensureFolder(folder);
  const entries = await readEntries(folder);
  const taskOfNonce = new Map([...entries.values()].map((entry) => [entry.nonce, entry.task_id]));

  async function store(entry: JournalEntry): Promise<JournalEntry> {
    await writeDurable(join(folder, `${entry.task_id}.json`), `${JSON.stringify(entry)}\n`);
    entries.set(entry.task_id, entry);
    taskOfNonce.set(entry.nonce, entry.task_id);
    return entry;
  }

  function known(taskId: string): JournalEntry {
    const entry = entries.get(taskId);
    if (!entry) throw new Error(`task ${taskId} is not in the journal`);
    return entry;
  }

  return {
    async admit(task) {
      const first = taskOfNonce.get(task.nonce);
      if (first !== undefined && first !== task.task_id) {
        return { verdict: 'replayed', detail: `the nonce was used by task ${first}` };
      }
      const earlier = entries.get(task.task_id);
      if (earlier && task.epoch <= earlier.epoch) {
        return {
          verdict: 'replayed',
          detail: `epoch ${task.epoch} is not above the known epoch ${earlier.epoch}`,
        };
      }
      const { task_id, kind, correlation_id, nonce, epoch, expires_at } = task;
      const outcome = earlier?.outcome ?? null;
      const entry = { task_id, kind, correlation_id, nonce, epoch, expires_at, outcome, delivered: false };
      return { verdict: outcome ? 'deliver' : 'run', entry: await store(entry) };
    },
    knows(taskId) {
      return entries.has(taskId);
    },
    async finish(taskId, outcome) {
      return await store({ ...known(taskId), outcome });
    },
    async markDelivered(taskId, epoch) {
      const entry = known(taskId);
      // A later epoch may have been admitted since; it needs its own delivery.
      if (entry.epoch === epoch) await store({ ...entry, delivered: true });
    },
    undelivered() {
      return [...entries.values()].filter((entry) => entry.outcome !== null && !entry.delivered);
    },
    async prune(now) {
      for (const entry of entries.values()) {
        const owed = entry.outcome !== null && !entry.delivered;
        if (owed || Date.parse(entry.expires_at) + KEEP_MS > now.getTime()) continue;
        await removeDurable(join(folder, `${entry.task_id}.json`));
        entries.delete(entry.task_id);
        taskOfNonce.delete(entry.nonce);
      }
    },
  };
}

async function readEntries(folder: string): Promise<Map<string, JournalEntry>> {
  const entries = new Map<string, JournalEntry>();
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.json')) continue;
    const entry = await readJson<JournalEntry>(join(folder, name));
    if (entry) entries.set(entry.task_id, entry);
  }
  return entries;
}
