import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

const NAME = /^meridian-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz$/

/** The name of a backup made at `now`, such as meridian-2026-01-31T120000Z.tar.gz. */
export function backupName(now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '').replace(/\.\d+/, '')
  return `meridian-${time}.tar.gz`
}

export interface Backup {
  readonly path: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** The backups in `directory`, latest first. */
export async function listBackups(directory: string): Promise<Backup[]> {
  const names = await readdir(directory).catch(() => [])
  return names
    .flatMap((name) => {
      const [, day, hour, minute, second] = NAME.exec(name) ?? []
      if (day === undefined) return []
      const createdAt = Date.parse(`${day}T${hour}:${minute}:${second}Z`)
      return [{ path: join(directory, name), createdAt }]
    })
    .toSorted((a, b) => b.createdAt - a.createdAt)
}

/** Removes all but the latest `keep` backups. Returns the removed ones. */
export async function removeOldBackups(directory: string, keep: number) {
  const old = (await listBackups(directory)).slice(keep)
  for (const { path } of old) await unlink(path)
  return old
}
