import { open, stat } from 'node:fs/promises'

/** Waits until a file, or the list of names in a folder, is on disk. */
export async function syncPath(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory()
  // Windows has no such call for folders. NTFS keeps a journal of their names.
  if (isFolder && process.platform === 'win32') return
  // Windows syncs a file only if it is open for writing.
  const file = await open(path, isFolder ? 'r' : 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
