import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { processFolder } from './temp-folder.ts'

const folder = processFolder()
let written = 0

const plan = (id: string, price: number, monthlyCap: number, requestsPerMinute: number) => ({
  ...{ id, name: id, price, monthlyCap, requestsPerMinute, maxKeys: 10, maxSites: 10 },
})

/** Plans for tests; the last three have a rate limit that none reaches. */
export function plansFile(): string {
  return plansFileOf([
    plan('pro', 29, 100_000, 600),
    plan('fast', 1, 5_000, 1_000_000),
    plan('tiny', 2, 10, 1_000_000),
    plan('small', 3, 20, 1_000_000),
  ])
}

/** A file with the free plan and these. */
export function plansFileOf(plans: readonly object[]): string {
  return write([plan('free', 0, 5_000, 10), ...plans])
}

function write(plans: readonly object[]): string {
  written += 1
  const file = join(folder, `plans-${written}.json`)
  writeFileSync(file, JSON.stringify(plans))
  return file
}

const WIDE = {
  ...{ monthlyCap: 10 ** 9, requestsPerMinute: 10 ** 7 },
  ...{ maxKeys: 10 ** 6, maxSites: 10 ** 6 },
}

/** A file with the plan `free` and these, by their prices, all with limits that no test reaches. */
export function widePlansFile(prices: Readonly<Record<string, number>> = {}): string {
  const all = Object.entries({ free: 0, ...prices })
  return write(all.map(([id, price]) => ({ ...WIDE, id, name: id, price })))
}
