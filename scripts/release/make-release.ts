import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { create, extract } from 'tar'

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
  /** The paths of the archive of the files, and of those with packages. A checksum is beside each. */
  readonly archives: readonly string[]
}

/** https://semver.org, without build metadata. */
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/
const CHANGELOG = 'CHANGELOG.md'
/** Linux machines for which packages are packed: there, npm ci may have too little memory. */
const MACHINES = ['x64', 'arm64']
/** Half of a package that nobody reads. */
const UNREAD = 'node_modules/@ip-location-db/asn/*-num.csv'

/**
 * Makes a release in the repository: commits the dated changelog and the version, tags the commit and
 * packs its files, also with the packages for each machine. Throws before it changes anything if the repository is not ready.
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
  mkdirSync(out, { recursive: true })
  const name = `meridian-${version}`
  const files = packFiles(repository, tag, join(out, name))
  return { tag, archives: [files, ...MACHINES.map((cpu) => packInstalled(files, name, cpu))] }
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

/** Packs the files of the tag into an archive at `path`. */
function packFiles(repository: string, tag: string, path: string): string {
  const archive = `${path}.tar.gz`
  const prefix = `--prefix=${basename(path)}/`
  execIn(repository, 'git', ['archive', prefix, `--output=${archive}`, tag])
  return withChecksum(archive)
}

/** Packs what is in `files`, in the folder `name`, with the packages of a Linux machine. */
function packInstalled(files: string, name: string, cpu: string): string {
  const archive = files.replace(/\.tar\.gz$/, `-linux-${cpu}.tar.gz`)
  const work = mkdtempSync(`${files}.work-`)
  try {
    extract({ file: files, cwd: work, sync: true })
    const folder = join(work, name)
    const machine = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
    execIn(folder, 'npm', ['ci', '--omit=dev', '--ignore-scripts', ...machine])
    for (const path of globSync(UNREAD, { cwd: folder })) rmSync(join(folder, path))
    create({ file: archive, cwd: work, gzip: true, portable: true, sync: true }, [name])
  } finally {
    rmSync(work, { recursive: true })
  }
  return withChecksum(archive)
}

/** Writes the checksum beside the archive, as sha256sum does. */
function withChecksum(archive: string): string {
  const hash = createHash('sha256').update(readFileSync(archive)).digest('hex')
  writeFileSync(`${archive}.sha256`, `${hash}  ${basename(archive)}\n`)
  return archive
}

function execIn(cwd: string, command: string, args: readonly string[]): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
