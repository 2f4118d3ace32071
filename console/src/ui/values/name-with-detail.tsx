import type { ReactNode } from 'react';

/** The name of a row, and below it a detail in small letters. */
export function NameWithDetail({ name, children }: { name: ReactNode; children: ReactNode }) {
  return (
    <span className="flex flex-col">
      <span className="font-medium">{name}</span>
      <span className="text-xs text-ink-faint">{children}</span>
    </span>
  );
}
