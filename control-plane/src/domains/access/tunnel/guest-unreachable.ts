/** The machine is unreachable, with a reason as text or as the host's code. */
export class GuestUnreachableError extends Error {}
