/** Why the platform could not work in a machine; each is one of the closed list of reasons. */
export type GuestFailure =
  | 'access_lost'
  | 'node_lost'
  | 'disk_full'
  | 'permissions'
  | 'rejected'
  | 'digest_mismatch'
  | 'executor_error';

export class GuestError extends Error {
  readonly reason: GuestFailure;

  constructor(reason: GuestFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}
