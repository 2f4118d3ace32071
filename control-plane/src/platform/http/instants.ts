const WRITTEN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:[Zz]|[+-](?:0\d|1[0-5]):[0-5]\d)$/;
const EARLIEST = Date.parse('0001-01-01T00:00:00Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * A date-time of a request; null for values outside the calendar or PostgreSQL: 30 February, the year 0,
 * second 60, an offset of 16 hours.
 */
export function parseInstant(text: string): Date | null {
  const [, year, month, day] = WRITTEN.exec(text) ?? [];
  if (year === undefined || !isDate(Number(year), Number(month), Number(day))) return null;
  const instant = new Date(`${text.slice(0, 10)}T${text.slice(11).toUpperCase()}`);
  const time = instant.getTime();
  return time >= EARLIEST && time <= LATEST ? instant : null;
}

function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  // Day 0 of the next month is the last of this one; 2000 has the leap years of every 400 years.
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}
