import { createTransport } from 'nodemailer';

export interface SmtpSettings {
  host: string;
  port: number;
  /** TLS from the first byte; STARTTLS otherwise. */
  secure: boolean;
  /** Nothing is said in the clear; off only for a server on this machine. */
  requireTls: boolean;
  user: string | null;
  password: string | null;
  /** CA certificates of the server, beside the well-known ones. */
  ca: string | null;
  from: string;
}

export interface Mail {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

export type MailOutcome =
  | { result: 'sent' }
  /** The server will never take this message for this address. */
  | { result: 'refused'; error: string }
  /** Worth another attempt; `broken` when no message gets through at all. */
  | { result: 'later'; error: string; broken: boolean };

export interface Mailer {
  send(mail: Mail): Promise<MailOutcome>;
}

const CONNECT_MS = 10_000;
/** Silence in the middle of a conversation; a delivery's lease is longer than the whole of it. */
const SILENCE_MS = 15_000;

/** Sends by SMTP, one connection for each message. Never throws for a server's reply. */
export function openMailer(settings: SmtpSettings): Mailer {
  const { host, port, secure, requireTls, user, password, ca, from } = settings;
  const transport = createTransport({
    host,
    port,
    secure,
    requireTLS: requireTls && !secure,
    ...(user !== null ? { auth: { user, pass: password ?? '' } } : {}),
    ...(ca !== null ? { tls: { ca } } : {}),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    dnsTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = /@([^>\s]+)>?$/.exec(from)?.[1] ?? host;
  return {
    async send(mail) {
      try {
        await transport.sendMail({
          from,
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          html: mail.html,
          messageId: `<${mail.id}@${domain}>`,
          headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
        });
        return { result: 'sent' };
      } catch (error) {
        return outcomeOf(error as SmtpError);
      }
    },
  };
}

interface SmtpError extends Error {
  code?: string;
  command?: string;
  responseCode?: number;
}

/** Errors about the recipient or the message concern this one only; all others concern every message. */
const ABOUT_THE_MESSAGE = new Set(['RCPT TO', 'DATA']);

function outcomeOf({ message, code, command, responseCode }: SmtpError): MailOutcome {
  const error = message.slice(0, 500);
  const aboutMessage =
    (command !== undefined && ABOUT_THE_MESSAGE.has(command)) || (code === 'EENVELOPE' && !responseCode);
  if (!aboutMessage) return { result: 'later', error, broken: true };
  const permanent = responseCode === undefined || responseCode >= 500;
  return permanent ? { result: 'refused', error } : { result: 'later', error, broken: false };
}
