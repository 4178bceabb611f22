import type { DeviceType } from '../../lib/contract/telemetry/telemetry-schemas.ts'

/** The properties of `navigator` that reveal the kind of device. */
export interface Device {
  readonly userAgent: string
  readonly maxTouchPoints: number
  /** Chromium only. */
  readonly userAgentData?: { readonly mobile: boolean }
}

const TABLET = /ipad|tablet|kindle|silk(?!.*mobile)|android(?!.*mobile)/i
const MOBILE = /mobi|iphone|ipod/i
const MACINTOSH = /macintosh/i

/** An iPad calls itself a Macintosh, but no Macintosh has a touch screen. */
export function deviceTypeOf({ userAgent, maxTouchPoints, userAgentData }: Device): DeviceType {
  if (TABLET.test(userAgent)) return 'tablet'
  if (MACINTOSH.test(userAgent) && maxTouchPoints > 1) return 'tablet'
  return userAgentData?.mobile || MOBILE.test(userAgent) ? 'mobile' : 'desktop'
}
