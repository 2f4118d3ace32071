import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newSigningSecret, signMessage } from './signature.ts';

const body = JSON.stringify({ event_type: 'allocation.active', payload: { message: 'grüß Gott' } });

function headers(secrets: string[], id = 'msg-1', timestampSeconds = Math.floor(Date.now() / 1000)) {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signMessage(secrets, { id, timestampSeconds, body }),
  };
}

test('the reference library accepts our signature, and only with the right secret, body and id', () => {
  const secret = newSigningSecret();
  expect(new Webhook(secret).verify(body, headers([secret]))).toEqual(JSON.parse(body));
  expect(() => new Webhook(newSigningSecret()).verify(body, headers([secret]))).toThrow();
  expect(() => new Webhook(secret).verify(`${body} `, headers([secret]))).toThrow();
  expect(() => new Webhook(secret).verify(body, { ...headers([secret]), 'webhook-id': 'msg-2' })).toThrow();
});

test('during a rotation the reference library accepts either secret', () => {
  const [before, after] = [newSigningSecret(), newSigningSecret()];
  const sent = headers([after, before]);
  expect(new Webhook(before).verify(body, sent)).toBeTruthy();
  expect(new Webhook(after).verify(body, sent)).toBeTruthy();
});

test('a known answer, so that the scheme never drifts', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestampSeconds: 1614265330,
    body: '{"test": 2432232314}',
  };
  expect(signMessage([secret], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
});
