import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'

/** Where the bytes of an opened file live. */
export type Residence = 'mapped' | 'read'

export interface FileBytes {
  readonly bytes: Buffer
  readonly residence: Residence
}

/**
 * Opens `path` for reading, memory-mapped where `map` is true and the platform can, else read
 * whole. Map only files that nobody truncates or rewrites: touching a truncated mapping ends the
 * process with SIGBUS. A late read of what is unmapped would end it as well: so a mapping is
 * unmapped when the garbage collector has found that nothing refers to its bytes any more.
 */
export async function openBytes(path: string, map: boolean): Promise<FileBytes> {
  const mapped = map ? await mapBytes(path) : null
  return mapped === null
    ? { bytes: readFileSync(path), residence: 'read' }
    : { bytes: mapped, residence: 'mapped' }
}

const PROT_READ = 1
const MAP_SHARED = 1
/** What mmap(2) answers on failure: (void *)-1 as an unsigned 64-bit integer. */
const MAP_FAILED = 0xffff_ffff_ffff_ffffn

/** As `openBytes`, but null where the platform cannot map. */
export async function mapBytes(path: string): Promise<Buffer | null> {
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

/** null where there is no koffi build, no libc or no mmap: Windows, for one. */
async function loadMmap(): Promise<Mmap | null> {
  try {
    const { default: koffi } = await import('koffi')
    const libc = koffi.load(process.platform === 'darwin' ? 'libSystem.dylib' : 'libc.so.6')
    const mmap = libc.func('void *mmap(void *, size_t, int, int, int, int64_t)')
    const munmap = libc.func('int munmap(void *, size_t)')
    const unused = new FinalizationRegistry<() => void>((unmap) => unmap())
    return (file, size) => {
      const pointer: unknown = mmap(null, size, PROT_READ, MAP_SHARED, file, 0)
      if (pointer === null || koffi.address(pointer) === MAP_FAILED) return null
      const bytes = koffi.view(pointer, size)
      unused.register(bytes, () => munmap(pointer, size))
      return Buffer.from(bytes)
    }
  } catch {
    return null
  }
}
