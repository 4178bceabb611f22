import { Hono } from 'hono'
import type { StripeDouble } from '../double.ts'
import { StripeDoubleError } from '../http/stripe-error.ts'
import { addCheckoutPage } from './checkout-page.ts'
import { addInvoicePage } from './invoice-page.ts'
import { addPortalPage } from './portal-page.ts'

/** Serves the pages for customers. */
export function createPages({ world, tick }: StripeDouble) {
  const pages = new Hono()
  pages.onError((error, context) => {
    if (error instanceof StripeDoubleError) return context.text(error.message, 404)
    throw error
  })
  pages.on('ALL', ['/c/*', '/i/*', '/p/*'], (_context, next) => {
    tick()
    return next()
  })
  addCheckoutPage(pages, world)
  addPortalPage(pages, world)
  addInvoicePage(pages, world)
  return pages
}
