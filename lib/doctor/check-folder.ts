import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { checkDataDir, isUnused, PLANS } from '../config/data-dir.ts'
import { openSecrets } from '../config/secrets.ts'
import { writeProblem } from '../parts/disk-advice.ts'
import { type Finding, ok, warning, wrong, wrongIfThrows } from './finding.ts'

/** Windows has access lists instead, which Node.js does not read. */
const HAS_MODES = process.getuid !== undefined

/** Checks the permissions of the data folder, the owner of its files, and the secrets. */
export function checkFolder(dataDir: string): Finding[] {
  if (!existsSync(dataDir)) return [notStarted(dataDir)]
  const folder = realpathSync(dataDir)
  const unfit = wrongIfThrows(() => checkDataDir(folder), 'do what the message says')
  if (unfit.length > 0) return unfit
  if (isUnused(folder)) return [notStarted(dataDir)]
  const { uid } = lstatSync(folder)
  const me = process.getuid?.() ?? uid
  const mayChange = me === uid || me === 0
  const findings = [
    ...closedToUs(folder),
    ...openToOthers(folder, mayChange),
    ...foreignFiles(folder, mayChange ? uid : me),
    ...badSecrets(folder),
  ]
  if (findings.length > 0) return findings
  return [
    ok(HAS_MODES ? `Other users cannot read ${folder}` : `This user can write into ${folder}`),
  ]
}

function notStarted(dataDir: string): Finding {
  return warning(`There is no data in ${dataDir} yet`, 'start the server once')
}

function closedToUs(folder: string): Finding[] {
  const problem = writeProblem(folder)
  // The check of the disk reports a read-only one.
  if (problem === '' || problem === 'EROFS') return []
  return [wrong(`This user cannot write into ${folder} (${problem})`, 'make this user its owner')]
}

/** Some platforms run containers under an arbitrary user, who shares only the group of a volume. */
function openToOthers(folder: string, mayChange: boolean): Finding[] {
  if (!HAS_MODES) return []
  const { mode } = lstatSync(folder)
  if ((mode & (mayChange ? 0o077 : 0o007)) === 0) return []
  const advice = mayChange ? `chmod 700 ${folder}` : 'make this user its owner, then chmod 700'
  return [wrong(`Other users can read ${folder}`, advice)]
}

/** A command that runs as another user leaves files that the server cannot write. */
function foreignFiles(dataDir: string, owner: number): Finding[] {
  return readdirSync(dataDir)
    .filter((name) => name !== 'lost+found' && name !== PLANS)
    .map((name) => join(dataDir, name))
    .filter((path) => lstatSync(path).uid !== owner)
    .map((path) =>
      wrong(
        `${path} belongs to another user`,
        'chown it, and run all commands as the user of the server',
      ),
    )
}

function badSecrets(dataDir: string): Finding[] {
  if (!existsSync(join(dataDir, 'secrets.json'))) return []
  const advice = 'do what the message says; with new secrets, all users must sign in again'
  return wrongIfThrows(() => openSecrets(dataDir), advice)
}
