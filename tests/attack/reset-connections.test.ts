import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REPLICA_STREAM_PATH, STREAM_PROTOCOL, TUNNEL_PATH } from '@gpuaas/contracts/tunnel';
import { createTestDatabase } from '@gpuaas/control-plane/platform/db/testing';
import { createLogger } from '@gpuaas/control-plane/platform/telemetry/logger';
import { openServices } from '@gpuaas/control-plane/roles/open-services';
import { eventually } from '../harness/eventually.ts';
import { addHost } from '../harness/fleet/fleet-rows.ts';
import { identityFor } from '../harness/fleet/node-port.ts';
import { residentMegabytes } from '../harness/processes/resident-memory.ts';
import { roleProcesses, type RoleProcess } from '../harness/processes/role-processes.ts';
import { breakOff, MANNERS, startCarelessProxy, type Stage } from './break-off.ts';

const ROUNDS = 25;
const TOGETHER = 60;
/** What a process may take for so many connections; a leak of any part of them takes several times that. */
const GROWTH_MEGABYTES = 250;

const stops: (() => unknown)[] = [];
let platform: RoleProcess;
let worker: RoleProcess;
let apiKey: string;
let nodeStages: Stage[];

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gpuaas-resets-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  const database = await createTestDatabase();
  stops.push(() => database.drop());
  const roles = roleProcesses({ DATABASE_URL: database.url, GPUAAS_DATA_DIR: dataDir });
  stops.push(() => roles.stop());
  platform = await roles.start('platform');
  worker = await roles.start('worker');
  // It answers before its people are there.
  const written = await eventually('the demo people', () =>
    readFile(join(dataDir, 'demo.json'), 'utf8').catch(() => null),
  );
  const demo = JSON.parse(written) as { people: { api_key: string }[] };
  apiKey = demo.people[0]!.api_key;
  const log = createLogger('test');
  log.level = 'silent';
  const { services, close } = await openServices({ databaseUrl: database.url, dataDir, log });
  const { nodeId } = await addHost(services.db, 1);
  nodeStages = stagesOfNodePort(await identityFor(services, nodeId));
  await close();
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

const lines = (...text: string[]): string => [...text, '', ''].join('\r\n');
const host = 'Host: 127.0.0.1';

function upgrade(path: string, ...more: string[]): string {
  return lines(
    `GET ${path} HTTP/1.1`,
    host,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    ...more,
  );
}

/** A frame that says it is longer than what follows. */
const HALF_FRAME = Buffer.concat([Buffer.from([0x82, 0xfe, 0x40, 0x00, 1, 2, 3, 4]), randomBytes(100)]);
const BODY = lines(
  'POST /api/v1/allocations HTTP/1.1',
  host,
  'Content-Type: application/json',
  'Content-Length: 9000',
);

function stagesOfPublicPort(): Stage[] {
  const bearer = `Authorization: Bearer ${apiKey}`;
  return [
    { name: 'nothing said', says: '' },
    { name: 'half a request line', says: 'GET /heal' },
    { name: 'half of the headers', says: `GET /healthz HTTP/1.1\r\n${host}\r\nX-Lo` },
    { name: 'half a body', says: `${BODY}{"name":"` },
    { name: 'half a body of somebody known', says: BODY.replace(host, `${host}\r\n${bearer}`) + '{"name":"' },
    { name: 'a body that waits for leave', says: BODY.replace(host, `${host}\r\nExpect: 100-continue`) },
    { name: 'a request', says: lines('GET /api/v1/me HTTP/1.1', host, bearer) },
    { name: 'many requests in a row', says: lines('GET /openapi.json HTTP/1.1', host).repeat(20) },
    { name: 'not HTTP', says: 'HELO there\r\n\r\n' },
    { name: 'CONNECT', says: lines('CONNECT 127.0.0.1:22 HTTP/1.1', host) },
    { name: 'an event stream', says: lines('GET /api/v1/events/stream HTTP/1.1', host, bearer) },
    { name: 'an upgrade to a path that is none', says: upgrade('/anything') },
    { name: 'an upgrade to h2c', says: upgrade('/healthz').replace('websocket', 'h2c') },
    { name: 'a terminal', says: upgrade('/api/v1/terminal') },
    {
      name: 'a terminal for another origin',
      says: upgrade('/api/v1/terminal', 'Origin: http://evil.example'),
    },
    { name: 'a terminal with a wrong key', says: upgrade('/api/v1/terminal').replace(/Key: .*/, 'Key: x') },
    { name: 'half a frame in a terminal', says: upgrade('/api/v1/terminal'), afterwards: HALF_FRAME },
    { name: 'a frame with the upgrade', says: upgrade('/api/v1/terminal') + 'garbage' },
    { name: 'a stream without a token', says: upgrade('/api/v1/streams') },
    { name: 'a page of the provider', says: lines('GET /idp/auth?client_id=x HTTP/1.1', host) },
    {
      name: 'half a form of the provider',
      says: lines(
        'POST /idp/token HTTP/1.1',
        host,
        'Content-Type: application/x-www-form-urlencoded',
        'Content-Length: 500',
      ).concat('grant_type='),
    },
  ];
}

