import { readConfig } from '../../lib/config/config.ts'
import { UsageError } from './run.ts'

interface UrlOption {
  readonly name: '--to' | '--from'
  readonly url: string | undefined
}

/** The settings with the database that the option names, or else MERIDIAN_DATABASE_URL. */
export function readPostgres({ name, url }: UrlOption, usage: string) {
  const { MERIDIAN_DATABASE_URL: set } = process.env
  const config = readConfig({ ...process.env, MERIDIAN_DATABASE_URL: url ?? set })
  const { postgres, dataDir } = config
  if (postgres === undefined) throw new UsageError(`${name} is missing`, usage)
  return { postgres, dataDir }
}
