import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openSecrets } from '../secrets.ts'
import { type Finding, ok, reasonOf, warning, wrong } from './finding.ts'

/** The data folder: who may look into it, whose the files are, and whether the secrets can be used. */
export function checkFolder(dataDir: string): Finding[] {
  if (!existsSync(dataDir)) {
    return [warning(`There is no ${dataDir} yet`, 'start the server once')]
  }
  const { mode, uid } = lstatSync(dataDir)
  const findings = [
    ...((mode & 0o077) === 0
      ? []
      : [wrong(`Others may look into ${dataDir}`, `chmod 700 ${dataDir}`)]),
    ...foreignFiles(dataDir, uid),
    ...badSecrets(dataDir),
  ]
  return findings.length > 0 ? findings : [ok(`${dataDir}: only its owner may look into it`)]
}

/** Who runs a command as another user leaves files that the server cannot write. */
function foreignFiles(dataDir: string, owner: number): Finding[] {
  return readdirSync(dataDir)
    .map((name) => join(dataDir, name))
    .filter((path) => lstatSync(path).uid !== owner)
    .map((path) =>
      wrong(
        `${path} has another owner than ${dataDir}`,
        `chown it, and run all commands as the user of the server`,
      ),
    )
}

function badSecrets(dataDir: string): Finding[] {
  if (!existsSync(join(dataDir, 'secrets.json'))) return []
  try {
    openSecrets(dataDir)
    return []
  } catch (error) {
    const advice = 'do what it says; without its secrets, all who are signed in must sign in again'
    return [wrong(reasonOf(error), advice)]
  }
}
