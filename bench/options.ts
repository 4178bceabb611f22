import { linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONAL } from '../lib/geo/files/source-files.ts'
import { compileLists } from '../lib/geo/network-lists/compile-lists.ts'
import { FREE_LISTS } from '../lib/geo/network-lists/free-lists.ts'
import { ipv4FromBits } from '../lib/parts/net/address.ts'
import { createRandom } from '../scripts/parts/random.ts'
import { randomMix, writeAddresses } from './parts/addresses.ts'
import { driveInRounds } from './parts/load.ts'
import { makeFolder } from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { startMeridian } from './parts/servers.ts'
import { printTable } from './parts/table.ts'

const ADDRESSES = 1_000_000
/** About as many as all lists have together. */
const LISTED_NETWORKS = 100_000
const QUERIES = ['', '?include=network', '?include=privacy', '?include=privacy,network', '?lang=de']

/** Measures what the options of a look-up cost, with lists of networks for `include=privacy`. */
export async function benchOptions(options: BenchOptions): Promise<void> {
  using folder = makeFolder()
  const geoFolder = join(folder.path, 'geo-with-lists')
  addLists(options.geoFolder, geoFolder)
  await using target = await startMeridian(folder.path, geoFolder)
  const { addresses } = randomMix(ADDRESSES)
  const trials = QUERIES.map((query, at) => {
    const mix = { name: `addresses-${at}`, addresses: addresses.map((text) => text + query) }
    const args = { addresses: writeAddresses(folder.path, mix) }
    return { query, target, load: { args } }
  })
  const results = await driveInRounds(trials, options)
  const plain = results[0]?.measured['CPU µs/request'] ?? Number.NaN
  const rows = results.map(({ query, measured }) => ({
    options: query === '' ? 'none' : query,
    ...measured,
    'CPU ÷ none': (measured['CPU µs/request'] / plain).toFixed(2),
  }))
  printTable(rows)
}

/** Fills `folder` with the databases of `geoFolder` and a list of random networks, from /16 to /28. */
function addLists(geoFolder: string, folder: string): void {
  mkdirSync(folder)
  for (const name of readdirSync(geoFolder)) linkSync(join(geoFolder, name), join(folder, name))
  const random = createRandom(3)
  const networks = Array.from({ length: LISTED_NETWORKS }, () => {
    const prefix = 16 + Math.floor(random() * 13)
    const bits = Math.floor(random() * 2 ** prefix) * 2 ** (32 - prefix)
    return { address: ipv4FromBits(bits | 0), prefix }
  })
  const [list] = FREE_LISTS
  if (list === undefined) throw new Error('Cannot measure: there is no list')
  writeFileSync(join(folder, OPTIONAL.lists), compileLists([{ list, networks }], Date.now()))
}
