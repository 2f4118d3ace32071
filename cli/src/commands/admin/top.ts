import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { listAllNodes } from '../../fleet/find-node.ts';
import { colorize, colorizeState } from '../../colorize.ts';
import { print } from '../../print.ts';
import { openSession, type Session } from '../../session.ts';
import { pluralize, formatTable } from '../../table.ts';
import { isInteractive } from '../../terminal/is-interactive.ts';
import { runLiveScreen } from '../../terminal/live-screen.ts';

type Schemas = components['schemas'];

const EVERY_MS = 2_000;

export function addFleetTop(admin: Command): void {
  admin
    .command('top')
    .description('hosts, slots and open incidents; refreshes until you press q')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      if (isInteractive(session) && process.stdout.isTTY)
        return await runLiveScreen(EVERY_MS, async () => screen(await loadSnapshot(session)));
      const snapshot = await loadSnapshot(session);
      print(session, { items: snapshot.nodes, next_page: null }, () => screen(snapshot).join('\n'));
    });
}

interface Snapshot {
  nodes: Schemas['Node'][];
  incidents: Schemas['Incident'][];
}

async function loadSnapshot(session: Session): Promise<Snapshot> {
  const nodes: Schemas['Node'][] = [];
  for await (const node of listAllNodes(session)) nodes.push(node);
  const { items } = await unwrap(
    session.client.GET('/api/v1/admin/incidents', { params: { query: { state: 'open', limit: 20 } } }),
  );
  return { nodes, incidents: items };
}

function screen({ nodes, incidents }: Snapshot): string[] {
  const sum = (count: (node: Schemas['Node']) => number): number =>
    nodes.reduce((total, node) => total + count(node), 0);
  const rows = nodes.map(({ hostname, region, mode, posture, connection, slot_counts: slots }) => [
    hostname,
    region,
    mode ?? '-',
    colorizeState(posture),
    colorizeState(connection),
    String(slots.available),
    String(slots.reserved + slots.in_use),
    String(slots.cleaning),
    String(slots.cleanup_blocked),
  ]);
  const titles = ['HOST', 'REGION', 'MODE', 'POSTURE', 'CONNECTION', 'FREE', 'SOLD', 'CLEANING', 'BLOCKED'];
  const free = sum((one) => one.slot_counts.available);
  const sold = sum((one) => one.slot_counts.reserved + one.slot_counts.in_use);
  return [
    colorize('bold', `${pluralize(nodes.length, 'host')}, ${pluralize(free, 'slot')} free, ${sold} sold`),
    ...incidents.map(({ severity, title, summary }) => `${colorizeState(severity)}  ${title}: ${summary}`),
    '',
    ...(rows.length === 0
      ? ['No hosts yet. Try: gpuaas admin enrol']
      : formatTable([titles, ...rows]).split('\n')),
  ];
}
