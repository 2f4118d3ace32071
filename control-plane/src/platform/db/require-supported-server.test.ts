import { expect, test } from 'vitest';
import { requireSupportedServer, UnsupportedServerError } from './require-supported-server.ts';

test.each([150_000, 150_013, 160_004, 180_000])('a server with version number %d will do', (number) => {
  expect(() => requireSupportedServer(number)).not.toThrow();
});

test.each([
  [140_022, '14.22'],
  [100_001, '10.1'],
  [90_624, '90624'],
  [Number.NaN, 'NaN'],
])('one with %d is refused by its name', (number, version) => {
  expect(() => requireSupportedServer(number)).toThrow(UnsupportedServerError);
  expect(() => requireSupportedServer(number)).toThrow(
    `PostgreSQL ${version}; the platform needs 15 or newer`,
  );
});
