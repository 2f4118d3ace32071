import { Option, type Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { parseSeconds } from '../seconds.ts';
import { openSession, type Session } from '../session.ts';
import { formatTable } from '../table.ts';

type Sharing = components['schemas']['AppSharing'];
type ShareLink = components['schemas']['AppShareLink'];

interface ShareOptions {
  with?: Sharing;
  link?: number;
  note?: string;
  revoke?: string;
}

const LEVELS: readonly Sharing[] = ['owner', 'project', 'organization', 'public'];
const LINKS = '/api/v1/app-instances/{app_instance_id}/share-links';

export function addShareApp(apps: Command): void {
  apps
    .command('share')
    .description('who may open an app; change it, make a link or revoke one')
    .argument('<instance>', 'id')
    .addOption(new Option('--with <level>', 'who may open it').choices(LEVELS))
    .option('--link <seconds>', 'make a link that opens it for so long without signing in', parseSeconds)
    .option('--note <text>', 'whom the link is for')
    .option('--revoke <link>', 'id of a link')
    .action(async (id: string, options: ShareOptions, command: Command) => {
      const session = openSession(command);
      if (options.with) await setSharing(session, id, options.with);
      if (options.revoke) await revokeLink(session, id, options.revoke);
      const url = options.link === undefined ? null : await makeLink(session, id, options.link, options.note);
      const sharing = await readSharing(session, id);
      print(session, { ...sharing, ...(url === null ? {} : { url }) }, () =>
        [
          ...(url === null ? [] : [url, 'Copy it now: it is not shown again.', '']),
          ...describe(sharing),
        ].join('\n'),
      );
    });
}

function at(app_instance_id: string) {
  return { params: { path: { app_instance_id } } };
}

async function setSharing({ client }: Session, id: string, sharing: Sharing): Promise<void> {
  await unwrap(
    client.PUT('/api/v1/app-instances/{app_instance_id}/address', { ...at(id), body: { sharing } }),
  );
}

async function makeLink(
  { client }: Session,
  id: string,
  seconds: number,
  note: string | undefined,
): Promise<string | null> {
  const body = { expires_in_seconds: seconds, ...(note === undefined ? {} : { note }) };
  const { url } = await unwrap(client.POST(LINKS, { ...at(id), body }));
  return url;
}

async function revokeLink(
  { client }: Session,
  app_instance_id: string,
  share_link_id: string,
): Promise<void> {
  const path = { app_instance_id, share_link_id };
  await unwrap(client.DELETE(`${LINKS}/{share_link_id}`, { params: { path } }));
}

async function readSharing(
  { client }: Session,
  id: string,
): Promise<{ sharing: Sharing; links: readonly ShareLink[] }> {
  const { sharing } = await unwrap(client.GET('/api/v1/app-instances/{app_instance_id}/address', at(id)));
  const { params } = at(id);
  const { items } = await unwrap(client.GET(LINKS, { params: { ...params, query: { limit: 200 } } }));
  return { sharing, links: items };
}

function describe({ sharing, links }: { sharing: Sharing; links: readonly ShareLink[] }): string[] {
  if (links.length === 0) return [`Shared with: ${sharing}. No links.`];
  const rows = links.map((link) => [link.id, link.expires_at, link.note]);
  return [`Shared with: ${sharing}`, formatTable([['LINK', 'EXPIRES', 'NOTE'], ...rows])];
}
