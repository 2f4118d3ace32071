import type { Db } from './database.ts';

const MAX_HANDLES = 1000;
const MAX_CHARACTERS = 2 * 1024 * 1024;
/** The opening of a caller in about two hundred tenants; longer ones are opened each time. */
const MAX_OPENING = 8 * 1024;

/** Handles by their opening: callers come back, and a handle costs as much as a small query. Bounded by size, too. */
export class HandleCache {
  readonly #handles = new Map<string, Db>();
  #characters = 0;

  get characters(): number {
    return this.#characters;
  }

  get(opening: string): Db | undefined {
    return this.#handles.get(opening);
  }

  add(opening: string, handle: Db): void {
    if (opening.length > MAX_OPENING || this.#handles.has(opening)) return;
    // They hold no resources, so dropping all of them is cheap and safe.
    if (this.#handles.size >= MAX_HANDLES || this.#characters + opening.length > MAX_CHARACTERS) {
      this.#handles.clear();
      this.#characters = 0;
    }
    this.#handles.set(opening, handle);
    this.#characters += opening.length;
  }
}
