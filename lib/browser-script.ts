import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

/** The script that measures pages, ready to be served. */
export interface BrowserScript {
  readonly code: Uint8Array<ArrayBuffer>
  /** The same, compressed: not every reverse proxy does that. */
  readonly gzipped: Uint8Array<ArrayBuffer>
  /** 16 hexadecimal digits that change with the code. */
  readonly hash: string
  /** As Subresource Integrity names it. */
  readonly integrity: string
}

const ENTRY = fileURLToPath(new URL('../web/rum/main.ts', import.meta.url))
/** Without the version of Meridian, so that a release that does not change the script keeps its hash. */
const BANNER = '/*! Meridian (MIT), web-vitals (Apache-2.0) */'

let loading: Promise<BrowserScript> | undefined

/** The script, bundled once per process when it is first asked for; after a failure, asked again. */
export function loadScript(): Promise<BrowserScript> {
  loading ??= bundle().catch((error) => {
    loading = undefined
    throw error
  })
  return loading
}

async function bundle(): Promise<BrowserScript> {
  const esbuild = await import('esbuild')
  const { outputFiles } = await esbuild.build({
    entryPoints: [ENTRY],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2020',
    // What has PerformanceNavigationTiming and runs ES2020 has fields; rewriting takes 100 bytes.
    supported: { 'class-field': true },
    banner: { js: BANNER },
    tsconfigRaw: {},
    logLevel: 'silent',
  })
  // Its process is needed no longer. That of tsx is another one.
  await esbuild.stop()
  const code = Buffer.concat(outputFiles.map(({ contents }) => contents))
  const digest = createHash('sha384').update(code).digest()
  return {
    code,
    gzipped: Buffer.from(gzipSync(code, { level: 9 })),
    hash: digest.toString('hex').slice(0, 16),
    integrity: `sha384-${digest.toString('base64')}`,
  }
}
