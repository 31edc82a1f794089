import type { Code } from '../../core/errors/catalogue.ts'
import { parseNameAddress } from '../../core/sip-uri.ts'
import { printable } from '../headers.ts'
import type { SipRequest, SipResponse, SrfLike } from '../srf.ts'
import { allowedMethods, type Refusals, serverHeader } from './refusals.ts'

/** What the requests outside calls are answered with. */
export interface OutOfCallDeps {
  readonly srf: Pick<SrfLike, 'use'>
  readonly refusals: Refusals
  readonly isDraining: () => boolean
  readonly userAgent: string
  /** Where SIP endpoints register; undefined: nowhere. */
  readonly registrar?: { handle(request: SipRequest, response: SipResponse): void }
}

/**
 * Methods that we take no part in; the agent hands over only what was asked for, and would itself say less.
 */
const refusedMethods = ['message', 'notify', 'publish', 'info', 'refer']

/**
 * Answers what belongs to no call: OPTIONS (RFC 3261 section 11; 503 while draining, so that a carrier's ping
 * takes us out of its routing), REGISTER where there is a registrar, 489 to SUBSCRIBE there (RFC 6665 section
 * 4.2.1.1: there is no presence and no waiting message to tell of), 405 to other methods, and 481 to requests
 * of a dialog that is gone.
 */
export const handleOutOfCallRequests = (deps: OutOfCallDeps): void => {
  const { srf, refusals } = deps
  srf.use((request, response, next) => {
    if (isInsideDialog(request)) strayed(request, response, deps)
    else next()
  })
  srf.use('options', (request, response) => options(request, response, deps))
  const refuse = (code: Code) => (request: SipRequest, response: SipResponse) =>
    refusals.refuse(response, code, { ...factsOf(request), method: printable(request.method, 16) })
  for (const method of refusedMethods) srf.use(method, refuse('method_not_allowed'))
  const { registrar } = deps
  srf.use('subscribe', refuse(registrar ? 'bad_event' : 'method_not_allowed'))
  if (registrar) srf.use('register', (request, response) => registrar.handle(request, response))
  else srf.use('register', refuse('method_not_allowed'))
}

const options = (request: SipRequest, response: SipResponse, deps: OutOfCallDeps): void => {
  if (deps.isDraining()) {
    deps.refusals.refuse(response, 'draining', { ...factsOf(request), method: 'OPTIONS' })
    return
  }
  response.send(200, {
    headers: { ...serverHeader(deps.userAgent), Allow: allowedMethods, Accept: 'application/sdp' },
  })
}

const isInsideDialog = (request: SipRequest): boolean => {
  const to = request.get('To') ?? ''
  return Boolean(request.stackDialogId) || /;\s*tag\s*=/i.test(parseNameAddress(to)?.params ?? to)
}

/** drachtio-srf has no dialog for it: hung up this very moment, or never ours. An ACK is not answered. */
const strayed = (request: SipRequest, response: SipResponse, deps: OutOfCallDeps): void => {
  if (request.method !== 'ACK') response.send(481, { headers: serverHeader(deps.userAgent) })
}

const factsOf = (request: SipRequest): Record<string, unknown> => ({
  source: request.source_address,
  transport: printable(request.protocol, 8),
})
