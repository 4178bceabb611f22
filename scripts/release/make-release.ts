import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'

interface ReleaseOptions {
  /** The folder of the repository. */
  readonly repository: string
  /** Such as 1.2.3. */
  readonly version: string
  /** Such as 2026-01-31. */
  readonly date: string
  /** The folder for the archive, as an absolute path. */
  readonly out: string
}

interface Release {
  readonly tag: string
  /** The path of the archive; its checksum is beside it. */
  readonly archive: string
}

/** https://semver.org, without build metadata. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/
const CHANGELOG = 'CHANGELOG.md'

/**
 * Makes a release in the repository: commits the dated changelog and the version, tags the commit and
 * packs its files. Throws before it changes anything if the repository is not ready.
 */
export function makeRelease({ repository, version, date, out }: ReleaseOptions): Release {
  const git = (...args: readonly string[]) => execIn(repository, 'git', args)
  const tag = `v${version}`
  if (!VERSION.test(version)) {
    throw new Error(`The version must be one such as 1.2.3, got "${version}"`)
  }
  if (git('status', '--porcelain') !== '') {
    throw new Error('The repository has changes: commit them, or put them aside')
  }
  if (git('tag', '--list', tag) !== '') throw new Error(`There is a tag ${tag} already`)
  const path = join(repository, CHANGELOG)
  const { changelog, section } = dateSection(readFileSync(path, 'utf8'), version, date)
  // Fails without a name and an address for the commit.
  git('var', 'GIT_COMMITTER_IDENT')

  writeFileSync(path, changelog)
  const quiet = ['--no-git-tag-version', '--allow-same-version', '--ignore-scripts']
  execIn(repository, 'npm', ['version', version, ...quiet])
  git('commit', '--all', `--message=release: ${version}`)
  // Otherwise Git would remove the headings, which begin with #.
  git(
    'tag',
    '--annotate',
    '--cleanup=whitespace',
    `--message=Meridian ${version}\n\n${section}`,
    tag,
  )
  return { tag, archive: pack(repository, tag, out) }
}

/** Puts the date into the heading of the section of `version`, and returns the section's text. */
export function dateSection(text: string, version: string, date: string) {
  const heading = `## [${version}] - unreleased`
  const [before = '', after, ...more] = text.split(`${heading}\n`)
  if (after === undefined || more.length > 0) {
    throw new Error(`${CHANGELOG} must have one heading "${heading}"`)
  }
  const [section = ''] = after.split(/^## /m)
  if (!/^- \S/m.test(section)) throw new Error(`${CHANGELOG} lists no changes of ${version}`)
  const changelog = `${before}## [${version}] - ${date}\n${after}`
  return { changelog, section: section.trim() }
}

/** Packs the files of the tag, and writes the checksum as sha256sum does. */
function pack(repository: string, tag: string, out: string): string {
  mkdirSync(out, { recursive: true })
  const name = `meridian-${tag.slice(1)}`
  const archive = join(out, `${name}.tar.gz`)
  execIn(repository, 'git', ['archive', `--prefix=${name}/`, `--output=${archive}`, tag])
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
  writeFileSync(`${archive}.sha256`, `${hash}  ${basename(archive)}\n`)
  return archive
}

function execIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
