/** The machine cannot be reached, with the reason in words or as the host's own code. */
export class GuestUnreachableError extends Error {}
