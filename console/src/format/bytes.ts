const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes in the largest unit that leaves at least one of it: `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}
