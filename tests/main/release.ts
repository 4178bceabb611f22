import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Copies all files of this repository that are under version control. */
export function copyFiles(folder: string): void {
  const names = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n')
  for (const name of names) cpSync(name, join(folder, name))
}

/** Does what `npm ci` does, without a registry. */
export function copyPackages(folder: string): void {
  // Links are quick to make, but only within one disk.
  if (spawnSync('cp', ['-al', 'node_modules', folder]).status === 0) return
  cpSync('node_modules', join(folder, 'node_modules'), { recursive: true, verbatimSymlinks: true })
}

/**
 * Makes a Git repository of these files, with the branch main and the tag `next`, whose package has
 * this version.
 */
export function makeRepository(folder: string, version: string): void {
  copyFiles(folder)
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd: folder,
      stdio: 'ignore',
    })
  git('init', '--initial-branch=main')
  git('add', '--all', '--force')
  git('commit', '--message=This version')
  execFileSync('npm', ['pkg', 'set', `version=${version}`], { cwd: folder, stdio: 'ignore' })
  git('commit', '--all', '--message=The next version')
  git('tag', 'next')
  git('reset', '--hard', 'HEAD~1')
}

/**
 * Makes commands that stand in for those of an operator's machine, and returns their folder. `npm ci` copies
 * our packages. `systemctl` and `useradd` need root, so they fail in what `sudo -u meridian` runs. `systemctl`
 * starts the server by making the file `wanted`, and stops the process whose id its supervisor keeps in
 * `pidFile`.
 */
export function makeCommands(
  folder: string,
  { pidFile, wanted }: { readonly pidFile: string; readonly wanted: string },
): string {
  mkdirSync(folder)
  const packages = resolve('node_modules')
  const make = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder, name), ['#!/bin/sh -eu', ...lines, ''].join('\n'), { mode: 0o755 })
  const asRoot = '! printenv SUDO_TO >/dev/null || { echo "$0: not root" >&2; exit 1; }'
  make('npm', [
    `[ "$1" = ci ] || PATH="${process.env['PATH']}" exec npm "$@"`,
    `cp -al "${packages}" . 2>/dev/null || cp -a "${packages}" .`,
  ])
  make('sudo', ['[ "$1 $2" = "-u meridian" ]', 'shift 2', 'SUDO_TO=meridian exec "$@"'])
  make('useradd', [asRoot])
  make('systemctl', [
    asRoot,
    'case "$1" in',
    `  enable | start) : >"${wanted}" ;;`,
    `  stop) rm "${wanted}"`,
    `    pid=$(cat "${pidFile}")`,
    '    kill -TERM "$pid"',
    '    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done ;;',
    'esac',
  ])
  return folder
}
