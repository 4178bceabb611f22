import { toAsset } from './asset.ts'
import { bundle } from './bundle.ts'
import { once } from './once.ts'

/** Without the version of Meridian, so that a release that does not change the script keeps its hash. */
const BANNER = '/*! Meridian (MIT), web-vitals (Apache-2.0) */'

/** The script that measures pages, bundled when it is first asked for. */
export const loadScript = once(async () => {
  const code = await bundle('rum/main.ts', {
    target: 'es2020',
    // What has PerformanceNavigationTiming and runs ES2020 has fields; rewriting takes 100 bytes.
    supported: { 'class-field': true },
    banner: { js: BANNER },
  })
  return toAsset(code)
})
