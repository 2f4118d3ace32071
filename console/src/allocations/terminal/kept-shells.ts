const key = (allocationId: string) => `gpuaas-shell-${allocationId}`;

/** The shell to come back to after a lost connection or a reload of the tab. */
export function keptShell(allocationId: string): string | null {
  return sessionStorage.getItem(key(allocationId));
}

export function keepShell(allocationId: string, id: string) {
  sessionStorage.setItem(key(allocationId), id);
}

export function forgetShell(allocationId: string) {
  sessionStorage.removeItem(key(allocationId));
}
