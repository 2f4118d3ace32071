import type { ReactNode } from 'react';

/** The frame of a list without a heading. */
export function Surface({ children }: { children: ReactNode }) {
  return <div className="min-w-0 overflow-hidden rounded-lg border border-line bg-surface">{children}</div>;
}
