import type { Services } from '../services.ts';
import type { Bus } from './consumer.ts';
import { EmbeddedBus } from './embedded-bus.ts';
import { assertLogIsReadable } from './event-log.ts';
import { NatsBus } from './nats-bus.ts';

/** The bus of this installation: JetStream if configured, else the log in Postgres. */
export async function openBus(
  { db, listener, log, policies }: Pick<Services, 'db' | 'listener' | 'log' | 'policies'>,
  natsUrl: string | null,
): Promise<Bus> {
  await assertLogIsReadable(db);
  const parkAfter = (): number => policies.get('events.park_after_failures');
  return natsUrl ? new NatsBus(db, log, natsUrl, parkAfter) : new EmbeddedBus(db, listener, log, parkAfter);
}
