const TAG = /^[a-z0-9][a-z0-9._/=-]{0,62}$/;
const MOST = 10;

/** Tags as people write them: words with blanks or commas between them. */
export function tagsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

/** Why tags cannot be used; none at all can. */
export function tagsRefusal(text: string): string | null {
  const tags = tagsIn(text);
  const wrong = tags.find((tag) => !TAG.test(tag));
  if (wrong) return `“${wrong}” is no tag: lower-case letters, digits and . _ / = - up to 63 of them.`;
  return tags.length > MOST ? `A lease has ${MOST} tags at most.` : null;
}
