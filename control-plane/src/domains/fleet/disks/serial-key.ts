/** A serial in the one spelling that counts; the same as `upper(btrim(serial))` in SQL. */
export function serialKey(serial: string): string {
  return serial.replaceAll(/^ +| +$/g, '').toUpperCase();
}
