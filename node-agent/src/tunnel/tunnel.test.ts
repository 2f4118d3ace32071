import { randomBytes, randomUUID, createHash, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable, type Duplex } from 'node:stream';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import { encodeGrant, GRANT_HEADER, REASON_HEADER } from '@gpuaas/contracts/tunnel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuestUnreachableError, type Host } from '../host/host.ts';
import { createCertificateRequest } from '../identity/certificate-request.ts';
import { identityFrom } from '../identity/enrol.ts';
import { startFakeControlPlane, type FakeControlPlane } from '../testing/fake-control-plane.ts';
import { silentLog } from '../testing/simulated-host.ts';
import { GuestStreams } from './guest-streams.ts';
import { ALWAYS_CONNECTED } from '../link.ts';
import { maintainTunnels } from './tunnel.ts';

const allocationId = randomUUID();
const streams = new GuestStreams();
const stop = new AbortController();
let platform: FakeControlPlane;
let guest: Server;
let guestSockets: Socket[] = [];
let tunnel: Promise<void>;

beforeAll(async () => {
  platform = await startFakeControlPlane();
  guest = createServer((socket) => {
    guestSockets.push(socket);
    socket.on('error', () => undefined);
  });
  guest.listen(0, '127.0.0.1');
  await once(guest, 'listening');
  const request = await createCertificateRequest();
  const identity = identityFrom(
    {
      node_id: platform.nodeId,
      certificate_pem: await platform.authority.issueNode(request.csr_pem, platform.nodeId, 60_000),
      ca_bundle_pem: platform.authority.caPem,
      signing_public_key_pem: platform.authority.signing.publicKeyPem,
    },
    request.private_key_pem,
  );
  const host = {
    openGuestPort,
    openConsoleLog: () => Promise.resolve(Readable.from([Buffer.from('booted\n')])),
  } as unknown as Host;
  tunnel = maintainTunnels(
    new URL(platform.url),
    { host, streams, identity: () => identity, now: () => new Date(), log: silentLog },
    ALWAYS_CONNECTED,
    stop.signal,
  );
  await platform.gateway();
});

afterAll(async () => {
  stop.abort();
  await tunnel;
  guest.close();
  await platform.close();
});

