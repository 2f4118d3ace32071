interface StateListProps {
  states: { name: string; value: string; words: string }[];
}

/** States shown separately, so that a difference between them is visible. */
export function StateList({ states }: StateListProps) {
  return (
    <dl className="flex flex-col gap-3 text-sm">
      {states.map(({ name, value, words }) => (
        <div key={name} className="flex flex-col">
          <dt className="flex items-baseline justify-between gap-2">
            <span className="font-medium">{name}</span>
            <code className="font-mono text-xs text-ink-faint">{value}</code>
          </dt>
          <dd className="text-ink-muted">{words}</dd>
        </div>
      ))}
    </dl>
  );
}
