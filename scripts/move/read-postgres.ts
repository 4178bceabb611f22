import { readConfig } from '../../lib/config/config.ts'
import { UsageError } from '../parts/run.ts'

interface UrlOption {
  readonly name: '--to' | '--from'
  readonly url: string | undefined
}

/** The settings with the database that the option names, or else MERIDIAN_DATABASE_URL. */
export function readPostgres({ name, url }: UrlOption, usage: string) {
  const { MERIDIAN_DATABASE_URL: set } = process.env
  const MERIDIAN_DATABASE_URL = url ?? set
  const missing = () => new UsageError(`${name} is missing`, usage)
  // Without it, the other settings would be wrong.
  if (!MERIDIAN_DATABASE_URL) throw missing()
  const { postgres, dataDir } = readConfig({ ...process.env, MERIDIAN_DATABASE_URL })
  if (postgres === undefined) throw missing()
  return { postgres, dataDir }
}
