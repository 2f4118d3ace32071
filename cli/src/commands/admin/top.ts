import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { everyNode } from '../../fleet/find-node.ts';
import { paint, paintState } from '../../paint.ts';
import { print } from '../../print.ts';
import { openSession, type Session } from '../../session.ts';
import { counted, table } from '../../table.ts';
import { isInteractive } from '../../terminal/is-interactive.ts';
import { liveScreen } from '../../terminal/live-screen.ts';

type Schemas = components['schemas'];

const EVERY_MS = 2_000;

export function addFleetTop(admin: Command): void {
  admin
    .command('top')
    .description(
      'hosts, slots and what needs a person, drawn anew until you press q; once without a terminal',
    )
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      if (isInteractive(session) && process.stdout.isTTY)
        return await liveScreen(EVERY_MS, async () => screen(await look(session)));
      const seen = await look(session);
      print(session, { items: seen.nodes, next_page: null }, () => screen(seen).join('\n'));
    });
}

interface Seen {
  nodes: Schemas['Node'][];
  incidents: Schemas['Incident'][];
}

async function look(session: Session): Promise<Seen> {
  const nodes: Schemas['Node'][] = [];
  for await (const node of everyNode(session)) nodes.push(node);
  const { items } = await unwrap(
    session.client.GET('/api/v1/admin/incidents', { params: { query: { state: 'open', limit: 20 } } }),
  );
  return { nodes, incidents: items };
}

function screen({ nodes, incidents }: Seen): string[] {
  const sum = (count: (node: Schemas['Node']) => number): number =>
    nodes.reduce((total, node) => total + count(node), 0);
  const rows = nodes.map(({ hostname, region, mode, posture, connection, slot_counts: slots }) => [
    hostname,
    region,
    mode,
    paintState(posture),
    paintState(connection),
    String(slots.available),
    String(slots.reserved + slots.in_use),
    String(slots.cleaning),
    String(slots.cleanup_blocked),
  ]);
  const titles = ['HOST', 'REGION', 'MODE', 'POSTURE', 'CONNECTION', 'FREE', 'SOLD', 'CLEANING', 'BLOCKED'];
  const free = sum((one) => one.slot_counts.available);
  const sold = sum((one) => one.slot_counts.reserved + one.slot_counts.in_use);
  return [
    paint('bold', `${counted(nodes.length, 'host')}, ${counted(free, 'slot')} free, ${sold} sold`),
    ...incidents.map(({ severity, title, summary }) => `${paintState(severity)}  ${title}: ${summary}`),
    '',
    ...(rows.length === 0
      ? ['No host is enrolled. Try: gpuaas admin enrol']
      : table([titles, ...rows]).split('\n')),
  ];
}
