import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, CompactEncrypt, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import {
  certificateSerial,
  EC_P256,
  exportPrivateKeyPem,
  issueCertificate,
} from '@gpuaas/control-plane/platform/keys/certificates';
import type { StepCaSettings } from '@gpuaas/control-plane/platform/keys/step-ca';
import { x509 } from '@gpuaas/control-plane/platform/keys/x509';

const PROVISIONER = 'gpuaas';
const PASSWORD = 'a password of the provisioner';
const MAX_LIFETIME_MS = 24 * 3_600_000;
const BACKDATE_MS = 60_000;

export interface FakeStepCa {
  settings: StepCaSettings;
  rootPem: string;
  /** Reasons of its refusals. */
  refusals: string[];
  /** Answers nothing but errors while true. */
  broken: boolean;
  close(): Promise<void>;
}

class Refused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * A fake step-ca that holds a caller to its contract: a root behind an intermediate, a JWK provisioner whose
 * key is encrypted with a password, one-time tokens that name the signed subject.
 */
export async function startFakeStepCa(): Promise<FakeStepCa> {
  const root = await authority('CN=Step Root', null);
  const intermediate = await authority('CN=Step Intermediate', root);
  const provisioner = await generateKeyPair('ES256', { extractable: true });
  const publicJwk = await exportJWK(provisioner.publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const encryptedKey = await new CompactEncrypt(
    new TextEncoder().encode(JSON.stringify({ ...(await exportJWK(provisioner.privateKey)), kid })),
  )
    .setProtectedHeader({ alg: 'PBES2-HS256+A128KW', enc: 'A256GCM', cty: 'jwk+json' })
    .setKeyManagementParameters({ p2c: 100_000, p2s: randomBytes(16) })
    .encrypt(new TextEncoder().encode(PASSWORD));
  const fingerprint = createHash('sha256').update(Buffer.from(root.certificate.rawData)).digest('hex');
  const usedTokens = new Set<string>();
  const fake = { refusals: [] as string[], broken: false };

  const own = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  const ownCertificate = await issueCertificate(intermediate, {
    publicKey: own.publicKey,
    commonName: 'step-ca',
    names: [{ type: 'ip', value: '127.0.0.1' }],
    usage: 'serverAuth',
    lifetimeMs: MAX_LIFETIME_MS,
  });
  const server = createServer(
    {
      key: await exportPrivateKeyPem(own.privateKey),
      cert: `${ownCertificate.toString('pem')}\n${intermediate.pem}`,
    },
    (request, response) => {
      void answer(request).then(
        ({ status, body }) => response.writeHead(status).end(JSON.stringify(body)),
        (error: unknown) => {
          const status = error instanceof Refused ? error.status : 500;
          fake.refusals.push((error as Error).message);
          response.writeHead(status).end(JSON.stringify({ status, message: String(error) }));
        },
      );
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);

  async function answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    if (fake.broken) throw new Refused(500, 'broken');
    const { pathname } = new URL(request.url ?? '/', url);
    if (request.method === 'GET' && pathname === `/root/${fingerprint}`) {
      return { status: 200, body: { ca: root.pem } };
    }
    if (request.method === 'GET' && pathname === '/provisioners') {
      const key = { ...publicJwk, kid, use: 'sig', alg: 'ES256' };
      const listed = [
        { type: 'ACME', name: 'acme' },
        { type: 'JWK', name: PROVISIONER, key, encryptedKey },
      ];
      return { status: 200, body: { provisioners: listed, nextCursor: '' } };
    }
    if (request.method === 'GET' && pathname === `/provisioners/${kid}/encrypted-key`) {
      return { status: 200, body: { key: encryptedKey } };
    }
    if (request.method === 'POST' && pathname === '/1.0/sign') {
      return { status: 201, body: await sign(await bodyOf(request)) };
    }
    throw new Refused(404, `no ${request.method} ${pathname}`);
  }

  async function sign(body: { csr?: string; ott?: string; notAfter?: string }): Promise<object> {
    if (!body.csr || !body.ott) throw new Refused(400, 'missing csr or ott');
    const csr = new x509.Pkcs10CertificateRequest(body.csr);
    if (!(await csr.verify())) throw new Refused(400, 'invalid csr');
    const { subject, sans } = await authorizeToken(body.ott);
    const commonName = csr.subjectName.getField('CN')[0] ?? '';
    if (commonName !== '' && commonName !== subject) throw new Refused(403, 'not the valid common name');
    if (csr.extensions.length > 0) throw new Refused(403, 'not the valid names');
    const notAfter = body.notAfter ? Date.parse(body.notAfter) : Date.now() + MAX_LIFETIME_MS;
    if (notAfter - Date.now() > MAX_LIFETIME_MS + BACKDATE_MS)
      throw new Refused(403, 'more than the maximum');
    const leaf = await issueCertificate(intermediate, {
      publicKey: await csr.publicKey.export(EC_P256, ['verify']),
      commonName: subject,
      names: sans.map((value) => ({ type: typeOf(value), value })),
      usage: sans.some((name) => name.startsWith('spiffe://')) ? 'clientAuth' : 'serverAuth',
      lifetimeMs: notAfter - Date.now(),
    });
    const crt = `${leaf.toString('pem')}\n`;
    return { crt, ca: intermediate.pem, certChain: [crt, intermediate.pem] };
  }

  async function authorizeToken(token: string): Promise<{ subject: string; sans: string[] }> {
    const { payload } = await jwtVerify(token, provisioner.publicKey, {
      issuer: PROVISIONER,
      audience: [new URL('/1.0/sign', url).href, new URL('/sign', url).href],
      clockTolerance: 60,
      requiredClaims: ['sub', 'jti', 'exp', 'nbf'],
    }).catch((error: unknown) => {
      throw new Refused(401, String(error));
    });
    if (usedTokens.has(payload.jti!)) throw new Refused(401, 'token already used');
    usedTokens.add(payload.jti!);
    if (payload['sha'] !== undefined && payload['sha'] !== fingerprint)
      throw new Refused(401, 'another root');
    return { subject: payload.sub!, sans: (payload['sans'] as string[] | undefined) ?? [payload.sub!] };
  }

  return Object.assign(fake, {
    settings: { url, rootFingerprint: fingerprint, provisioner: PROVISIONER, password: PASSWORD },
    rootPem: root.pem,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

interface StepAuthority {
  certificate: x509.X509Certificate;
  privateKey: CryptoKey;
  pem: string;
}

async function authority(name: string, parent: StepAuthority | null): Promise<StepAuthority> {
  const keys = await crypto.subtle.generateKey(EC_P256, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: certificateSerial(),
    subject: name,
    issuer: parent?.certificate.subject ?? name,
    notBefore: new Date(Date.now() - BACKDATE_MS),
    notAfter: new Date(Date.now() + 365 * 86_400_000),
    signingAlgorithm: EC_P256,
    publicKey: keys.publicKey,
    signingKey: parent?.privateKey ?? keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(true, parent ? 0 : 1, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate, privateKey: keys.privateKey, pem: `${certificate.toString('pem')}\n` };
}

function typeOf(name: string): 'url' | 'ip' | 'dns' {
  if (name.includes('://')) return 'url';
  return /^[\d.]+$|:/.test(name) ? 'ip' : 'dns';
}

async function bodyOf(request: IncomingMessage): Promise<{ csr?: string; ott?: string; notAfter?: string }> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as {
    csr?: string;
    ott?: string;
    notAfter?: string;
  };
}
