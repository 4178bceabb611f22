import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Reader } from 'mmdb-lib'
import { type Address, parseAddress } from '../../lib/address.ts'
import { openDatabase } from '../../lib/geo/database.ts'
import { describe } from '../../lib/geo/describe.ts'
import { locate } from '../../lib/geo/locate.ts'
import { openBytes } from '../../lib/geo/mapped-file.ts'
import { openMmdb } from '../../lib/geo/mmdb.ts'
import { randomMix, zipfMix } from './addresses.ts'
import { machine } from './machine.ts'
import { markdownTable, median } from './table.ts'

interface Contest {
  readonly name: string
  /** Returns something of what was found, so that nothing is optimised away. */
  readonly lookUp: (address: Address) => number
}

const ADDRESSES = 200_000
const PASSES = 5

/** Measures look-ups in the GeoLite2 City file at `path` by themselves. Returns a table. */
export async function benchLookup(path: string): Promise<string> {
  const mixes = [randomMix(ADDRESSES), zipfMix(ADDRESSES)].map(({ addresses }) =>
    addresses.map(parseAddress).filter((address) => address !== null),
  )
  const rows: (string | number)[][] = []
  for (const contest of await openContests(path)) {
    const [random = Number.NaN, zipf = Number.NaN] = mixes.map((mix) => microseconds(contest, mix))
    rows.push([contest.name, random, 1e6 / random, zipf, 1e6 / zipf])
  }
  const rate = mmdblookupRate(path)
  if (rate !== undefined) {
    rows.push(['mmdblookup --benchmark (C)', 1e6 / rate, rate, Number.NaN, Number.NaN])
  }
  return markdownTable(['', 'random µs', 'per second', 'zipf µs', 'per second'], rows)
}

async function openContests(path: string): Promise<Contest[]> {
  const { bytes } = await openBytes(path, true)
  const mmdb = openMmdb(bytes)
  const database = await openDatabase(path, { map: true, regionCode: () => undefined })
  const databases = [database]
  const reader = new Reader<object & ReturnType<Reader<never>['get']>>(readFileSync(path))
  const options = { now: Date.now(), degraded: false }
  return [
    { name: 'find the record', lookUp: (address) => mmdb.find(address) },
    {
      name: 'find and read the record',
      lookUp: (address) => database.find(address).place?.level ?? 0,
    },
    {
      name: 'locate and describe as JSON',
      lookUp: (address) => describe(address, locate(databases, address), options).json.length,
    },
    { name: 'mmdb-lib Reader.get', lookUp: ({ text }) => (reader.get(text) === null ? 0 : 1) },
  ]
}

/** Median over the passes, after one to warm up. */
function microseconds({ lookUp }: Contest, addresses: readonly Address[]): number {
  const times: number[] = []
  let found = 0
  for (let pass = 0; pass <= PASSES; pass++) {
    const startedAt = performance.now()
    for (const address of addresses) found += lookUp(address)
    if (pass > 0) times.push(((performance.now() - startedAt) * 1000) / addresses.length)
  }
  if (found === 0) throw new Error('Cannot measure: nothing was found')
  return median(times)
}

function mmdblookupRate(path: string): number | undefined {
  if (!machine.hasMmdblookup) return undefined
  const args = ['--file', path, '--benchmark', String(ADDRESSES)]
  const text = execFileSync('mmdblookup', args, { encoding: 'utf8' })
  const rate = /([\d.]+) lookups per second/.exec(text)?.[1]
  return rate === undefined ? undefined : Number(rate)
}
