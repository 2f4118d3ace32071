import ssh2 from 'ssh2';
import { expect, it } from 'vitest';
import { newSshKeyPair } from './ssh-key-pair.ts';

it('makes only keys that can be read again', () => {
  for (let made = 0; made < 2000; made += 1) {
    const pair = newSshKeyPair('test');
    expect(ssh2.utils.parseKey(pair.private)).not.toBeInstanceOf(Error);
    expect(ssh2.utils.parseKey(pair.public)).not.toBeInstanceOf(Error);
  }
});
