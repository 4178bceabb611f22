import { open } from 'node:fs/promises'

/** Waits until a file, or the list of names in a folder, is on disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
