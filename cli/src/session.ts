import type { Command } from 'commander';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import { accessToken } from './sign-in/access-token.ts';

export interface Session {
  client: GpuaasClient;
  json: boolean;
  /** Address of the platform, without a slash at its end. */
  url: string;
}

/** The client and the options that stand before the command. An API key wins over a sign-in. */
export function openSession(command: Command): Session {
  const options = command.optsWithGlobals<{ url: string; apiKey?: string; json?: boolean }>();
  const apiKey = options.apiKey ?? process.env['GPUAAS_API_KEY'];
  const url = options.url.replace(/\/$/, '');
  const credential = apiKey ? { apiKey } : { accessToken: () => accessToken(url) };
  return { client: createGpuaasClient({ baseUrl: url, ...credential }), json: options.json ?? false, url };
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

/** The organization to act in, in the same way. */
export async function chooseOrganization(client: GpuaasClient, asked: string | undefined): Promise<string> {
  if (asked) return asked;
  const { organizations } = await unwrap(client.GET('/api/v1/me'));
  const [only, ...others] = organizations;
  if (!only) throw new Error('You belong to no organization; ask for an invitation.');
  if (others.length > 0) {
    throw new Error(
      `You belong to several organizations; pass --organization with one of: ${organizations.map((o) => o.id).join(', ')}`,
    );
  }
  return only.id;
}
