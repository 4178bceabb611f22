import assert from 'node:assert/strict'
import { globSync, writeFileSync } from 'node:fs'
import type { Settings } from '../support/process.ts'

const LIBRARY = '/usr/lib/*/faketime/libfaketime.so.1'

/**
 * Settings for a process whose wall clock is off by the text of `file`, such as `+1d`, at first `offset`. A change of
 * the file takes effect after about a second. The monotonic clock stays right, as on a real machine
 * whose clock is set.
 */
export function falseClock(file: string, offset = '+0'): Settings {
  const [library] = globSync(LIBRARY)
  assert.ok(library, `libfaketime is needed at ${LIBRARY}: install the package faketime`)
  writeFileSync(file, offset)
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
}
