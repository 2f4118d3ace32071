import { unwrap } from '@gpuaas/sdk/problem';
import type { Session } from '../session.ts';
import { readIfExists, replaceFile, sshFile } from './ssh-files.ts';

/** OpenSSH settings of one machine. */
export interface SshLogin {
  /** Name of the machine in `known_hosts` and on the command line; not a network name. */
  alias: string;
  options: [name: string, value: string][];
  /** Keys that the machine accepts. */
  fingerprints: string[];
}

/** Pins the key that the host reported when it built the machine; `ssh` accepts no other. */
export async function prepareLogin(
  { client, context }: Pick<Session, 'client' | 'context'>,
  allocationId: string,
): Promise<SshLogin> {
  const connection = await unwrap(
    client.GET('/api/v1/allocations/{allocation_id}/connection', {
      params: { path: { allocation_id: allocationId } },
    }),
  );
  if (!connection.host_public_key)
    throw new Error("The machine's host key is unknown; use gpuaas terminal instead.");
  const alias = `gpuaas-${allocationId}`;
  await pin(alias, connection.host_public_key);
  return {
    alias,
    fingerprints: connection.ssh_key_fingerprints,
    options: [
      ['User', connection.username],
      ['HostKeyAlias', alias],
      ['UserKnownHostsFile', quoted(sshFile('known_hosts'))],
      ['GlobalKnownHostsFile', '/dev/null'],
      ['StrictHostKeyChecking', 'yes'],
      ['CheckHostIP', 'no'],
      ['UpdateHostKeys', 'no'],
      ['ProxyCommand', proxyCommand(context, allocationId)],
    ],
  };
}

/** Refuses before `ssh` would: a machine without keys lets nobody in. */
export function requireKey({ fingerprints }: SshLogin): void {
  if (fingerprints.length > 0) return;
  throw new Error(
    'SSH is not possible: no key was chosen when this machine was launched. Use gpuaas terminal, or add a key ' +
      '(gpuaas ssh-keys create <file>) and launch again.',
  );
}

/** After `ssh` failed: which keys would have worked. */
export function explainFailure({ fingerprints }: SshLogin): void {
  console.error(
    `gpuaas: if your key was refused: this machine accepts ${fingerprints.join(', ')}. ` +
      'Pass its private key with -i <file>, or use gpuaas terminal, which needs none.',
  );
}

async function pin(alias: string, key: string): Promise<void> {
  const file = sshFile('known_hosts');
  const others = (await readIfExists(file))
    .split('\n')
    .filter((line) => line && !line.startsWith(`${alias} `));
  await replaceFile(file, `${[...others, `${alias} ${key}`].toSorted().join('\n')}\n`);
}

/** This program again, as the pipe that `ssh` uses. It gets its credentials in the same way. */
function proxyCommand({ name, url }: Session['context'], allocationId: string): string {
  const server = name === null ? ['--url', url] : ['--context', name];
  const words = [process.execPath, process.argv[1]!, ...server, 'ssh', '--stdio', allocationId];
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`.replaceAll('%', '%%')).join(' ');
}

function quoted(path: string): string {
  return `"${path.replaceAll('%', '%%')}"`;
}
