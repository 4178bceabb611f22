import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../lib/config.ts'
import { makeDataDir } from '../lib/data-dir.ts'
import { openDatabase } from '../lib/geo/database.ts'
import { type Downloaded, downloadAll } from '../lib/geo/download.ts'
import { hasAccount } from '../lib/geo/download-sources.ts'
import { removeAbandoned, replaceFile } from '../lib/geo/file-swap.ts'
import { prepareGeo } from '../lib/geo/open-geo.ts'
import { compileOverlay } from '../lib/geo/overlay.ts'
import { type OnProgress, PREPARED } from '../lib/geo/prepare.ts'
import { createProgress } from '../lib/geo/progress.ts'
import { readRegions } from '../lib/geo/regions.ts'
import { OPTIONAL } from '../lib/geo/source-files.ts'
import { compileAtlas } from './compile-atlas.ts'
import { listDatabases } from './list-databases.ts'
import { run } from './run.ts'
import { isoDay } from './times.ts'

const USAGE = `Usage: npm run geo -- [options]
  (none)               prepare the bundled databases and list those that are served
  --download           first fetch DB-IP's file of the month and, if
                       MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY are set,
                       MaxMind's; an interrupted download is continued by the next
  --overlay FILE.csv   first put your own networks before all databases, one a line:
                       10.0.0.0/8,country=DE,region=DE-BE,city=Berlin,asn=AS64500
  --remove-overlay     first take them away again
  --atlas              only merge the databases that are served beforehand, for quicker look-ups;
                       a running server does that by itself
  --update             only do what --download does, and say only what fails; a running server
                       does that once a day by itself if these two are set
  --help               show this
The exit code is 1 if a file cannot be downloaded or used.
`

await run(async () => {
  const options = readOptions(process.argv.slice(2))
  if (options.help) process.stdout.write(USAGE)
  else await update(options, readConfig(process.env))
})

type Options = ReturnType<typeof readOptions>

function readOptions(args: string[]) {
  const flag = { type: 'boolean', default: false } as const
  const text = { type: 'string' } as const
  const options = {
    help: flag,
    download: flag,
    overlay: text,
    'remove-overlay': flag,
    atlas: flag,
    update: flag,
  }
  try {
    const { values } = parseArgs({ args, options })
    if (values.overlay === undefined || !values['remove-overlay']) return values
    throw new Error('--overlay and --remove-overlay cannot be used together')
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

async function update(options: Options, config: Config): Promise<void> {
  makeDataDir(config.dataDir)
  const directory = join(config.dataDir, 'geo')
  if (options.update) {
    await fetchAll(directory, config, () => {})
    return
  }
  const onProgress = createProgress(process.stderr)
  const findFiles = await prepareGeo({ directory, files: config.geo.files, onProgress })
  if (options.atlas) {
    await compileAtlas(config, findFiles, onProgress)
    return
  }
  if (options.overlay !== undefined) await writeOverlay(directory, options.overlay)
  if (options['remove-overlay']) await removeOverlay(directory)
  if (options.download) await download(directory, config)
  const { table, refusals } = await listDatabases(findFiles())
  process.stdout.write(table)
  for (const refusal of refusals) fail(refusal)
}

async function writeOverlay(directory: string, csvPath: string): Promise<void> {
  const bytes = compileOverlay(readCsv(csvPath), {
    builtAt: Date.now(),
    regionNames: readRegions(join(directory, PREPARED.regions)),
  })
  await removeAbandoned(directory)
  const path = await replaceFile(directory, OPTIONAL.overlay, async (partial) => {
    await writeFile(partial, bytes)
    await openDatabase(partial, { map: false, regionCode: () => undefined })
  })
  reportChange(`Compiled ${csvPath} to ${path}`)
}

function readCsv(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot read the overlay: ${reason}`, { cause })
  }
}

async function removeOverlay(directory: string): Promise<void> {
  const path = join(directory, OPTIONAL.overlay)
  const isThere = existsSync(path)
  await rm(path, { force: true })
  if (isThere) reportChange(`Removed ${path}`)
  else report('There is no overlay')
}

async function download(directory: string, config: Config): Promise<void> {
  if (!hasAccount(config.download)) {
    report('MaxMind: set MERIDIAN_MAXMIND_ACCOUNT_ID and MERIDIAN_MAXMIND_LICENSE_KEY to download')
  }
  const results = await fetchAll(directory, config, createProgress(process.stderr))
  for (const result of results) reportDownload(result)
  if (config.geo.files !== undefined) {
    report('MERIDIAN_GEO is set: the downloaded files are not among those that are served')
  }
}

async function fetchAll(
  directory: string,
  { download }: Config,
  onProgress: OnProgress,
): Promise<Downloaded[]> {
  const results = await downloadAll(directory, { ...download, now: Date.now(), onProgress })
  for (const result of results) {
    if (result.outcome === 'failed') fail(`${result.name}: ${result.reason}`)
  }
  return results
}

function reportDownload(result: Downloaded): void {
  const { name, outcome } = result
  if (outcome === 'up-to-date') report(`${name}: up to date`)
  if (outcome === 'installed') {
    reportChange(`${name}: downloaded, built ${isoDay(result.builtAt)}`)
  }
}

function reportChange(text: string): void {
  report(`${text}; a running server takes it over within a few seconds`)
}

function fail(text: string): void {
  report(text)
  process.exitCode = 1
}

/** On a terminal, a line of progress may stand where this is written. */
function report(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text}\n` : `${text}\n`)
}
