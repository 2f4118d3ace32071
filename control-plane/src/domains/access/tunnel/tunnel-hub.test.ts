import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createLogger } from '../../../platform/telemetry/logger.ts';
import { StreamMetrics } from '../../../platform/telemetry/stream-metrics.ts';
import { TunnelHub } from './tunnel-hub.ts';

it('an agent that is gone before its tunnel stands brings nothing down', async () => {
  const log = createLogger('test');
  log.level = 'silent';
  const hub = new TunnelHub(log, new StreamMetrics(new Registry()));
  const server = createServer().listen(0, '127.0.0.1');
  server.on('upgrade', (request, socket, head) =>
    hub.accept({ nodeId: 'n', certificate: null }, request, socket, head),
  );
  await once(server, 'listening');
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', note);
  try {
    const { port } = server.address() as AddressInfo;
    // Disconnects immediately, then a little later each time: between the greeting and the first frame.
    for (let round = 0; round < 40; round += 1) {
      const agent = new WebSocket(`ws://127.0.0.1:${port}/node/v1/tunnel`);
      await once(agent, 'open');
      if (round % 8 > 0) await pause(round % 8);
      agent.terminate();
      await once(agent, 'close');
    }
    await pause(50);
    expect(uncaught).toEqual([]);
    expect(hub.nodeIds()).toEqual([]);
  } finally {
    process.off('uncaughtException', note);
    hub.close();
    server.closeAllConnections();
    server.close();
  }
});
