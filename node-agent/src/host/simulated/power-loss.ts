import { Socket } from 'node:net';

/**
 * The lab supervisor holds the other end of this pipe. Its end, for any reason, is a power cut: no process on
 * the simulated machine can clean up.
 */
export function watchPowerLoss(fd: number, onPowerLost: () => void): void {
  const cord = new Socket({ fd, readable: true, writable: false });
  cord.on('error', onPowerLost);
  cord.on('close', onPowerLost);
  cord.on('end', onPowerLost);
  cord.resume();
  cord.unref();
}
