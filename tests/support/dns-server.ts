import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'

/** The TXT or PTR records of a host; `broken`: the server fails; `silent`: it does not answer. */
export type Records = readonly string[] | 'broken' | 'silent'

export interface DnsServer extends AsyncDisposable {
  /** Address and port, as `setServers` takes them. */
  readonly address: string
  /** By host; any other host does not exist. Tests change it while the server runs. */
  readonly zone: Map<string, Records>
  /** The hosts that were asked for, in order. */
  readonly asked: readonly string[]
}

const HEAD_BYTES = 12
const PTR = 12
const TXT = 16
const IN = 1
/** Codes of RFC 1035, section 4.1.1. */
const RCODE = { ok: 0, broken: 2, noSuchName: 3 } as const
/** A response to a recursive query. */
const FLAGS = 0x8180

/** A DNS server on loopback that answers queries for TXT and PTR records (RFC 1035) over UDP. */
export async function startDnsServer(): Promise<DnsServer> {
  const zone: DnsServer['zone'] = new Map()
  const asked: string[] = []
  const socket: Socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    asked.push(readName(query).host)
    const answer = answerTo(query, zone)
    if (answer !== null) socket.send(answer, port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    zone,
    asked,
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function answerTo(query: Buffer, zone: DnsServer['zone']): Buffer | null {
  const { host, end } = readName(query)
  const encode = ENCODERS[query.readUInt16BE(end)]
  const question = query.subarray(HEAD_BYTES, end + 4)
  const records = zone.get(host)
  if (records === 'silent') return null
  if (records === 'broken') return message(query, 'broken', question)
  if (records === undefined) return message(query, 'noSuchName', question)
  return message(query, 'ok', question, encode === undefined ? [] : records.map(encode))
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

const ENCODERS: Readonly<Record<number, (text: string) => Buffer>> = {
  [TXT]: (text) => toRecord(TXT, strings(text.match(/.{1,255}/gs) ?? [''])),
  [PTR]: (name) => toRecord(PTR, strings([...name.split('.'), ''])),
}

/** Strings with their lengths, at most 255 bytes each (RFC 1035, section 3.3). */
function strings(parts: readonly string[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])))
}

function toRecord(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  // A pointer to the name in the question.
  head.writeUInt16BE(0xc000 | HEAD_BYTES, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(IN, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
