import { open } from 'node:fs/promises'

/** Waits until the disk has the file, or the names in the folder. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
