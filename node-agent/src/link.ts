/** The connection to the platform. The lab can cut it; running calls then fail like on a pulled cable. */
export interface Link {
  /** Fires when the link is cut; already fired while it is. */
  signal(): AbortSignal;
}

export const ALWAYS_CONNECTED: Link = { signal: () => new AbortController().signal };

export class LinkCutError extends Error {}

export interface CuttableLink extends Link {
  set(cut: boolean): void;
}

export function createLink(): CuttableLink {
  let current = new AbortController();
  return {
    signal: () => current.signal,
    set(cut) {
      if (cut === current.signal.aborted) return;
      if (cut) current.abort(new LinkCutError('the network to the platform is cut'));
      else current = new AbortController();
    },
  };
}
