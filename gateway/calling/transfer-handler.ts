import { missingTargetCode } from '../calls/connect/leg-dialer.ts'
import { TrunklineError } from '../core/errors/catalogue.ts'
import type { AddressBook, HandlerSpec } from '../model.ts'

/** Whether a destination is the text of a script and not an address. */
export const isScript = (dest: string): boolean => /^\s*\{/.test(dest)

/**
 * Returns the handler for a transferred call: the script at a URL, or in the text itself (JSON), or the
 * handler of an address. For any other SIP URI, number or address it is a script that connects to it. Throws
 * `unknown_address` and `no_carrier` with the attribute `dest`.
 */
export const transferHandler = (dest: string, addresses: AddressBook, projectId: string): HandlerSpec => {
  if (/^https?:\/\//i.test(dest)) return { kind: 'script', url: dest }
  if (isScript(dest)) return { kind: 'script', document: dest, name: 'dest' }
  const target = addresses.resolve(dest, projectId)
  if (!target) throw new TrunklineError(missingTargetCode(dest), undefined, { attribute: 'dest' })
  if (target.kind === 'handler') return target.handler
  const document = JSON.stringify({ version: '1.0.0', sections: { main: [{ connect: { to: dest } }] } })
  return { kind: 'script', document, name: 'transfer' }
}
