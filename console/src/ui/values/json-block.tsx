/** Evidence as the platform stores it. */
export function JsonBlock({ label, value }: { label: string; value: unknown }) {
  return (
    <pre
      aria-label={label}
      role="region"
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-xs leading-relaxed"
    >
      {JSON.stringify(value, null, 2)}
    </pre>
  );
}
