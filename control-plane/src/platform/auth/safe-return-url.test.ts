import { describe, expect, it } from 'vitest';
import { safeReturnUrl } from './safe-return-url.ts';

const SITE = 'https://gpu.example.com';

describe('the way back after a sign-in', () => {
  it.each([
    ['/', '/'],
    ['/allocations?project=1#top', '/allocations?project=1#top'],
    ['/%2F%2Fevil.example', '/%2F%2Fevil.example'],
    ['/%5Cevil.example', '/%5Cevil.example'],
    ['/.//evil.example', '//evil.example'],
    ['/a/..//evil.example', '//evil.example'],
    ['/@evil.example', '/@evil.example'],
    ['/?next=https://evil.example', '/?next=https://evil.example'],
  ])('%s stays on this site', (asked, path) => {
    expect(safeReturnUrl(SITE, asked)).toBe(`${SITE}${path}`);
  });

  it.each([
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '/a\\b',
    'https://evil.example',
    'https:evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'evil.example',
    '.evil.example',
    '@evil.example',
    ':80',
    '',
  ])('%j leads to the front page', (asked) => {
    expect(safeReturnUrl(SITE, asked)).toBe(`${SITE}/`);
  });
});
