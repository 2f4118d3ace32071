import type { Services } from '../services.ts';
import type { Bus } from './consumer.ts';
import { EmbeddedBus } from './embedded-bus.ts';
import { assertLogIsReadable } from './event-log.ts';
import { NatsBus } from './nats-bus.ts';

/** The bus of this installation: JetStream when there is one, the log in Postgres otherwise. */
export async function openBus(
  { db, listener, log }: Pick<Services, 'db' | 'listener' | 'log'>,
  natsUrl: string | null,
): Promise<Bus> {
  await assertLogIsReadable(db);
  return natsUrl ? new NatsBus(db, log, natsUrl) : new EmbeddedBus(db, listener, log);
}
