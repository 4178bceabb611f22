import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { totalMemory } from '../../parts/process/available-memory.ts'

/**
 * Maps the file into memory if `map` is true and the platform supports it; else reads it. Map only
 * files that are never truncated or rewritten: reading a truncated mapping kills the process
 * (SIGBUS). So does reading after unmapping: a mapping lasts until its bytes are garbage-collected.
 */
export async function openBytes(path: string, map: boolean) {
  const mapped = map ? await mapBytes(path) : null
  return { bytes: mapped ?? readFileSync(path), loadedBy: mapped === null ? 'reading' : 'mapping' }
}

const PROT_READ = 1
const MAP_SHARED = 1
/** For madvise(2), on Linux and macOS. */
const MADV_RANDOM = 1
/**
 * A file that takes a larger share of the memory does not stay in memory as a whole. For such a file the
 * system should read single pages: by default it reads their neighbours as well, and drops other pages.
 */
const LARGEST_SHARE = 0.25
/** What mmap(2) returns on failure: (void *)-1 as an unsigned 64-bit integer. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn

/** Maps the file. Returns null if the file is empty or the platform does not support mapping. */
async function mapBytes(path: string): Promise<Buffer | null> {
  loading ??= loadMmap()
  const mmap = await loading
  if (mmap === null) return null
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    return size === 0 ? null : mmap(file, size)
  } finally {
    closeSync(file)
  }
}

type Mmap = (file: number, size: number) => Buffer | null

let loading: Promise<Mmap | null> | undefined

/** Returns null if koffi, libc or mmap is missing, as on Windows. */
async function loadMmap(): Promise<Mmap | null> {
  try {
    const { default: koffi } = await import('koffi')
    const libc = koffi.load(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6')
    const mmap = libc.func('void *mmap(void *, size_t, int, int, int, int64_t)')
    const munmap = libc.func('int munmap(void *, size_t)')
    const madvise = libc.func('int madvise(void *, size_t, int)')
    const unused = new FinalizationRegistry<() => void>((unmap) => unmap())
    return (file, size) => {
      const pointer: unknown = mmap(null, size, PROT_READ, MAP_SHARED, file, 0)
      if (pointer === null || koffi.address(pointer) === MAP_FAILED) return null
      if (size > LARGEST_SHARE * totalMemory()) madvise(pointer, size, MADV_RANDOM)
      const bytes = koffi.view(pointer, size)
      unused.register(bytes, () => munmap(pointer, size))
      return Buffer.from(bytes)
    }
  } catch {
    return null
  }
}