function stagesOfNodePort(identity: { key: string; cert: string }): Stage[] {
  const stranger = { rejectUnauthorized: false };
  const known = { ...stranger, ...identity };
  const replica = upgrade(REPLICA_STREAM_PATH).replace('websocket', STREAM_PROTOCOL);
  // The head of a record that promises 512 bytes of a ClientHello.
  const hello = Buffer.concat([Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]), randomBytes(60)]);
  return [
    { name: 'half a TLS greeting', says: hello },
    { name: 'a broken TLS greeting', says: Buffer.concat([hello, randomBytes(600)]) },
    { name: 'no TLS', says: lines('GET / HTTP/1.1', host) },
    { name: 'nothing said inside TLS', says: '', tls: stranger },
    { name: 'half of the headers', says: 'POST /node/v1/heartbeat HTTP/1.1\r\nX-Lo', tls: known },
    {
      name: 'half a body',
      says: lines(
        'POST /node/v1/enroll HTTP/1.1',
        host,
        'Content-Type: application/json',
        'Content-Length: 900',
      ),
      tls: stranger,
    },
    { name: 'a tunnel without a certificate', says: upgrade(TUNNEL_PATH), tls: stranger },
    { name: 'a tunnel', says: upgrade(TUNNEL_PATH), tls: known },
    { name: 'half a frame in a tunnel', says: upgrade(TUNNEL_PATH), afterwards: HALF_FRAME, tls: known },
    { name: 'a stream for another gateway without a grant', says: replica, tls: stranger },
    { name: 'an upgrade to a path that is none', says: upgrade('/node/v1/x'), tls: known },
  ];
}

const probeStages: Stage[] = [
  { name: 'half of the headers', says: 'GET /readyz HTTP/1.1\r\nX-Lo' },
  { name: 'a probe', says: lines('GET /metrics HTTP/1.1', host) },
  { name: 'an upgrade', says: upgrade('/healthz') },
  { name: 'not HTTP', says: 'HELO\r\n\r\n' },
];

async function attack(port: number, stages: Stage[], rounds: number): Promise<number> {
  const proxy = await startCarelessProxy(port);
  const left = Array.from({ length: rounds }, () =>
    stages.flatMap((stage) => MANNERS.map((manner) => ({ stage, manner }))),
  ).flat();
  const total = left.length;
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) {
      const unread = next.manner === 'answer left unread by a proxy';
      await breakOff(unread ? proxy.port : port, next.stage, next.manner);
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  await proxy.stop();
  return total;
}

async function isAlive({ url, said }: RoleProcess): Promise<void> {
  const answer = await fetch(`${url}/healthz`).catch(() => null);
  expect(answer?.status, `the process ended: ${said().slice(-2_000)}`).toBe(200);
  // What reached the last net of the process was an error without a handler.
  expect(said()).not.toMatch(/^(?:read|write|shutdown) E[A-Z]+$/m);
}

describe('connections that are reset at any stage', () => {
  it('end no process and take none of its memory', { timeout: 300_000 }, async () => {
    const ports: [RoleProcess, number, Stage[]][] = [
      [platform, platform.port, stagesOfPublicPort()],
      [platform, platform.nodePort, nodeStages],
      [worker, Number(new URL(worker.url).port), probeStages],
    ];
    let connections = 0;
    for (const [role, port, stages] of ports) {
      // The first round warms everything up, and names the stage that ends a process.
      for (const stage of stages) {
        await attack(port, [stage], 1);
        await isAlive(role).catch((error: unknown) => {
          throw new Error(`after ${stage.name}: ${String(error)}`);
        });
      }
      await attack(port, stages, 3);
      const before = await residentMegabytes(role.pid);
      connections += await attack(port, stages, ROUNDS);
      await isAlive(role);
      await expect
        .poll(async () => (await residentMegabytes(role.pid)) - before)
        .toBeLessThan(GROWTH_MEGABYTES);
    }
    expect(connections).toBeGreaterThan(2_000);
  });
});
