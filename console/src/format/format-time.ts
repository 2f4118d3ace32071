const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A span in its two largest units: `3d 4h`, `12m 5s`. */
export function formatDuration(milliseconds: number): string {
  const span = Math.max(0, milliseconds);
  if (span < MINUTE) return `${Math.floor(span / SECOND)}s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)}m ${Math.floor((span % MINUTE) / SECOND)}s`;
  if (span < DAY) return `${Math.floor(span / HOUR)}h ${Math.floor((span % HOUR) / MINUTE)}m`;
  return `${Math.floor(span / DAY)}d ${Math.floor((span % DAY) / HOUR)}h`;
}

/** One unit is enough where it is only a rough age. */
export function formatAge(milliseconds: number): string {
  if (milliseconds < 10 * SECOND) return 'just now';
  return `${formatDuration(milliseconds).split(' ')[0]} ago`;
}

const local = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

export function formatLocal(timestamp: string): string {
  return local.format(new Date(timestamp));
}

export function formatDay(timestamp: string): string {
  return day.format(new Date(timestamp));
}

/** The time of day, with the day in front unless it is today. */
export function formatClock(timestamp: string): string {
  const date = new Date(timestamp);
  const today = date.toDateString() === new Date().toDateString();
  return today ? clock.format(date) : `${day.format(date)}, ${clock.format(date)}`;
}

export function formatUtc(timestamp: string): string {
  return new Date(timestamp)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
}
