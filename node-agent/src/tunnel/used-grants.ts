/**
 * Each grant opens one stream. Grants are few and short-lived, so all that could still be replayed are
 * remembered.
 */
export class UsedGrants {
  readonly #expiries = new Map<string, number>();

  /** False when the grant was used before. */
  add(grantId: string, expiresAt: number, now: Date): boolean {
    for (const [id, expiry] of this.#expiries) if (expiry <= now.getTime()) this.#expiries.delete(id);
    if (this.#expiries.has(grantId)) return false;
    this.#expiries.set(grantId, expiresAt);
    return true;
  }
}
