/** The tenant's login on a leased host: never a name that the host's own users could have. */
export function hostUsername(allocationId: string): string {
  return `lease-${allocationId.slice(-12)}`;
}
