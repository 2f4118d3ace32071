import { createHash, createHmac } from 'node:crypto';

export interface SigningKey {
  accessKeyId: string;
  secretAccessKey: string;
  region: string;
}

export interface SignedRequest {
  method: string;
  url: URL;
  /** SHA-256 of the body in hex. */
  contentSha256: string;
}

/** Headers that prove an S3 request (AWS Signature Version 4). The path must need no encoding, and have no query. */
export function signV4(
  { method, url, contentSha256 }: SignedRequest,
  key: SigningKey,
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const day = time.slice(0, 8);
  const signed = { host: url.host, 'x-amz-content-sha256': contentSha256, 'x-amz-date': time };
  const names = Object.keys(signed).join(';');
  const canonical = [
    method,
    url.pathname,
    '',
    ...Object.entries(signed).map(([name, value]) => `${name}:${value}`),
    '',
    names,
    contentSha256,
  ].join('\n');
  const scope = `${day}/${key.region}/s3/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const signature = hmac(signingKey(key, day), text).toString('hex');
  return {
    'x-amz-content-sha256': contentSha256,
    'x-amz-date': time,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function signingKey({ secretAccessKey, region }: SigningKey, day: string): Buffer {
  return [region, 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${secretAccessKey}`, day));
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
