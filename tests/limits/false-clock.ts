import assert from 'node:assert/strict'
import { globSync, writeFileSync } from 'node:fs'
import type { Settings } from '../e2e/process.ts'

const LIBRARY = '/usr/lib/*/faketime/libfaketime.so.1'

/**
 * Settings of a process whose wall clock goes wrong by what `file` says, such as `+1d`, about a
 * second after it says so. The monotonic clock stays right, as in a machine whose clock is set.
 */
export function falseClock(file: string): Settings {
  const [library] = globSync(LIBRARY)
  assert.ok(library, `libfaketime is needed at ${LIBRARY}: install the package faketime`)
  writeFileSync(file, '+0')
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}
