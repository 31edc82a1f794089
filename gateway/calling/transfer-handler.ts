import { TrunklineError } from '../core/errors/catalogue.ts'
import type { AddressBook, HandlerSpec } from '../model.ts'

/** Whether a call is transferred to a script that is given in place of an address. */
export const isScript = (dest: string): boolean => /^\s*\{/.test(dest)

/**
 * What runs on a call that is transferred: the script at a URL, a script itself (JSON), the handler of an address, or a script that connects
 * the call to whom a SIP URI, a number or an address names. Throws `invalid_field`, naming `dest`.
 */
export const transferHandler = (dest: string, addresses: AddressBook, projectId: string): HandlerSpec => {
  if (/^https?:\/\//i.test(dest)) return { kind: 'script', url: dest }
  if (isScript(dest)) return { kind: 'script', document: dest, name: 'dest' }
  const target = addresses.resolve(dest, projectId)
  if (!target)
    throw new TrunklineError('invalid_field', 'dest: nothing has this address.', { attribute: 'dest' })
  if (target.kind === 'handler') return target.handler
  const document = JSON.stringify({ version: '1.0.0', sections: { main: [{ connect: { to: dest } }] } })
  return { kind: 'script', document, name: 'transfer' }
}
