import { sql } from 'kysely';
import { openAppInstanceToken } from '../../../platform/auth/app-instance-token.ts';
import { repeat, type RepeatHandle } from '../../../platform/repeat.ts';
import type { Services } from '../../../platform/services.ts';
import type { RuntimeServices } from '../runtime/runtime-services.ts';
import { PLATFORM_PORT } from './platform-address.ts';
import { servePlatform } from './serve-platform.ts';

interface Door {
  /** Live instances in the machine whose manifest lets them call the platform. */
  instances: ReadonlySet<string>;
  close(): void;
}

const LOOK_MS = 2_000;

/**
 * Opens the platform's address in every machine with an instance that may call it, and closes it with the last one. Two
 * processes do not get in each other's way: a machine opens the port once.
 */
export function keepPlatformDoors(services: RuntimeServices, apiUrl: string): RepeatHandle {
  const { db, sealer, guests, log } = services;
  const doors = new Map<string, Door>();

  async function open(allocationId: string, instances: ReadonlySet<string>): Promise<void> {
    const platform = servePlatform(apiUrl, (token) => {
      const id = openAppInstanceToken(sealer, token);
      return id !== null && door.instances.has(id);
    });
    const ending = new AbortController();
    const door: Door = { instances, close: () => ending.abort() };
    doors.set(allocationId, door);
    try {
      await guests.enter(
        allocationId,
        async (guest) => {
          await guest.listen(PLATFORM_PORT, (connection) => platform.accept(connection));
          await guest.ended;
        },
        ending.signal,
      );
    } catch (error) {
      log.debug({ err: error, allocation_id: allocationId }, 'the platform cannot be offered in the machine');
    } finally {
      doors.delete(allocationId);
      platform.close();
    }
  }

  const looks = repeat(
    LOOK_MS,
    async () => {
      const wanted = await findCallers(db);
      for (const [allocationId, door] of doors) if (!wanted.has(allocationId)) door.close();
      for (const [allocationId, instances] of wanted) {
        const door = doors.get(allocationId);
        if (door) door.instances = instances;
        else void open(allocationId, instances);
      }
    },
    (error) => log.warn({ err: error }, 'app instances that may call the platform could not be found'),
  );
  return {
    async stop() {
      await looks.stop();
      for (const door of doors.values()) door.close();
    },
  };
}

/** Live instances that may call the platform, by machine. */
async function findCallers(db: Services['db']): Promise<Map<string, Set<string>>> {
  const rows = await db
    .selectFrom('app_instances as i')
    .innerJoin('app_manifest_versions as v', (join) =>
      join.onRef('v.slug', '=', 'i.app_slug').onRef('v.version', '=', 'i.app_version'),
    )
    .select(['i.id', 'i.allocation_id'])
    .where('i.status', 'in', ['starting', 'running', 'stopping'])
    .where(sql<boolean>`cardinality(v.platform_access) > 0`)
    .execute();
  const byMachine = new Map<string, Set<string>>();
  for (const { id, allocation_id } of rows)
    byMachine.set(allocation_id, (byMachine.get(allocation_id) ?? new Set()).add(id));
  return byMachine;
}
