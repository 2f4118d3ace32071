import type { Duplex, Readable } from 'node:stream';

export interface GuestCommand {
  /** What the guest's shell runs. It is visible in the machine, so it holds no secret. */
  command: string;
  stdin?: Buffer | Readable;
  /** A guest that prints more is not listened to any longer. */
  maxBytes: number;
  deadlineMs: number;
}

/** A machine that the platform has entered. Every method throws `GuestError`. */
export interface Guest {
  /** Runs a command as the tenant's user and returns what it printed; its exit status says nothing to us. */
  run(command: GuestCommand): Promise<Buffer>;
  /** Listens on a port of the machine's own loopback; every connection to it is given to `accept`. */
  listen(port: number, accept: (connection: Duplex) => void): Promise<void>;
  /** Settles when the connection to the machine has ended. */
  ended: Promise<void>;
  /** The platform's time. */
  now(): Date;
  close(): void;
}
