import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeDurable } from '../../durable-file.ts';

interface BootRecord {
  /** Identifies one power-on: the supervisor's id, or the real machine's boot. */
  power_on: string;
  boot_id: string;
}

/** Stable over agent restarts; changes after the simulated machine was without power. */
export async function currentBootId(dir: string, supervisorBootId: string | null): Promise<string> {
  const file = bootFile(dir);
  const power_on = supervisorBootId ?? machineBootId();
  const known = await readJson<BootRecord>(file);
  if (known?.power_on === power_on) return known.boot_id;
  const record: BootRecord = { power_on, boot_id: randomUUID() };
  await writeDurable(file, `${JSON.stringify(record)}\n`);
  return record.boot_id;
}

export function bootFile(dir: string): string {
  return join(dir, 'boot.json');
}

function machineBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
