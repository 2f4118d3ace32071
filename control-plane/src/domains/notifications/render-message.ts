import type { NotificationWords } from '@gpuaas/contracts/generated/notifications.ts';

export interface Rendered {
  title: string;
  /** Paragraphs of plain text. */
  body: string;
  /** A path of the console. */
  link: string;
}

export type Facts = Readonly<Record<string, string>>;

/** Longer than any of our texts with the longest names; tenants' own texts may be longer. */
const TITLE_LENGTH = 200;
const BODY_LENGTH = 2000;

/** Fills the facts of an event into its text. */
export function renderMessage(words: NotificationWords & { link: string }, facts: Facts): Rendered {
  return {
    title: shortened(oneLine(fill(words.title, facts)), TITLE_LENGTH),
    body: shortened(words.body.map((line) => oneLine(fill(line, facts))).join('\n\n'), BODY_LENGTH),
    link: words.link.replaceAll(PLACEHOLDER, (_, name: string) => encodeURIComponent(facts[name] ?? '')),
  };
}

const PLACEHOLDER = /\{([a-z_]+)\}/g;

/** An event of an older release may lack a fact; the rest of the message is still useful. */
function fill(template: string, facts: Facts): string {
  return template.replaceAll(PLACEHOLDER, (_, name: string) => facts[name] ?? '…');
}

/** Tenants choose names: a line break in one must not create a paragraph or an e-mail header. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .replaceAll(/([.!?])\.(?=\s|$)/g, '$1')
    .trim();
}

function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
