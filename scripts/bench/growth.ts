import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { report } from '../run.ts'
import { randomMix } from './addresses.ts'
import { DIMENSIONS, type Dimension } from './growth-dimensions.ts'
import { type Grown, type Measuring, measureGrown } from './growth-measure.ts'
import { plotGrowth, type Series } from './growth-plot.ts'
import { machine, moveToLoadCore } from './machine.ts'
import { markdownTable } from './table.ts'

export interface GrowthOptions {
  /** Fewer sizes, each measured once and for a shorter time. */
  readonly quick: boolean
  /** Where the plot is written. */
  readonly svgFile: string
  readonly geoFolder: string
  readonly print: (text: string) => void
}

const ADDRESSES = 1_000_000
const TITLES = [
  'requests/s',
  'CPU µs/request',
  'p50 ms',
  'p99 ms',
  'private MB',
  'mapped MB',
  'failed',
]

const QUICK = { rounds: 1, seconds: 2 }
const THOROUGH = { rounds: 3, seconds: 4 }

/** Measures what grows, size by size. Prints tables and writes a plot. */
export async function benchGrowth(options: GrowthOptions): Promise<void> {
  if (!machine.hasWrk) throw new Error('Cannot measure growth: wrk is missing')
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  moveToLoadCore()
  try {
    const addresses = writeAddresses(folder)
    const all: Series[] = []
    for (const dimension of DIMENSIONS) {
      const series = await measureDimension(dimension, addresses, options)
      const rows = series.steps.map(toRow)
      options.print(`\n${markdownTable([series.title, ...TITLES], rows)}`)
      all.push(series)
    }
    writeFileSync(options.svgFile, plotGrowth(all))
    options.print(`\nPlot: ${options.svgFile}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeAddresses(folder: string): Pick<Measuring, 'addresses' | 'addressFile'> {
  const { addresses } = randomMix(ADDRESSES)
  const addressFile = join(folder, 'addresses.txt')
  writeFileSync(addressFile, `${addresses.join('\n')}\n`)
  return { addresses, addressFile }
}

async function measureDimension(
  dimension: Dimension,
  addresses: ReturnType<typeof writeAddresses>,
  { quick, geoFolder }: GrowthOptions,
): Promise<Series> {
  const { title } = dimension
  const sizes = quick ? dimension.quickSizes : dimension.sizes
  const measuring = { ...addresses, ...(quick ? QUICK : THOROUGH) }
  const steps: Grown[] = []
  for (const size of sizes) {
    report(`Measuring ${title}: ${steps.length + 1} of ${sizes.length}`)
    steps.push(await measureSize(dimension, size, geoFolder, measuring))
  }
  return { title, steps }
}

async function measureSize(
  { start }: Dimension,
  size: number,
  geoFolder: string,
  measuring: Measuring,
): Promise<Grown> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-bench-'))
  try {
    const server = await start(size, folder, geoFolder)
    try {
      return await measureGrown(server, measuring)
    } finally {
      await server.target.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function toRow({ size, rate, cpu, p50, p99, own, mapped, failed }: Grown): number[] {
  return [size, rate, cpu, p50, p99, own, mapped, failed]
}
