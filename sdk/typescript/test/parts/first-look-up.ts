import { Meridian } from '../../src/index.ts'

/* Prints where an address is. The service's tests of processes run it on each runtime. */

const { MERIDIAN_URL = '', MERIDIAN_KEY = '' } = process.env
const client = new Meridian({ url: MERIDIAN_URL, key: MERIDIAN_KEY })
const [address = ''] = process.argv.slice(2)
const { location } = await client.locate(address)
process.stdout.write(`${location?.city ?? 'nobody knows'}\n`)
