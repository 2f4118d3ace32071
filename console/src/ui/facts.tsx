import type { ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';

/** A list of named facts; on wide screens the names stand in a column of their own. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid gap-x-6 gap-y-2.5 text-sm sm:grid-cols-[minmax(7rem,auto)_1fr]">{children}</dl>;
}

interface FactProps {
  name: string;
  children: ReactNode;
  /** The text a copy button beside the fact puts on the clipboard. */
  copy?: string | null;
}

export function Fact({ name, children, copy }: FactProps) {
  return (
    <>
      <dt className="text-ink-faint max-sm:-mb-2">{name}</dt>
      <dd className="flex min-h-6 min-w-0 items-center gap-1.5 break-words">
        <span className="min-w-0 break-words">{children}</span>
        {copy && <CopyButton value={copy} label={name.toLowerCase()} />}
      </dd>
    </>
  );
}

/** Addresses, serials and ids. */
export function Code({ children }: { children: ReactNode }) {
  return <code className="font-mono text-[0.93em] break-all">{children}</code>;
}
