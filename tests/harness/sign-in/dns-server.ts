import { createSocket } from 'node:dgram';
import { once } from 'node:events';

export interface TestDnsServer {
  /** `address:port` */
  address: string;
  publish(name: string, text: string): void;
  stop(): Promise<void>;
}

const TXT = 16;
const NAME_ERROR = 3;

/** A DNS server that knows TXT records and nothing else. */
export async function startDnsServer(): Promise<TestDnsServer> {
  const records = new Map<string, string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query);
    const text = type === TXT ? records.get(name) : undefined;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 | (text === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    header.writeUInt32BE(0, 8);
    const answer = text === undefined ? Buffer.alloc(0) : txtRecord(text);
    socket.send(Buffer.concat([header, query.subarray(12, end), answer]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    publish: (name, text) => void records.set(name.toLowerCase(), text),
    async stop() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function txtRecord(text: string): Buffer {
  const data = Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(1, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