async function openGuestPort(id: string): Promise<Duplex> {
  if (id !== allocationId) throw new GuestUnreachableError('none');
  const socket = connect((guest.address() as AddressInfo).port, '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

function grantHeader(change: Partial<AccessGrant> = {}, key = platform.authority.signing.privateKey): string {
  const grant: AccessGrant = {
    grant_id: randomUUID(),
    node_id: platform.nodeId,
    allocation_id: allocationId,
    user_id: randomUUID(),
    resource: 'port',
    port: 22,
    expires_at: new Date(Date.now() + 60_000).toISOString(),
    ...change,
  };
  return encodeGrant({ grant, signature: signCanonical(grant, key) });
}

async function open(
  header: string,
  authority = 'guest:22',
): Promise<{ stream: ClientHttp2Stream; status: unknown; reason: unknown }> {
  const gateway = await platform.gateway();
  const stream = gateway.request({
    ':method': 'CONNECT',
    ':authority': authority,
    [GRANT_HEADER]: header,
  });
  stream.on('error', () => undefined);
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return { stream, status: headers[':status'], reason: headers[REASON_HEADER] };
}

async function nextGuestSocket(): Promise<Socket> {
  await expect.poll(() => guestSockets.length).toBe(1);
  const [socket] = guestSockets.splice(0);
  if (!socket) throw new Error('no socket');
  return socket;
}

describe('a stream under a valid grant', () => {
  it('carries bytes both ways, unharmed', async () => {
    const { stream, status } = await open(grantHeader());
    expect(status).toBe(200);
    const socket = await nextGuestSocket();
    socket.pipe(socket);
    const sent = randomBytes(8 * 1024 * 1024);
    const hash = createHash('sha256');
    let received = 0;
    stream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      hash.update(chunk);
    });
    stream.end(sent);
    await once(stream, 'close');
    expect(received).toBe(sent.length);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('applies back-pressure to the guest while the gateway does not read', async () => {
    const { stream } = await open(grantHeader());
    const socket = await nextGuestSocket();
    const chunk = Buffer.alloc(64 * 1024);
    let written = 0;
    while (written < 64 * 1024 * 1024) {
      written += chunk.length;
      if (socket.write(chunk)) continue;
      const drained = await Promise.race([
        once(socket, 'drain').then(() => true),
        wait(500).then(() => false),
      ]);
      if (!drained) break;
    }
    expect(written).toBeLessThan(48 * 1024 * 1024);
    const other = await open(grantHeader());
    const otherSocket = await nextGuestSocket();
    otherSocket.write('not held up');
    const [data] = (await once(other.stream, 'data')) as [Buffer];
    expect(data.toString()).toBe('not held up');
    socket.resume();
    stream.destroy();
    other.stream.destroy();
    await expect.poll(() => socket.destroyed).toBe(true);
  });

  it('ends with the guest’s connection', async () => {
    const { stream } = await open(grantHeader());
    (await nextGuestSocket()).destroy();
    stream.resume();
    await once(stream, 'close');
  });
});

describe('a stream is refused', () => {
  const cases: [string, () => string, number, string][] = [
    ['without a readable grant', () => 'nonsense', 403, 'grant_invalid'],
    [
      'with another signer',
      () => grantHeader({}, generateKeyPairSync('ed25519').privateKey),
      403,
      'grant_invalid',
    ],
    ['for another node', () => grantHeader({ node_id: randomUUID() }), 403, 'grant_for_another_node'],
    [
      'after expiry',
      () => grantHeader({ expires_at: new Date(Date.now() - 1).toISOString() }),
      403,
      'grant_expired',
    ],
    ['to a port the grant does not name', () => grantHeader({ port: 2375 }), 403, 'address_not_granted'],
    [
      'to the console log under a grant for a port',
      () => grantHeader({ resource: 'console_log' }),
      403,
      'grant_invalid',
    ],
    [
      'with a grant that would live for long',
      () => grantHeader({ expires_at: new Date(Date.now() + 3_600_000).toISOString() }),
      403,
      'grant_too_long',
    ],
    [
      'to an allocation that is not here',
      () => grantHeader({ allocation_id: randomUUID() }),
      404,
      'guest_unreachable',
    ],
  ];
  it.each(cases)('%s', async (_name, header, status, reason) => {
    const answer = await open(header());
    expect([answer.status, answer.reason]).toEqual([status, reason]);
  });
});

it('a grant opens one stream, and no address but its own', async () => {
  const header = grantHeader();
  for (const authority of ['127.0.0.1:22', '10.0.0.1:22', `${allocationId}:22`, 'guest:23', 'console-log:0'])
    expect((await open(header, authority)).reason).toBe('address_not_granted');
  const { stream, status } = await open(header);
  expect(status).toBe(200);
  expect((await open(header)).reason).toBe('grant_used');
  stream.destroy();
  (await nextGuestSocket()).destroy();
});

it('shows the console log, from the host alone', async () => {
  const header = grantHeader({ resource: 'console_log', port: null });
  const { stream, status } = await open(header, 'console-log:0');
  expect(status).toBe(200);
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(stream, 'close');
  expect(text).toBe('booted\n');
});

it('carries a hundred concurrent streams, each complete and separate', async () => {
  const opened = await Promise.all(Array.from({ length: 100 }, () => open(grantHeader())));
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200));
  await expect.poll(() => guestSockets.length).toBe(100);
  for (const socket of guestSockets.splice(0)) socket.pipe(socket);
  await Promise.all(
    opened.map(async ({ stream }) => {
      const sent = randomBytes(64 * 1024);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.end(sent);
      await once(stream, 'close');
      expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    }),
  );
  expect(streams.count(allocationId, 'terminals')).toBe(0);
});

it('limits the streams of an allocation, including those being dialled', async () => {
  const opened = await Promise.all(Array.from({ length: 260 }, () => open(grantHeader())));
  const refused = opened.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(4);
  await expect.poll(() => guestSockets.length).toBe(256);
  for (const { stream } of opened) stream.destroy();
  await expect.poll(() => streams.count(allocationId, 'terminals')).toBe(0);
  guestSockets.splice(0).forEach((socket) => socket.destroy());
});

it('reconnects after the connection is lost', async () => {
  const before = await platform.gateway();
  before.destroy();
  await expect.poll(async () => (await platform.gateway()) !== before).toBe(true);
  const { stream, status } = await open(grantHeader());
  expect(status).toBe(200);
  (await nextGuestSocket()).destroy();
  stream.destroy();
});

it('a release cuts open streams and refuses new ones', async () => {
  const { stream } = await open(grantHeader());
  stream.resume();
  const socket = await nextGuestSocket();
  const closed = Promise.all([once(stream, 'close'), once(socket, 'close')]);
  socket.resume();
  streams.revoke(allocationId);
  await closed;
  expect((await open(grantHeader())).reason).toBe('allocation_released');
});

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
