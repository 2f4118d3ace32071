import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StrictS3 {
  url: URL;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
  objects: Map<string, Buffer>;
  /** Requests by method and status, in order. */
  answered: string[];
  /** Answers the next requests with these statuses instead. */
  failNext(...statuses: number[]): void;
  stop(): Promise<void>;
}

class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, why: string) {
    super(why);
    this.status = status;
    this.code = code;
  }
}

/** One bucket that takes path-style, signed requests for single objects, and refuses everything else as S3 does. */
export async function startStrictS3(): Promise<StrictS3> {
  const [bucket, accessKeyId, secretAccessKey, region] = [
    'payloads',
    'AKIDTEST',
    'secret/of+test',
    'eu-test-1',
  ];
  const objects = new Map<string, Buffer>();
  const answered: string[] = [];
  const failures: number[] = [];

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const failure = failures.shift();
    if (failure !== undefined)
      throw new Refused(failure, failure === 503 ? 'SlowDown' : 'Failed', 'made to fail');
    const { method = '', url = '' } = request;
    if (!/^\/[A-Za-z0-9._/-]+$/.test(url)) throw new Refused(400, 'InvalidURI', 'only plain paths');
    verify(request, body, { accessKeyId, secretAccessKey, region });
    const [, name, ...rest] = url.split('/');
    if (name !== bucket) throw new Refused(404, 'NoSuchBucket', 'no such bucket');
    const key = rest.join('/');
    const found = objects.get(key);
    if (method === 'PUT') {
      if (request.headers['transfer-encoding'] || request.headers['content-length'] === undefined)
        throw new Refused(411, 'MissingContentLength', 'a put needs its length');
      objects.set(key, body);
      response.writeHead(200).end();
      return 200;
    }
    if (body.length > 0) throw new Refused(400, 'UnexpectedContent', 'a body that nobody asked for');
    if (method === 'DELETE') {
      objects.delete(key);
      response.writeHead(204).end();
      return 204;
    }
    if (method !== 'GET' && method !== 'HEAD') throw new Refused(405, 'MethodNotAllowed', method);
    if (!found) throw new Refused(404, 'NoSuchKey', 'no such key');
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    if (from !== undefined && to !== undefined) {
      if (Number(from) >= found.length) throw new Refused(416, 'InvalidRange', 'beyond the end');
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${found.length}` });
      response.end(method === 'GET' ? found.subarray(Number(from), Number(to) + 1) : undefined);
      return 206;
    }
    response.writeHead(200, { 'content-length': found.length });
    response.end(method === 'GET' ? found : undefined);
    return 200;
  };

  const server = createServer((request, response) => {
    void serve(request, response)
      .catch((error: unknown) => {
        const { status, code, message } =
          error instanceof Refused ? error : new Refused(500, 'Broken', String(error));
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(
          request.method === 'HEAD'
            ? undefined
            : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
        );
        return status;
      })
      .then((status) => answered.push(`${request.method} ${status}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    bucket,
    accessKeyId,
    secretAccessKey,
    region,
    objects,
    answered,
    failNext: (...statuses) => void failures.push(...statuses),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/;
const SKEW_MS = 15 * 60_000;

/** Written from the description of Signature Version 4, apart from the client's code. */
function verify(
  request: IncomingMessage,
  body: Buffer,
  key: { accessKeyId: string; secretAccessKey: string; region: string },
): void {
  const { headers, method = '', url = '' } = request;
  const match = AUTHORIZATION.exec(headers.authorization ?? '');
  if (!match) throw new Refused(403, 'AccessDenied', 'no signature');
  const [, id, day, region, signedHeaders = '', signature = ''] = match;
  if (id !== key.accessKeyId) throw new Refused(403, 'InvalidAccessKeyId', 'unknown key');
  if (region !== key.region) throw new Refused(403, 'AuthorizationHeaderMalformed', 'another region');
  const time = String(headers['x-amz-date']);
  const stamp = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  if (!stamp || !time.startsWith(day!)) throw new Refused(403, 'AccessDenied', 'no date');
  const [year, month, date, hour, minute, second] = stamp.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (Math.abs(Date.UTC(year, month - 1, date, hour, minute, second) - Date.now()) > SKEW_MS)
    throw new Refused(403, 'RequestTimeTooSkewed', 'too old');
  const names = signedHeaders.split(';');
  const must = ['host', 'x-amz-content-sha256', 'x-amz-date'];
  if (must.some((name) => !names.includes(name)) || [...names].sort().join(';') !== signedHeaders)
    throw new Refused(403, 'AccessDenied', 'these headers must be signed, in order');
  const contentSha256 = String(headers['x-amz-content-sha256']);
  const canonical = [
    method,
    url,
    '',
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedHeaders,
    contentSha256,
  ].join('\n');
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${hash(Buffer.from(canonical))}`;
  let signing: Buffer = Buffer.from(`AWS4${key.secretAccessKey}`);
  for (const part of [day!, key.region, 's3', 'aws4_request', text])
    signing = createHmac('sha256', signing).update(part).digest();
  if (!timingSafeEqual(signing, Buffer.from(signature, 'hex')))
    throw new Refused(403, 'SignatureDoesNotMatch', 'wrong signature');
  if (contentSha256 !== hash(body)) throw new Refused(400, 'XAmzContentSHA256Mismatch', 'another body');
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
