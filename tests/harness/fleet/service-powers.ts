import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { unitFile } from '@gpuaas/node-agent/commands/service-files';

const LIMIT = fileURLToPath(new URL('limit-calls.pl', import.meta.url));
const FAMILIES: Record<string, number> = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10, AF_NETLINK: 16 };
/** System calls that systemd forbids beside the filter, if the setting is on. */
const FORBIDDEN_BY: Record<string, readonly string[]> = {
  ProtectClock: ['@clock'],
  ProtectHostname: ['sethostname', 'setdomainname'],
  ProtectKernelLogs: ['syslog'],
  ProtectKernelModules: ['@module'],
  RestrictNamespaces: ['unshare', 'setns'],
};

/** Words before a command that leave it the powers of the installed service: capabilities, system calls, sockets. */
export function withServiceCapabilities(): string[] {
  const settings = settingsOf(unitFile(['/usr/bin/true']));
  const on = (name: string): boolean => settings.get(name) === 'yes';
  const capabilities = words(settings.get('CapabilityBoundingSet')).map(
    (name) => `+${name.replace(/^CAP_/, '').toLowerCase()}`,
  );
  if (!on('RestrictSUIDSGID')) throw new Error('the service may make programs that run as their owner');
  const filter = settings.get('SystemCallFilter') ?? '';
  if (!filter.startsWith('~')) throw new Error('the filter of the service is no list of what is denied');
  const forbidden = Object.entries(FORBIDDEN_BY).flatMap(([name, calls]) => (on(name) ? calls : []));
  const calls = numbersOf([...words(filter.slice(1)), ...forbidden]);
  const families = words(settings.get('RestrictAddressFamilies')).map((name) => FAMILIES[name]!);
  return [
    'setpriv',
    `--bounding-set=-all,${capabilities.join(',')}`,
    '--inh-caps=-all',
    ...(on('NoNewPrivileges') ? ['--no-new-privs'] : []),
    '--',
    'perl',
    LIMIT,
    calls.join(','),
    families.join(','),
    settings.get('UMask') ?? '0022',
  ];
}

export function settingsOf(unit: string): Map<string, string> {
  return new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function words(text = ''): string[] {
  return text.split(' ').filter(Boolean);
}

/** Calls and systemd's own groups of them, as this processor numbers them. */
function numbersOf(names: readonly string[]): number[] {
  const calls = new Set(names.flatMap((name) => (name.startsWith('@') ? callsOf(name) : [name])));
  const numbers = [...calls].map((call) =>
    Number(execFileSync('scmp_sys_resolver', [call], { encoding: 'utf8' })),
  );
  // Calls of other processors have no number here.
  return numbers.filter((number) => number >= 0).toSorted((a, b) => a - b);
}

function callsOf(group: string): string[] {
  const output = execFileSync('systemd-analyze', ['syscall-filter', group], { encoding: 'utf8' });
  const lines = output.split('\n').map((line) => line.trim());
  const members = lines.filter((line) => line !== '' && line !== group && !line.startsWith('#'));
  return members.flatMap((member) => (member.startsWith('@') ? callsOf(member) : [member]));
}
