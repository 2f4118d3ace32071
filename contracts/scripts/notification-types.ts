import { readFileSync } from 'node:fs';
import { parse as parseYaml } from 'yaml';

interface Words {
  title: string;
  body: string[];
  link?: string;
}

interface Notifications {
  kinds: Record<string, string>;
  messages: Record<string, { kind: string; severity: string; link: string; to: Record<string, Words> }>;
}

const AUDIENCES = ['money', 'spenders', 'owner', 'counted', 'keepers', 'reservers', 'operators', 'affected'];
const SEVERITIES = ['info', 'warning', 'critical'];

/** Notification types and their texts, as data. */
export function notificationTypes(file: string, header: string): string {
  const { kinds, messages }: Notifications = parseYaml(readFileSync(file, 'utf8'));
  for (const [event, { kind, severity, to }] of Object.entries(messages)) {
    const unknown = Object.keys(to).find((audience) => !AUDIENCES.includes(audience));
    if (!Object.hasOwn(kinds, kind)) throw new Error(`notification of ${event}: there is no kind ${kind}`);
    if (!SEVERITIES.includes(severity)) throw new Error(`notification of ${event}: severity ${severity}`);
    if (unknown) throw new Error(`notification of ${event}: there is no audience ${unknown}`);
  }
  const union = (names: string[]): string => names.map((name) => JSON.stringify(name)).join(' | ');
  return [
    header,
    `export const notificationKinds = ${JSON.stringify(kinds, null, 2)} as const;\n\n`,
    'export type NotificationKind = keyof typeof notificationKinds;\n\n',
    `export type NotificationAudience = ${union(AUDIENCES)};\n\n`,
    'export interface NotificationWords {\n  title: string;\n  body: readonly string[];\n  link?: string;\n}\n\n',
    'export interface NotificationMessage {\n  kind: NotificationKind;\n',
    `  severity: ${union(SEVERITIES)};\n  link: string;\n`,
    '  to: Partial<Record<NotificationAudience, NotificationWords>>;\n}\n\n',
    `export const notificationMessages = ${JSON.stringify(messages, null, 2)} as const satisfies Record<\n`,
    '  string,\n  NotificationMessage\n>;\n\n',
    'export type NotifiedEvent = keyof typeof notificationMessages;\n',
  ].join('');
}
