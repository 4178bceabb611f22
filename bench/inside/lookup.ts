import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Reader } from 'mmdb-lib'
import { locate } from '../../lib/geo/answer/locate.ts'
import { writeResult } from '../../lib/geo/answer/write-result.ts'
import { openDatabase } from '../../lib/geo/database.ts'
import { openBytes } from '../../lib/geo/files/mapped-file.ts'
import { PREPARED } from '../../lib/geo/files/prepare.ts'
import { openMmdb } from '../../lib/geo/mmdb/mmdb.ts'
import { type Address, parseAddress } from '../../lib/parts/net/address.ts'
import { randomMix, zipfMix } from '../parts/addresses.ts'
import { hasCommand } from '../parts/machine.ts'
import { medianTime } from '../parts/median.ts'
import type { BenchOptions } from '../parts/options.ts'
import { printTable } from '../parts/table.ts'

/** Returns part of the result, so that the look-up is not optimised away. */
type LookUp = (address: Address) => number

const ADDRESSES = 200_000
const PASSES = 5

/** Measures look-ups in GeoLite2 City without a server, and other readers of the same file. */
export async function benchLookup({ geoFolder }: BenchOptions): Promise<void> {
  const path = join(geoFolder, PREPARED.maxmindCity)
  const [random = [], zipf = []] = [randomMix(ADDRESSES), zipfMix(ADDRESSES)].map((mix) =>
    mix.addresses.map(parseAddress).filter((address) => address !== null),
  )
  const rows = await Array.fromAsync(await openReaders(path), async ([name, lookUp]) => ({
    '': name,
    'random µs': await microseconds(lookUp, random),
    'zipf µs': await microseconds(lookUp, zipf),
  }))
  if (hasCommand('mmdblookup')) {
    rows.push({
      '': 'mmdblookup --benchmark (C)',
      'random µs': 1e6 / mmdblookupRate(path),
      'zipf µs': Number.NaN,
    })
  }
  printTable(rows)
}

async function openReaders(path: string): Promise<[name: string, LookUp][]> {
  const { bytes } = await openBytes(path, true)
  const mmdb = openMmdb(bytes)
  const database = await openDatabase(path, { map: true, regionCode: () => undefined })
  const databases = [database]
  const reader = new Reader<object & ReturnType<Reader<never>['get']>>(readFileSync(path))
  const options = { now: Date.now(), degraded: false }
  return [
    ['find the record', (address) => mmdb.find(address)],
    ['find and read the record', (address) => database.find(address).place?.level ?? 0],
    [
      'locate and describe as JSON',
      (address) => writeResult(address, locate(databases, address), options).json.length,
    ],
    ['mmdb-lib Reader.get', ({ text }) => (reader.get(text) === null ? 0 : 1)],
  ]
}

async function microseconds(lookUp: LookUp, addresses: readonly Address[]): Promise<number> {
  let found = 0
  const time = await medianTime(PASSES, () => {
    for (const address of addresses) found += lookUp(address)
  })
  if (found === 0) throw new Error('Cannot measure: nothing was found')
  return (time * 1_000) / addresses.length
}

function mmdblookupRate(path: string): number {
  const args = ['--file', path, '--benchmark', String(ADDRESSES)]
  const text = execFileSync('mmdblookup', args, { encoding: 'utf8' })
  return Number(/([\d.]+) lookups per second/.exec(text)?.[1])
}
