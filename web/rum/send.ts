/**
 * Sends a text that outlives its page. As text/plain it needs no preflight, which could not finish
 * once the page is gone. fetch tells the origin of the page under every referrer policy;
 * `sendBeacon` may call it null, so that it is only for browsers without keepalive.
 */
export function send(endpoint: string, body: string): void {
  if (!('keepalive' in Request.prototype)) {
    navigator.sendBeacon(endpoint, body)
    return
  }
  const init = {
    method: 'POST',
    body,
    keepalive: true,
    mode: 'cors',
    credentials: 'omit',
    referrerPolicy: 'no-referrer',
  } as const
  fetch(endpoint, init).catch(() => {})
}
