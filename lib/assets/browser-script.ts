import { once } from '../once.ts'
import { toAsset } from './asset.ts'
import { bundle } from './bundle.ts'

/** Omits the version of Meridian: a release that leaves the script unchanged keeps its hash. */
const BANNER = '/*! Meridian (MIT), web-vitals (Apache-2.0) */'

/** Loads the script that measures pages. The first call bundles it. */
export const loadScript = once(async () => {
  const code = await bundle('rum/main.ts', {
    target: 'es2020',
    // Browsers with PerformanceNavigationTiming and ES2020 support class fields. Saves 100 bytes.
    supported: { 'class-field': true },
    banner: { js: BANNER },
  })
  return toAsset(code)
})
