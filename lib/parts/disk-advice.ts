import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, reasonOf } from './reason.ts'
import { MB, sizeText } from './size-text.ts'

/** With less free space, the doctor's finding is `wrong`. */
export const MIN_FREE_BYTES = 100 * MB

/** Codes of file and SQLite errors that the disk, permissions or a file in the way may cause. */
const DISK =
  /^(ENOSPC|EDQUOT|EROFS|EIO|EACCES|EPERM|EEXIST|ENOTDIR|SQLITE_(FULL|IOERR|READONLY|CANTOPEN)(_\w+)?)$/

/**
 * Adds the path and advice to a disk error. The new error has no `cause`, because callers would
 * show that instead. Returns other errors unchanged. `needed`: bytes.
 */
export function explainWrite(path: string, cause: unknown, needed = MIN_FREE_BYTES): unknown {
  const advice = diskAdvice(path, cause, needed)
  if (advice === '') return cause
  return new Error(`Cannot write ${path}: ${reasonOf(cause)}; ${advice}`)
}

/** Texts of sizes are rounded, and less than what is needed would not do. */
const ROUNDING = MB / 20

/**
 * Says what is wrong with the disk of `path` and what to do, if the disk may have caused the error; ''
 * otherwise. `needed`: bytes that must be free.
 */
export function diskAdvice(path: string, error: unknown, needed = MIN_FREE_BYTES): string {
  const code = codeOf(error)
  if (!DISK.test(code)) return ''
  const folder = dirname(path)
  if (code === 'EEXIST') return toFolder(path)
  const problem = writeProblem(folder)
  if (problem !== '') return folderAdvice(folder, problem)
  if (code === 'EACCES' || code === 'EPERM') return 'change the owner of that file to this user'
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free < needed) {
    return `${sizeText(free)} are free on the disk of ${folder}: make room for ${sizeText(needed + ROUNDING)}`
  }
  if (/ENOSPC|EDQUOT|FULL/.test(code)) {
    return `${sizeText(free)} are free on the disk of ${folder}: check quotas and inodes (df -i)`
  }
  return `check whether the disk of ${folder} is failing (dmesg), and who owns ${path}`
}

function folderAdvice(folder: string, problem: string): string {
  if (problem === 'ENOTDIR') return toFolder(folder)
  if (problem === 'EROFS') {
    return `the disk of ${folder} is read-only: see dmesg, repair it or mount it writable`
  }
  return `this user cannot write into ${folder} (${problem}): create it or change its owner`
}

function toFolder(path: string): string {
  return `${path} must be a folder: move the file with that name away`
}

/** Returns the code of the error that prevents writing into the folder, such as EROFS, or ''. */
export function writeProblem(folder: string): string {
  try {
    if (!statSync(folder).isDirectory()) return 'ENOTDIR'
    accessSync(folder, constants.W_OK)
    return ''
  } catch (error) {
    return codeOf(error)
  }
}
