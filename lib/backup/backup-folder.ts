import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const NAME = /^meridian-(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)Z\.tar\.gz$/

/** A backup that has the name of its time. */
export interface KeptBackup {
  readonly path: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Name of a backup made at `now`: meridian-2026-01-31T120000Z.tar.gz. */
export function backupName(now: number): string {
  const time = new Date(now).toISOString().replaceAll(':', '').replace(/\.\d+/, '')
  return `meridian-${time}.tar.gz`
}

/** The backups in `directory`, latest first. Files of other names are nobody's. */
export async function listBackups(directory: string): Promise<KeptBackup[]> {
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

/** Removes all but the latest `keep` backups. Returns those that it has removed. */
export async function removeOldBackups(directory: string, keep: number): Promise<KeptBackup[]> {
  const old = (await listBackups(directory)).slice(keep)
  for (const { path } of old) await rm(path)
  return old
}
