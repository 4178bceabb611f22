import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** The TXT records of a host; `broken`: the server fails; `silent`: it does not answer. */
export type TxtRecords = readonly string[] | 'broken' | 'silent'

export interface DnsServer extends AsyncDisposable {
  /** Address and port, as `setServers` takes them. */
  readonly address: string
  /** By host; any other host does not exist. Tests change it while the server runs. */
  readonly zone: Map<string, TxtRecords>
}

const HEAD_BYTES = 12
const TXT = 16
const IN = 1
/** Codes of RFC 1035, section 4.1.1. */
const RCODE = { ok: 0, broken: 2, noSuchName: 3 } as const
/** A response to a recursive query. */
const FLAGS = 0x8180

/** A DNS server on loopback that answers queries for TXT records (RFC 1035) over UDP. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone: DnsServer['zone'] = new Map()
  const socket: Socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const answer = answerTo(query, zone)
    if (answer !== null) socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zone,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function answerTo(query: Buffer, zone: DnsServer['zone']): Buffer | null {
  const { host, end } = readName(query)
  const isTxt = query.readUInt16BE(end) === TXT
  const question = query.subarray(HEAD_BYTES, end + 4)
  const records = zone.get(host)
  if (records === 'silent') return null
  if (records === 'broken') return message(query, 'broken', question)
  if (records === undefined) return message(query, 'noSuchName', question)
  return message(query, 'ok', question, isTxt ? records.map(toRecord) : [])
}

function readName(query: Buffer): { host: string; end: number } {
  const labels: string[] = []
  let at = HEAD_BYTES
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { host: labels.join('.').toLowerCase(), end: at + 1 }
}

function message(
  query: Buffer,
  rcode: keyof typeof RCODE,
  question: Buffer,
  records: readonly Buffer[] = [],
): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(FLAGS | RCODE[rcode], 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  return Buffer.concat([head, question, ...records])
}

/** Cuts the text into strings of at most 255 bytes (RFC 1035, section 3.3). */
function toRecord(text: string): Buffer {
  const parts = text.match(/.{1,255}/gs) ?? ['']
  const data = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])))
  const head = Buffer.alloc(HEAD_BYTES)
  // A pointer to the name in the question.
  head.writeUInt16BE(0xc000 | HEAD_BYTES, 0)
  head.writeUInt16BE(TXT, 2)
  head.writeUInt16BE(IN, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
