export interface RunningMachine {
  allocation_id: string;
  started_at: string;
}

/** What a host said of itself, and when we heard it. */
export interface HostObservation {
  at: Date;
  bootId: string | null;
  machines: readonly RunningMachine[];
}

/** What a host says now: besides its machines, the lease that has the host as a whole. */
export interface HostReport extends HostObservation {
  machines: readonly (RunningMachine & { state: 'running' | 'stopped' })[];
  hostLease: string | null;
}

/** A lease as it was last seen. */
export interface ObservedLease {
  id: string;
  active: boolean;
  observed_state: string;
  has_machine: boolean;
  in_outage: boolean;
}
