/** `cleanup_blocked` → `Cleanup blocked`, for names without a label. */
export function humanize(name: string): string {
  const spaced = name
    .replaceAll(/[._-]+/g, ' ')
    .replaceAll(/\bgpu(?=s?\b)/g, 'GPU')
    .trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** A short form that distinguishes ids on a screen. UUIDv7 ids differ at their end. */
export function shortId(id: string): string {
  return id.slice(-8);
}
