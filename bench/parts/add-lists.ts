import { linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONAL } from '../../lib/geo/files/source-files.ts'
import { compileLists } from '../../lib/geo/network-lists/compile-lists.ts'
import { FREE_LISTS } from '../../lib/geo/network-lists/free-lists.ts'
import { ipv4FromBits } from '../../lib/parts/net/address.ts'
import { createRandom } from '../../scripts/parts/random.ts'

/** About as many as all lists have together. */
const LISTED_NETWORKS = 100_000

/** Fills `folder` with the databases of `geoFolder` and a list of random networks, from /16 to /28. */
export function addLists(geoFolder: string, folder: string): void {
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
