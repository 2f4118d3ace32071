const TAG = /^[a-z0-9][a-z0-9._/=-]{0,62}$/;
const MOST = 10;

/** Parses tags separated by blanks or commas. */
export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Error of the tags; an empty list is valid. */
export function tagsError(text: string): string | null {
  const tags = parseTags(text);
  const wrong = tags.find((tag) => !TAG.test(tag));
  if (wrong) return `“${wrong}” is not a valid tag: use up to 63 lower-case letters, digits and . _ / = -`;
  return tags.length > MOST ? `At most ${MOST} tags.` : null;
}
