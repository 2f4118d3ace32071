import type { ReactNode } from 'react';

interface BeforeAfterProps {
  before: ReactNode;
  after: ReactNode;
  /** What the change does, and what it leaves alone. */
  effects: ReactNode[];
}

/** A change before it is made: the old value, the new one, and the effect. */
export function BeforeAfter({ before, after, effects }: BeforeAfterProps) {
  return (
    <div className="flex flex-col gap-3">
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-md border border-line bg-line text-ink">
        <Value name="Before">{before}</Value>
        <Value name="After">{after}</Value>
      </dl>
      <ul className="list-disc pl-4">
        {effects.map((effect, index) => (
          <li key={index}>{effect}</li>
        ))}
      </ul>
    </div>
  );
}

function Value({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-0.5 bg-surface px-3 py-2">
      <dt className="text-xs text-ink-faint">{name}</dt>
      <dd className="text-base font-semibold break-words tabular-nums">{children}</dd>
    </div>
  );
}
