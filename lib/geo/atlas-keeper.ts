import type { Address } from '../address.ts'
import type { Atlas } from './atlas.ts'
import type { Describable } from './describe.ts'
import type { SourceFile } from './source-files.ts'

/** Keeps the atlas of the files that are served, from when it has been made. */
export interface AtlasKeeper {
  /** undefined: there is no atlas yet, or none for such an address. */
  find(address: Address): Describable | undefined
  /** Whether there is one, of the files that are served. */
  isOpen(): boolean
  /** Other files are served from now on. */
  drop(): void
  /** Looks for the atlas of the files that are served. */
  adopt(files: readonly SourceFile[]): Promise<void>
}

export interface AtlasKeeperOptions {
  /** null: it has not been made. */
  readonly findAtlas: (files: readonly SourceFile[]) => Promise<Atlas | null>
  /**
   * Makes it, which takes much memory: called once for each set of files that has none, and not again
   * before it is done. Never rejects.
   */
  readonly make: () => Promise<void>
}

export function createAtlasKeeper({ findAtlas, make }: AtlasKeeperOptions): AtlasKeeper {
  let atlas: Atlas | null = null
  let isAsked = false
  let isMaking = false
  return {
    find: (address) => (address.version === 4 ? atlas?.find(address.bits) : undefined),
    isOpen: () => atlas !== null,
    drop: () => {
      atlas = null
      isAsked = false
    },
    adopt: async (files) => {
      if (atlas !== null) return
      atlas = await findAtlas(files)
      if (atlas !== null || isAsked || isMaking) return
      isAsked = true
      isMaking = true
      void make().finally(() => {
        isMaking = false
      })
    },
  }
}

/** For those who do not want one. */
export const NO_ATLAS: AtlasKeeper = {
  find: () => undefined,
  isOpen: () => false,
  drop: () => {},
  adopt: async () => {},
}
