import type { ReactNode } from 'react';
import { CopyButton } from '../actions/copy-button.tsx';

/** A list of named facts; on wide screens the names are in a separate column. */
export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid gap-x-4 gap-y-2.5 text-sm sm:grid-cols-[minmax(6rem,max-content)_minmax(0,1fr)]">
      {children}
    </dl>
  );
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
      <dt className="flex min-h-6 items-center self-start text-ink-faint max-sm:-mb-3">{name}</dt>
      <dd className="flex min-h-6 min-w-0 items-center gap-1.5">
        <span className="min-w-0 wrap-anywhere">{children}</span>
        {copy && <CopyButton value={copy} label={name.toLowerCase()} />}
      </dd>
    </>
  );
}

/** Addresses and serials. */
export function Code({ children }: { children: ReactNode }) {
  return <code className="font-mono text-[0.93em] wrap-anywhere">{children}</code>;
}

/** A long name on one line, truncated; complete on hover and for the copy button. */
export function TruncatedName({ children }: { children: string }) {
  return (
    <code title={children} className="block truncate font-mono text-[0.93em]">
      {children}
    </code>
  );
}
