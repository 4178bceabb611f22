import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeSource, SOURCES, type SourceName } from '../../lib/assets/sources.ts'
import { run } from '../parts/run.ts'
import { NODE_COMMAND } from '../parts/start-process.ts'
import { COMMANDS } from './commands.ts'
import { completionScripts, optionsIn } from './completion.ts'

/*
 * Makes what `npm pack` packs, in dist/: Node.js runs no TypeScript inside of node_modules. Run from
 * the root of a clone.
 */

const DIST = 'dist'
/** What the code reads, besides files that it imports. */
const DATA = ['data/plans.json', 'lib/{db,postgres}/migrations/*.sql']

/** The files of commands that are not in scripts/. */
const FILES: Readonly<Record<string, string>> = {
  start: 'server.ts',
  accuracy: 'scripts/accuracy/main.ts',
  grepip: 'scripts/address-lists/grepip.ts',
  locate: 'scripts/address-lists/locate.ts',
  map: 'scripts/address-lists/map.ts',
  summarize: 'scripts/address-lists/summarize.ts',
  import: 'scripts/move/import.ts',
  export: 'scripts/move/export.ts',
}

await run(async () => {
  rmSync(DIST, { recursive: true, force: true })
  const { status } = spawnSync('node_modules/.bin/tsc', ['-p', 'tsconfig.package.json'], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('Cannot compile the code')
  for (const path of globSync(DATA)) copy(path)
  for (const name of Object.keys(SOURCES)) {
    // safe: these are the keys of SOURCES
    write(join('assets', name), await makeSource(name as SourceName))
  }
  const options = new Map(Object.keys(COMMANDS).map((name) => [name, findOptions(name)]))
  for (const [shell, script] of Object.entries(completionScripts(options))) {
    write(join('completions', shell), script)
  }
  // npm packs no package-lock.json. Last, because npm ci in this clone would read it; postpack removes it.
  cpSync('package-lock.json', 'npm-shrinkwrap.json')
})

function copy(path: string): void {
  const target = join(DIST, path)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(path, target)
}

function write(path: string, data: string | Uint8Array): void {
  const target = join(DIST, path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, data)
}

/** Finds the options of a command in its usage. */
function findOptions(name: string): string[] {
  const file = FILES[name] ?? `scripts/${name}.ts`
  const [program, ...args] = [...NODE_COMMAND, file, '--help']
  return optionsIn(spawnSync(program, args, { encoding: 'utf8' }).stdout)
}
