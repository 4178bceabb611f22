import { mkdirSync } from 'node:fs'

/** Makes the data folder where it is missing; only its owner may look into it. */
export function makeDataDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
}
