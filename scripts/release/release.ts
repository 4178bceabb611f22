import { resolve } from 'node:path'
import * as v from 'valibot'
import { checkOptions, readArguments, TEXT } from '../parts/options.ts'
import { report, run, UsageError } from '../parts/run.ts'
import { makeRelease } from './make-release.ts'

const USAGE = `Usage: npm run --silent release -- VERSION [options]
Dates the section "## [VERSION] - unreleased" of CHANGELOG.md, sets the version of the package, commits,
tags vVERSION, and packs the files, also with the packages for Linux on x64 and arm64. Prints the paths of
the archives. Pushes nothing.
  --out FOLDER  for the archives and their checksums; default: dist`

const ReleaseOptions = v.strictObject({ out: v.optional(v.string(), 'dist') })

await run(async () => {
  const { values, positionals } = readArguments(
    { options: { out: TEXT }, allowPositionals: true },
    USAGE,
  )
  const { out } = checkOptions(ReleaseOptions, values, USAGE)
  const [version = '', ...others] = positionals
  if (others.length > 0) throw new UsageError(`Give one version, not ${positionals.length}`, USAGE)
  const date = new Date().toISOString().slice(0, 10)
  const { tag, archives } = makeRelease({ repository: '.', version, date, out: resolve(out) })
  process.stdout.write(archives.map((archive) => `${archive}\n`).join(''))
  report(`Look at it with git show ${tag}, then: git push --follow-tags`)
})
