import { describe, expect, test } from 'vitest';
import { postMessage } from './post-message.ts';
import { isPublicAddress } from '../../platform/outbound/public-address.ts';
import { checkUrl, resolveTarget } from '../../platform/outbound/target.ts';
import { startReceiver } from './testing.ts';

const strict = { allowPrivateTargets: false };

describe('addresses that are never public', () => {
  test.each([
    ['private', '10.1.2.3'],
    ['private', '172.31.255.1'],
    ['private', '192.168.0.1'],
    ['loopback', '127.8.8.8'],
    ['this host', '0.0.0.0'],
    ['link-local (cloud metadata)', '169.254.169.254'],
    ['CGNAT', '100.64.0.1'],
    ['multicast', '224.0.0.251'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['documentation', '203.0.113.9'],
    ['IPv6 loopback', '::1'],
    ['IPv6 unspecified', '::'],
    ['unique-local', 'fd00::1'],
    ['IPv6 link-local', 'fe80::1'],
    ['IPv6 multicast', 'ff02::1'],
    ['IPv4-mapped', '::ffff:8.8.8.8'],
    ['IPv4-mapped loopback', '::ffff:127.0.0.1'],
    ['IPv4-mapped in hex', '::ffff:7f00:1'],
    ['IPv4-compatible', '::7f00:1'],
    ['NAT64 of loopback', '64:ff9b::7f00:1'],
    ['6to4 of loopback', '2002:7f00:1::'],
    ['Teredo', '2001:0:7f00:1::'],
    ['with a zone', 'fe80::1%eth0'],
    ['not an address', 'localhost'],
  ])('%s %s', (_kind, address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
  ])('but %s is public', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('URLs', () => {
  test.each([
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'https://user:secret@hooks.example.com/',
    'https://hooks.example.com/#part',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://localhost/',
    'https://db.internal/',
    'https://printer.local./',
    'nonsense',
  ])('%s is refused', (url) => expect(() => checkUrl(url, strict)).toThrow());

  test('an https URL with a public name or address is accepted', () => {
    expect(checkUrl('https://hooks.example.com:8443/a?b=c', strict).port).toBe('8443');
    expect(checkUrl('https://8.8.8.8/', strict).hostname).toBe('8.8.8.8');
  });
});

describe('resolving', () => {
  test('a name with one private address among public ones is refused', async () => {
    const lookup = () =>
      Promise.resolve([
        { address: '8.8.8.8', family: 4 },
        { address: '10.0.0.1', family: 4 },
      ]);
    await expect(resolveTarget('https://hooks.example.com/', { ...strict, lookup })).rejects.toThrow(
      'not public',
    );
  });

  test('a name whose address changes between check and connection is resolved once', async () => {
    const receiver = await startReceiver();
    let asked = 0;
    const lookup = () => {
      asked += 1;
      return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }]);
    };
    const rules = { allowPrivateTargets: true, lookup };
    const url = `http://rebinding.example.com:${receiver.port}/hook`;
    expect(await postMessage({ url, headers: {}, body: '{}' }, rules)).toMatchObject({
      status: 200,
      error: null,
    });
    expect(asked).toBe(1);
    expect(receiver.received[0]!.headers.host).toBe(`rebinding.example.com:${receiver.port}`);
    await receiver.close();
  });

  test('a rebinding name never reaches a private endpoint, and the log does not reveal its address', async () => {
    const receiver = await startReceiver();
    const rules = { ...strict, lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) };
    const url = `https://rebinding.example.com:${receiver.port}/hook`;
    const outcome = await postMessage({ url, headers: {}, body: '{}' }, rules);
    expect(outcome).toMatchObject({
      status: null,
      error: 'not sent: its name resolves to an address that is not public',
    });
    expect(receiver.received).toEqual([]);
    await receiver.close();
  });
});

describe('answers', () => {
  const lenient = { allowPrivateTargets: true };
  const message = (url: string) => ({ url, headers: {}, body: '{}' });

  test('a redirect is a failure and is not followed', async () => {
    const receiver = await startReceiver();
    receiver.answer(302);
    expect(await postMessage(message(receiver.url), lenient)).toMatchObject({
      status: 302,
      error: expect.stringContaining('redirects'),
    });
    expect(receiver.received).toHaveLength(1);
    await receiver.close();
  });

  test('an endpoint that hangs, or a name that does not resolve in time, is abandoned at the deadline', async () => {
    const receiver = await startReceiver();
    receiver.answer(0);
    expect(await postMessage(message(receiver.url), lenient, 200)).toMatchObject({
      error: 'did not answer within 0.2 s',
    });
    const rules = { ...lenient, lookup: () => new Promise<never>(() => undefined) };
    expect(await postMessage(message('http://slow.example.com/'), rules, 200)).toMatchObject({
      status: null,
    });
    await receiver.close();
  });

  test('an endless reply is cut off, and its status counts', async () => {
    const receiver = await startReceiver();
    receiver.server.removeAllListeners('request');
    let written = 0;
    receiver.server.on('request', (_request, response) => {
      response.writeHead(200);
      const more = (): void => {
        written += 64 * 1024;
        if (response.write(Buffer.alloc(64 * 1024))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
      response.on('error', () => undefined);
    });
    const outcome = await postMessage(message(receiver.url), lenient, 5000);
    expect(outcome).toMatchObject({ status: 200, error: null });
    expect(written).toBeLessThan(64 * 1024 * 1024);
    await receiver.close();
  });

  test('a missing endpoint is a failure with its reason', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    expect(await postMessage(message(receiver.url), lenient)).toMatchObject({
      error: 'no connection (ECONNREFUSED)',
    });
  });
});
