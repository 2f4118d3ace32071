/** Sized for a small machine that also runs the platform; a larger installation provides its own Postgres. */
const DEFAULTS: Record<string, string> = {
  shared_buffers: '128MB',
  max_connections: '200',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
};

/** Server arguments. Settings that keep the server private and findable cannot be overridden. */
export function serverArguments(folder: string, port: number, overrides: Record<string, string>): string[] {
  const settings: Record<string, string> = {
    ...DEFAULTS,
    ...overrides,
    listen_addresses: '127.0.0.1',
    port: String(port),
    // Socket paths are limited to about 100 bytes, data folder paths are not.
    unix_socket_directories: '',
    // The log goes to the file behind stderr; a pipe would break with its reader.
    logging_collector: 'off',
    log_destination: 'stderr',
  };
  return ['-D', folder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
}
