import { afterEach, beforeEach, expect, test } from 'vitest';
import { newId } from '../ids.ts';
import { openMailer, type SmtpSettings } from './mailer.ts';
import { startSmtpServer, type SmtpServer } from './testing/smtp-server.ts';

let server: SmtpServer;
beforeEach(async () => {
  server = await startSmtpServer();
});
afterEach(() => server.close());

const CREDENTIALS = { user: 'platform', password: 'a password with spaces' };

function mailer(change: Partial<SmtpSettings> = {}) {
  return openMailer({
    host: '127.0.0.1',
    port: server.port,
    secure: false,
    requireTls: true,
    user: null,
    password: null,
    ca: server.ca,
    from: 'The cloud <cloud@gpuaas.test>',
    ...change,
  });
}

const mail = {
  id: newId(),
  to: 'ada@acme.test',
  subject: 'Money',
  text: 'Plain words',
  html: '<p>Words</p>',
};

test('a message goes out encrypted, signed in, with text, HTML and a unique id', async () => {
  server.behave({ credentials: CREDENTIALS });
  expect(await mailer(CREDENTIALS).send(mail)).toEqual({ result: 'sent' });
  const [taken] = server.received;
  expect(taken).toMatchObject({ encrypted: true, user: 'platform', to: ['ada@acme.test'] });
  for (const part of [
    `Message-ID: <${mail.id}@gpuaas.test>`,
    'Plain words',
    '<p>Words</p>',
    'Auto-Submitted',
  ]) {
    expect(taken!.source).toContain(part);
  }
});

test('a wrong password concerns every message, so this one waits', async () => {
  server.behave({ credentials: CREDENTIALS });
  const outcome = await mailer({ ...CREDENTIALS, password: 'wrong' }).send(mail);
  expect(outcome).toMatchObject({ result: 'later', broken: true });
  expect(JSON.stringify(outcome)).not.toContain('wrong"');
  expect(server.received).toEqual([]);
});

test('sends nothing unencrypted if TLS is required, and nothing to an untrusted server', async () => {
  expect(await mailer({ ca: null }).send(mail)).toMatchObject({ result: 'later', broken: true });
  server.behave({ offersTls: false });
  expect(await mailer().send(mail)).toMatchObject({ result: 'later', broken: true });
  expect(server.received).toEqual([]);
  expect(await mailer({ requireTls: false }).send(mail)).toEqual({ result: 'sent' });
});

test('“not now” is tried again, “never” is not', async () => {
  server.behave({ rcpt: '450 4.2.0 greylisted' });
  expect(await mailer().send(mail)).toMatchObject({ result: 'later', broken: false });
  server.behave({ rcpt: '550 5.1.1 no such user' });
  expect(await mailer().send(mail)).toMatchObject({ result: 'refused' });
  server.behave({ rcpt: '250 ok', data: '452 4.3.1 disk full' });
  expect(await mailer().send(mail)).toMatchObject({ result: 'later', broken: false });
  server.behave({ data: '554 5.7.1 spam' });
  expect(await mailer().send(mail)).toMatchObject({ result: 'refused' });
});

test('a server that is gone, or goes in the middle, is tried again', async () => {
  server.behave({ goesAwayAfterData: true });
  expect(await mailer().send(mail)).toMatchObject({ result: 'later', broken: true });
  const { port } = await startSmtpServer().then(async (other) => {
    await other.close();
    return other;
  });
  expect(await mailer({ port }).send(mail)).toMatchObject({ result: 'later', broken: true });
});

test('a line break in what people are called makes no header', async () => {
  await mailer().send({ ...mail, subject: 'Hello\r\nBcc: eve@evil.test', to: 'ada@acme.test' });
  expect(server.received[0]!.to).toEqual(['ada@acme.test']);
  expect(server.received[0]!.source).not.toMatch(/^bcc:/im);
});
