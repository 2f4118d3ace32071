import { Socket } from 'node:net';

/**
 * The other end of this pipe is held by the lab supervisor. Its end, however it comes about, is a power cut:
 * nobody on the simulated machine gets to say goodbye.
 */
export function watchPowerCord(fd: number, onPowerLost: () => void): void {
  const cord = new Socket({ fd, readable: true, writable: false });
  cord.on('error', onPowerLost);
  cord.on('close', onPowerLost);
  cord.on('end', onPowerLost);
  cord.resume();
  cord.unref();
}
