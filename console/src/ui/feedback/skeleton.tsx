interface SkeletonProps {
  /** What is being loaded, for screen readers. */
  label: string;
  rows?: number;
}

export function Skeleton({ label, rows = 4 }: SkeletonProps) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-3 p-4">
      {Array.from({ length: rows }, (_, row) => (
        <div
          key={row}
          aria-hidden
          className="h-5 animate-breathe rounded bg-hover"
          style={{ width: `${92 - row * 11}%` }}
        />
      ))}
    </div>
  );
}
