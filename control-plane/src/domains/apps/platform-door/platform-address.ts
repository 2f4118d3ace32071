/** Port of the guest's loopback at which its members reach the platform. */
export const PLATFORM_PORT = 6411;

export const PLATFORM_URL = `http://127.0.0.1:${PLATFORM_PORT}`;
