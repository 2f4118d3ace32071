import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { PolicyValues } from '@gpuaas/contracts/generated/policies.ts';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { seedDemoPeople, type SeededPerson } from '../tenancy/seed-demo-people.ts';
import { systemClock } from '../../platform/clock.ts';
import { openDatabase, type Database } from '../../platform/db/database.ts';
import { Listener } from '../../platform/db/listener.ts';
import { createTestDatabase } from '../../platform/db/testing.ts';
import { EVENTS_CHANNEL } from '../../platform/events/emit.ts';
import { fixedPolicies } from '../../platform/policy/testing.ts';
import { fixedKeys } from '../../platform/keys/key-file.ts';
import { Sealer } from '../../platform/keys/seal.ts';
import type { Services } from '../../platform/services.ts';
import { createLogger } from '../../platform/telemetry/logger.ts';
import { WEBHOOKS_CHANNEL } from './enqueue-delivery.ts';

export type WebhookServices = Pick<
  Services,
  'db' | 'database' | 'listener' | 'sealer' | 'clock' | 'policies' | 'log'
>;

export interface TestWebhooks {
  services: WebhookServices;
  database: Database;
  people: SeededPerson[];
  close(): Promise<void>;
}

/** A database with the demo tenants, and the services that webhooks need. */
export async function openTestWebhooks(set: Partial<PolicyValues> = {}): Promise<TestWebhooks> {
  const { url, drop } = await createTestDatabase();
  const database = openDatabase(url);
  const listener = new Listener(url, [EVENTS_CHANNEL, WEBHOOKS_CHANNEL]);
  await listener.start();
  const log = createLogger('test');
  log.level = process.env['GPUAAS_TEST_LOG'] ?? 'silent';
  const people = await database.db
    .transaction()
    .execute((tx) => seedDemoPeople(tx, 'https://idp.test', new Map()));
  const policies = fixedPolicies(set);
  const sealer = new Sealer(fixedKeys(randomBytes(32)));
  return {
    services: { db: database.db, database, listener, sealer, clock: systemClock, policies, log },
    database,
    people,
    async close() {
      await listener.close();
      await database.close();
      await drop();
    },
  };
}

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** Its next reply; a function may hang or write any bytes. */
  answer: (status: number) => void;
  server: Server;
  close(): Promise<void>;
}

/** An endpoint of a tenant. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      });
      if (status === 0) return;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end('thanks');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = listeningPort(server);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (next) => {
      status = next;
    },
    server,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
