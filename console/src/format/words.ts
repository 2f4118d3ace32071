/** `cleanup_blocked` → `Cleanup blocked`, for words the console has no better sentence for. */
export function inWords(name: string): string {
  const spaced = name
    .replaceAll(/[._-]+/g, ' ')
    .replaceAll(/\bgpu(?=s?\b)/g, 'GPU')
    .trim();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}

/** The start of an id: enough to tell two apart on a screen. UUIDv7 ids differ at their end. */
export function shortId(id: string): string {
  return id.slice(-8);
}
