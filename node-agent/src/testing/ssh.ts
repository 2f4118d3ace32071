import ssh2 from 'ssh2';
import type { Duplex } from 'node:stream';
import { newSshKeyPair } from '../host/ssh-key-pair.ts';

export interface KeyPair {
  private: string;
  public: string;
}

export function createKeyPair(): KeyPair {
  return newSshKeyPair();
}

export interface SshResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

export function sshLogin(sock: Duplex, privateKey: string, username = 'ubuntu'): Promise<ssh2.Client> {
  const client = new ssh2.Client();
  return new Promise((resolve, reject) => {
    client.on('ready', () => resolve(client));
    client.on('error', reject);
    client.connect({ sock, username, privateKey });
  });
}

export function sshExec(
  client: ssh2.Client,
  command: string,
  options: ssh2.ExecOptions & { stdin?: string } = {},
): Promise<SshResult> {
  return new Promise((resolve, reject) => {
    client.exec(command, options, (error, channel) => {
      if (error) return reject(error);
      const result: SshResult = { code: null, stdout: '', stderr: '' };
      channel.on('data', (data: Buffer) => (result.stdout += data.toString()));
      channel.stderr.on('data', (data: Buffer) => (result.stderr += data.toString()));
      channel.on('exit', (code: number | null) => (result.code = code));
      channel.on('close', () => resolve(result));
      if (options.stdin !== undefined) channel.end(options.stdin);
    });
  });
}
