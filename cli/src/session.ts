import type { Command } from 'commander';
import { createGpuaasClient, type GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { readMe } from '@gpuaas/sdk/me';
import { chooseContext, type ContextOptions, type ChosenContext } from './contexts/choose-context.ts';
import { outputOptions, type Output } from './print.ts';
import { accessToken } from './sign-in/access-token.ts';
import { UsageError } from './usage-error.ts';
import { warnOfVersionSkew } from './version-skew.ts';

export interface Session extends Output {
  client: GpuaasClient;
  /** Address of the platform, without a slash at its end. */
  url: string;
  context: ChosenContext;
  /** The client's credential, for requests outside the client. */
  credential: { apiKey: string } | { accessToken: (rejected?: string) => Promise<string | null> };
}

interface Globals extends ContextOptions {
  apiKey?: string;
}

/** The client and the options that every command has. An API key wins over a sign-in. */
export function openSession(command: Command): Session {
  const options = command.optsWithGlobals<Globals>();
  const context = chooseContext(options);
  const apiKey = options.apiKey ?? (process.env['GPUAAS_API_KEY'] || undefined);
  const credential = apiKey
    ? { apiKey }
    : { accessToken: (rejected?: string) => accessToken(context.signIn, rejected) };
  const client = createGpuaasClient({ baseUrl: context.url, ...credential });
  client.use({ onResponse: ({ response }) => warnOfVersionSkew(response) });
  return {
    client,
    context,
    credential,
    url: context.url,
    ...outputOptions(command),
  };
}

type Organization = components['schemas']['Me']['organizations'][number];

/** The project to act in: the requested one, that of the context, or the caller's only one. */
export async function chooseProject(
  { client, context }: Pick<Session, 'client' | 'context'>,
  asked: string | undefined,
): Promise<string> {
  const wanted = asked ?? context.project;
  if (wanted && isId(wanted)) return wanted;
  const { organizations } = await readMe(client);
  const inside = organizations.filter((one) => !context.organization || isNamed(one, context.organization));
  const projects = (wanted ? organizations : inside).flatMap((organization) => organization.projects);
  return chooseOne('project', projects, wanted, 'You have no project; ask an admin to add you to one.');
}

/** The organization to act in: the requested one, that of the context, or the caller's only one. */
export async function chooseOrganization(
  { client, context }: Pick<Session, 'client' | 'context'>,
  asked: string | undefined,
): Promise<string> {
  const wanted = asked ?? context.organization;
  if (wanted && isId(wanted)) return wanted;
  const { organizations } = await readMe(client);
  return chooseOne(
    'organization',
    organizations,
    wanted,
    'You are not in an organization; ask for an invitation.',
  );
}

function chooseOne(
  noun: 'project' | 'organization',
  all: Pick<Organization, 'id' | 'name'>[],
  wanted: string | undefined,
  none: string,
): string {
  const fitting = wanted ? all.filter((one) => isNamed(one, wanted)) : all;
  const [first, ...others] = fitting;
  if (first && others.length === 0) return first.id;
  const choices = (fitting.length > 0 ? fitting : all).map(({ id, name }) => `\n  ${id}  ${name}`).join('');
  if (!first && !wanted) throw new Error(none);
  throw new UsageError(
    first
      ? `You have several; choose one with --${noun}:${choices}`
      : `No ${noun} named ${wanted}; available:${choices}`,
  );
}

function isNamed({ id, name }: Pick<Organization, 'id' | 'name'>, wanted: string): boolean {
  return id === wanted || name === wanted;
}

function isId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
