import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { clientAddresses } from './client-address.ts';

const from = (remoteAddress: string, forwarded?: string) =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

describe('the address of a client', () => {
  it('is that of the connection, whatever headers the client sends', () => {
    const addressOf = clientAddresses([]);
    expect(addressOf(from('192.0.2.1', '198.51.100.1'))).toBe('192.0.2.1');
    expect(addressOf(from('::ffff:192.0.2.1'))).toBe('192.0.2.1');
  });

  it('is the last one before the trusted proxies', () => {
    const addressOf = clientAddresses(['10.0.0.0/8', '2001:db8::1']);
    expect(addressOf(from('10.1.2.3', '203.0.113.9, 198.51.100.1, 10.0.0.2'))).toBe('198.51.100.1');
    expect(addressOf(from('2001:db8::1', '198.51.100.1'))).toBe('198.51.100.1');
    expect(addressOf(from('10.1.2.3'))).toBe('10.1.2.3');
    expect(addressOf(from('192.0.2.1', '198.51.100.1'))).toBe('192.0.2.1');
  });
});
