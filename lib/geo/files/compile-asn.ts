import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { csvParseRows } from 'd3-dsv'
import { parseAddress } from '../../parts/net/address.ts'
import { createMmdbWriter } from '../mmdb/writer.ts'

/** Bytes of a file that are in memory at once. */
const BLOCK = 256 * 1024

/**
 * Compiles CSV files of `first,last,number,organization` into one database in the layout of
 * MaxMind's ASN files, IPv4 and IPv6. `builtAt` is in epoch milliseconds; `onProgress` gets the
 * completed share, 0 to 1. Throws an error that names the line it cannot read.
 */
export function compileAsn(
  paths: readonly string[],
  builtAt: number,
  onProgress: (share: number) => void,
): Buffer {
  const writer = createMmdbWriter({
    databaseType: 'ip-location-db-ASN',
    description: 'ASN by RouteViews, NRO and DB-IP, compiled from the CSV of ip-location-db',
    builtAt,
    ipVersion: 6,
  })
  for (const [at, path] of paths.entries()) {
    let line = 0
    for (const { rows, share } of readBlocks(path)) {
      for (const row of rows) {
        line += 1
        const { first, last, owner } = readRow(row) ?? refuse(path, line)
        writer.insertRange(first, last, owner)
      }
      onProgress((at + share) / paths.length)
    }
  }
  return writer.toBytes()
}

/** Reads the rows, which contain no line breaks, in blocks. `share` of the file precedes the block. */
function* readBlocks(path: string) {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const block = Buffer.alloc(BLOCK)
    const decoder = new StringDecoder('utf8')
    let text = ''
    let done = 0
    for (let length = -1; length !== 0; done += length) {
      length = readSync(file, block)
      text += length === 0 ? '' : decoder.write(block.subarray(0, length))
      const end = length === 0 ? text.length : text.lastIndexOf('\n') + 1
      yield { rows: csvParseRows(text.slice(0, end)), share: done / size }
      text = text.slice(end)
    }
  } finally {
    closeSync(file)
  }
}

function readRow([start = '', end = '', number = '', organization = '']: readonly string[]) {
  const first = parseAddress(start)
  const last = parseAddress(end)
  if (first === null || last === null || !/^\d{1,10}$/.test(number)) return null
  const owner = {
    autonomous_system_number: Number(number),
    // A copy: a part of the block's text would keep the whole block in memory.
    autonomous_system_organization: Buffer.from(organization).toString(),
  }
  return { first, last, owner }
}

function refuse(path: string, line: number): never {
  throw new Error(`Cannot compile ${path}: line ${line} is not first,last,number,organization`)
}
