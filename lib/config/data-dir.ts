import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { explainWrite } from '../parts/disk-advice.ts'
import { codeOf, reasonOf } from '../parts/reason.ts'

/** The bit of folders in which everybody may make files, such as /tmp. */
const STICKY = 0o1000

/** What Meridian and Litestream make in a data folder, and mkfs in a new volume. */
const OURS =
  /^((app\.db|secrets\.json|server\.lock)([-.].*)?|proxy\.json|geo|backups|\.app\.db-litestream|litestream\.sock|\.partial-backup-.*|before-restore-.*|lost\+found)$/
/** The default plans, which every clone has in `data`. They are no secret, and other users of the clone read them. */
export const PLANS = 'plans.json'
const ANY = /^/

/** Whether the folder is as in a fresh clone: no server or command has used it yet. */
export function isUnused(path: string): boolean {
  return readdirSync(path).join() === PLANS
}

/**
 * Creates the data folder if it is missing, and makes it and our files in it private: only their
 * owner may read them. All files that this process makes later are private, too. Leaves files alone
 * that belong to another user or cannot be changed; the doctor reports them. Throws if the folder is
 * unfit: see `checkDataDir`.
 */
export function makeDataDir(path: string): void {
  process.umask(0o077)
  try {
    makeFolders(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw new Error(impossible(path), { cause })
    throw explainWrite(path, cause)
  }
  const folder = realpathSync(path)
  checkDataDir(folder)
  makeFolderPrivate(folder, OURS)
  for (const name of ['geo', 'backups']) makeFolderPrivate(join(folder, name), ANY)
}

/**
 * If root runs this process, makes it run as the owner of the data folder from now on, or of the folder
 * in which that will be made. Returns the owner's user id, or undefined if nothing changed. The owner can
 * replace files and folders in it by links at any moment: root would follow them to files of others.
 * Throws if the process may not change its user.
 */
export function becomeOwner(path: string): number | undefined {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = lstatSync(nearestFolder(resolve(path)))
  if (uid === 0) return
  try {
    changeUser(uid, gid)
  } catch (cause) {
    const owner = `user ${uid}, the owner of the data folder ${path}`
    throw new Error(`Cannot run as ${owner}: ${reasonOf(cause)}; run the command as that user`, {
      cause,
    })
  }
  return uid
}

function nearestFolder(path: string): string {
  return existsSync(path) ? realpathSync(path) : nearestFolder(dirname(path))
}

/** The user last: only root may change groups (SEI CERT POS36-C). */
function changeUser(uid: number, gid: number): void {
  const { setgroups, setgid, setuid } = process
  if (!(setgroups && setgid && setuid)) throw new Error('this runtime cannot change its groups')
  setgroups([gid])
  setgid(gid)
  setuid(uid)
}

/** Node.js's own recursion never ends where no folder can be made, such as in /proc. */
function makeFolders(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (!existsSync(parent)) makeFolders(parent)
  try {
    mkdirSync(path)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function impossible(path: string): string {
  return `Cannot make the data folder ${path}: ENOENT; set MERIDIAN_DATA_DIR to a folder on a disk`
}

/**
 * Throws if the folder is unfit:
 *
 * - we may not open it;
 * - it is open to other users and holds other files, which they may need, as in /var/lib;
 * - every user may write into it, and we may not change that.
 */
export function checkDataDir(folder: string): void {
  const problem = problemOf(folder)
  if (problem === undefined) return
  throw new Error(
    `Cannot use the data folder ${folder}: ${problem}; set MERIDIAN_DATA_DIR to a folder of its own, ` +
      'or make this one yours alone with chown and chmod 700',
  )
}

function problemOf(folder: string): string | undefined {
  if (!mayOpen(folder)) return 'this user may not open it'
  const mode = ownMode(folder)
  if (mode === undefined) {
    const isOpen = process.getuid !== undefined && (statSync(folder).mode & 0o002) !== 0
    return isOpen ? 'every user may write into it, as into /tmp' : undefined
  }
  if ((mode & 0o077) === 0) return undefined
  const other = readdirSync(folder).find((name) => !OURS.test(name) && name !== PLANS)
  return other && `it is open to other users and holds ${other}`
}

function mayOpen(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Leaves `secrets.json` alone: if others can read it, the secrets may be known, so the start must fail. */
function makeFolderPrivate(folder: string, ours: RegExp): void {
  // If it is a file instead of a folder, the code that needs the folder reports that.
  if (!makePrivate(folder) || !statSync(folder).isDirectory()) return
  for (const name of readdirSync(folder)) {
    if (ours.test(name) && name !== 'secrets.json') makePrivate(join(folder, name))
  }
}

/** Returns whether only this user can read the file now. */
function makePrivate(path: string): boolean {
  const mode = ownMode(path)
  if (mode === undefined) return false
  try {
    if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700)
    return true
  } catch {
    return false
  }
}

/** The mode if this user may make it private; undefined for links, /tmp and other users' files. */
function ownMode(path: string): number | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined || stats.isSymbolicLink() || stats.uid !== process.getuid?.()) return
  return (stats.mode & STICKY) === 0 ? stats.mode : undefined
}
