import type { Command } from 'commander';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';

export interface Session {
  client: GpuaasClient;
  json: boolean;
}

/** The client and the options that stand before the command. */
export function openSession(command: Command): Session {
  const options = command.optsWithGlobals<{ url: string; apiKey?: string; json?: boolean }>();
  const apiKey = options.apiKey ?? process.env['GPUAAS_API_KEY'];
  const client = createGpuaasClient({
    baseUrl: options.url.replace(/\/$/, ''),
    ...(apiKey ? { apiKey } : {}),
  });
  return { client, json: options.json ?? false };
}

/** The project to act in: the asked one, or the only one the caller has. */
export async function chooseProject(client: GpuaasClient, asked: string | undefined): Promise<string> {
  if (asked) return asked;
  const me = await unwrap(client.GET('/api/v1/me'));
  const projects = me.organizations.flatMap((organization) => organization.projects);
  const [only, ...others] = projects;
  if (!only) throw new Error('You have no project; ask an administrator for one.');
  if (others.length > 0) {
    throw new Error(
      `You have several projects; pass --project with one of: ${projects.map((p) => p.id).join(', ')}`,
    );
  }
  return only.id;
}
