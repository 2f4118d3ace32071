import type { Policy } from '../api/types.ts';

/** Policies that hold every word; dots, underscores and hyphens of a name count as spaces. */
export function findPolicies<Found extends Pick<Policy, 'name' | 'doc'>>(
  policies: Found[],
  typed: string,
): Found[] {
  const words = plain(typed).split(' ').filter(Boolean);
  return policies.filter(({ name, doc }) => {
    const text = plain(`${name} ${doc}`);
    return words.every((word) => text.includes(word));
  });
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[._-]+/g, ' ');
}
