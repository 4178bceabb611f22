import { existsSync } from 'node:fs'
import { chmod, link, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DATABASE } from '../../backup/manifest.ts'
import { withWorkFolder } from '../../backup/work-folder.ts'
import { type Secrets, writeSecrets } from '../../config/secrets.ts'
import { findDamage } from '../../db/database-file.ts'
import { lockDataDir } from '../../db/lock.ts'
import { explainWrite } from '../../parts/disk-advice.ts'
import { syncPath } from '../../parts/process/sync-path.ts'

/**
 * Lets `work` write a database file. The file gets its name only once it is complete and on disk, with
 * `secrets.json` beside it. Removes what an interrupted call has left. Throws if the file exists, if the
 * folder has other secrets, or if a server uses the folder.
 */
export async function writeTarget(
  path: string,
  work: (file: string) => Promise<Secrets>,
): Promise<void> {
  if (existsSync(path)) throw new Error(`The file ${path} already exists`)
  const folder = dirname(path)
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw explainWrite(folder, cause)
  })
  using _lock = lockDataDir(folder)
  await withWorkFolder(folder, async (partial) => {
    const file = join(partial, DATABASE)
    const secrets = await work(file)
    const [damage] = findDamage(file)
    if (damage !== undefined) throw new Error(`The copy is damaged: ${damage}`)
    await chmod(file, 0o600)
    await syncPath(file)
    writeSecrets(folder, secrets)
    // Unlike a new name, a link replaces no file that was made meanwhile.
    await link(file, path)
    await syncPath(folder)
  })
}
