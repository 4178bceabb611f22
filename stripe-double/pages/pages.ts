import { Hono } from 'hono'
import { StripeDoubleError } from '../http/stripe-error.ts'
import type { World } from '../world.ts'
import { createCheckoutPage } from './checkout-page.ts'
import { createInvoicePage } from './invoice-page.ts'
import { createPortalPage } from './portal-page.ts'

/** All that customers see in a browser. `tick` does what time has brought. */
export function createPages(world: World, tick: () => void) {
  const pages = new Hono()
  pages.onError((error, context) => {
    if (error instanceof StripeDoubleError) return context.text(error.message, 404)
    throw error
  })
  pages.route('/', createCheckoutPage(world, tick))
  pages.route('/', createPortalPage(world, tick))
  pages.route('/', createInvoicePage(world))
  return pages
}
