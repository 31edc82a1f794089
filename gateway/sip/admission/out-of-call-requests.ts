import { readHeaderParams } from '@trunkline/sip-agent/message'
import type { Code } from '../../core/errors/catalogue.ts'
import { allowedMethods, type GatewayHeaders } from '../gateway-headers.ts'
import { printable } from '../headers.ts'
import type { SipRequest, SipResponse, SrfLike } from '../srf.ts'
import type { GatewayLoad } from './gateway-load.ts'
import type { Refusals } from './refusals.ts'

/** Collaborators of {@link handleOutOfCallRequests}. */
export interface OutOfCallDeps {
  readonly srf: Pick<SrfLike, 'use'>
  readonly refusals: Refusals
  readonly load: Pick<GatewayLoad, 'isDraining'>
  readonly headers: GatewayHeaders
  /** Registrar of SIP endpoints; undefined: endpoints cannot register. */
  readonly registrar?: { handle(request: SipRequest, response: SipResponse): void }
}

/**
 * Methods that the gateway rejects. They need handlers, as the agent delivers only methods that have one. Its
 * own response to other methods would be less specific.
 */
const refusedMethods = ['message', 'notify', 'publish', 'info', 'refer']

/**
 * Answers requests that belong to no call. OPTIONS gets 200 (RFC 3261 section 11), and 503 while draining, so
 * that a carrier's ping stops its calls. REGISTER goes to the registrar if there is one. SUBSCRIBE then gets
 * 489 (RFC 6665 section 4.2.1.1): there is no presence and no message waiting. Other methods get 405, and
 * requests of a dialog that has ended get 481.
 */
export const handleOutOfCallRequests = (deps: OutOfCallDeps): void => {
  const { srf, refusals } = deps
  srf.use((request, response, next) => {
    if (isInsideDialog(request)) refuseUnknownDialog(request, response, deps)
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
  if (deps.load.isDraining) {
    deps.refusals.refuse(response, 'draining', { ...factsOf(request), method: 'OPTIONS' })
    return
  }
  response.send(200, {
    headers: { ...deps.headers.response, Allow: allowedMethods, Accept: 'application/sdp' },
  })
}

const isInsideDialog = (request: SipRequest): boolean =>
  Boolean(request.stackDialogId) || readHeaderParams(request.get('To') ?? '').get('tag') !== undefined

/**
 * Rejects a request of an unknown dialog, which has just ended or never existed here. An ACK gets no
 * response.
 */
const refuseUnknownDialog = (request: SipRequest, response: SipResponse, deps: OutOfCallDeps): void => {
  if (request.method !== 'ACK') response.send(481, { headers: deps.headers.response })
}

const factsOf = (request: SipRequest): Record<string, unknown> => ({
  source: request.source_address,
  transport: printable(request.protocol, 8),
})
