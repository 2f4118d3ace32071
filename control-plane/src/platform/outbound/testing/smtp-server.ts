import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { x509 } from '../../keys/x509.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** As it came, headers and all. */
  source: string;
  encrypted: boolean;
  user: string | null;
}

/** Behaviour of the server; every reply is a whole line of SMTP. */
export interface SmtpBehaviour {
  offersTls: boolean;
  credentials: { user: string; password: string } | null;
  rcpt: string;
  data: string;
  /** Takes the message and goes away without saying so. */
  goesAwayAfterData: boolean;
}

export interface SmtpServer {
  port: number;
  /** CA of its certificate. */
  ca: string;
  received: ReceivedMail[];
  behave(change: Partial<SmtpBehaviour>): void;
  close(): Promise<void>;
}

const FRIENDLY: SmtpBehaviour = {
  offersTls: true,
  credentials: null,
  rcpt: '250 ok',
  data: '250 taken',
  goesAwayAfterData: false,
};

/** A mail server over real sockets: EHLO, STARTTLS, AUTH PLAIN, MAIL, RCPT, DATA, RSET, QUIT. */
export async function startSmtpServer(): Promise<SmtpServer> {
  const identity = await selfSigned();
  const received: ReceivedMail[] = [];
  const open = new Set<Socket>();
  let behaviour = FRIENDLY;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.write('220 mail.test ESMTP\r\n');
    converse(socket, { encrypted: false, behaviour: () => behaviour, identity, received });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: listeningPort(server),
    ca: identity.cert,
    received,
    behave: (change) => (behaviour = { ...behaviour, ...change }),
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Session {
  encrypted: boolean;
  behaviour(): SmtpBehaviour;
  identity: { cert: string; key: string };
  received: ReceivedMail[];
}

function converse(socket: Socket, session: Session): void {
  const { encrypted, behaviour, identity, received } = session;
  const say = (line: string): void => void socket.write(`${line}\r\n`);
  const mail: { from: string; to: string[] } = { from: '', to: [] };
  let user: string | null = null;
  let buffer = '';
  let data: string[] | null = null;
  const onLine = (line: string): void => {
    if (data) {
      if (line !== '.') return void data.push(line.startsWith('.') ? line.slice(1) : line);
      const { data: reply, goesAwayAfterData } = behaviour();
      if (reply.startsWith('250')) received.push({ ...mail, source: data.join('\n'), encrypted, user });
      data = null;
      return goesAwayAfterData ? void socket.destroy() : say(reply);
    }
    const verb = line.split(' ')[0]!.toUpperCase();
    const { offersTls, credentials, rcpt } = behaviour();
    if (verb === 'EHLO') {
      const extensions = [
        ...(offersTls && !encrypted ? ['STARTTLS'] : []),
        ...(credentials ? ['AUTH PLAIN'] : []),
      ];
      const lines = ['mail.test', ...extensions];
      lines.forEach((text, index) => say(`250${index === lines.length - 1 ? ' ' : '-'}${text}`));
    } else if (verb === 'STARTTLS' && !offersTls) say('502 5.5.1 no such command');
    else if (verb === 'STARTTLS') {
      say('220 go ahead');
      socket.removeAllListeners('data');
      converse(new TLSSocket(socket, { isServer: true, ...identity }), { ...session, encrypted: true });
    } else if (verb === 'AUTH') {
      const [, name, password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
        .toString('utf8')
        .split('\0');
      const known = name === credentials?.user && password === credentials?.password;
      user = known ? name! : null;
      say(known ? '235 welcome' : '535 5.7.8 wrong user or password');
    } else if (verb === 'MAIL') {
      mail.from = line;
      say(credentials && user === null ? '530 5.7.0 authenticate first' : '250 ok');
    } else if (verb === 'RCPT') {
      if (rcpt.startsWith('250')) mail.to.push(/<(.*)>/.exec(line)?.[1] ?? '');
      say(rcpt);
    } else if (verb === 'DATA') {
      data = [];
      say('354 go on');
    } else if (verb === 'QUIT') {
      say('221 bye');
      socket.end();
    } else say('250 ok');
  };
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    buffer += chunk.toString('utf8');
    const lines = buffer.split('\r\n');
    buffer = lines.pop()!;
    for (const line of lines) onLine(line);
  });
}

async function selfSigned(): Promise<{ cert: string; key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=mail.test',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 3_600_000),
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  return {
    cert: certificate.toString('pem'),
    key: `-----BEGIN PRIVATE KEY-----\n${pkcs8.match(/.{1,64}/g)!.join('\n')}\n-----END PRIVATE KEY-----\n`,
  };
}
