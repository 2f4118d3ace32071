import type { Blobs } from '../../../platform/blobs/blobs.ts';
import type { MemberSpec } from '../executors/allocation/members.ts';
import type { MemberRow } from '../instances/describe-instance.ts';
import { parameterVariable } from '../instances/parameters.ts';
import type { LoadedInstance } from './load-instance.ts';

/** Output that stays in the machine between two observations. */
const LOG_BYTES_IN_MACHINE = 8 * 1024 * 1024;

/** Environment of a member. Later entries win: a person's over the manifest's, secrets over both. */
export function memberEnvironment(
  { instance, version }: Pick<LoadedInstance, 'instance' | 'version'>,
  member: Pick<MemberRow, 'id' | 'role'>,
  secrets: ReadonlyMap<string, string>,
): Record<string, string> {
  const { env, ports } = version.runtime_profile;
  return {
    ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
    ...Object.fromEntries(instance.env.map(({ name, value }) => [name, value])),
    ...Object.fromEntries(instance.parameters.map(({ name, value }) => [parameterVariable(name), value])),
    ...Object.fromEntries(ports.map(({ name, port }) => [portVariable(name), String(port)])),
    APP_INSTANCE_ID: instance.id,
    APP_MEMBER_ID: member.id,
    APP_MEMBER_ROLE: member.role,
    ...Object.fromEntries(secrets),
  };
}

function portVariable(name: string): string {
  return `PORT_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Content by digest that a member gets. */
export interface PayloadContent {
  digest: string;
  size: number;
}

/** What the runner is asked to start. */
export function memberSpec(
  blobs: Blobs,
  loaded: LoadedInstance,
  member: MemberRow,
  { secrets, content }: { secrets: ReadonlyMap<string, string>; content: PayloadContent | null },
): MemberSpec {
  const { version } = loaded;
  const { artifact_format: kind } = version;
  return {
    memberId: member.id,
    command: version.runtime_profile.command,
    env: memberEnvironment(loaded, member, secrets),
    payload:
      content === null || kind === null ? null : { ...content, kind, open: () => blobs.open(content.digest) },
    ports: member.ports,
    limits: { memoryBytes: null, openFiles: null, logBytes: LOG_BYTES_IN_MACHINE },
  };
}
