import type { Area, NavEntry, NavGroup } from './areas.ts';

export interface Here {
  area: Area;
  group: NavGroup;
  place: NavEntry;
}

/** Where an address belongs: the page itself, or the list above a detail page; null for pages outside the areas. */
export function whereIs(areas: Area[], pathname: string): Here | null {
  const all = areas.flatMap((area) =>
    area.groups.flatMap((group) => group.places.map((place) => ({ area, group, place }))),
  );
  const above = all.filter(({ place: { to } }) => pathname === to || pathname.startsWith(`${to}/`));
  return above.toSorted((one, other) => other.place.to.length - one.place.to.length)[0] ?? null;
}
