import { readNameAddr } from '@trunkline/sip-agent/message'
import type { Arrival } from '../../calls/call/arrival.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import { parseSipUri, type SipUri, shownUri, userOf } from '../../core/sip-uri.ts'
import type { CallId, Party } from '../../model.ts'
import type { AdmittedCall } from '../admission/call-counts.ts'
import { partyOf } from '../admission/endpoint-dial-plan.ts'
import type { Capabilities, Connection } from '../agent-link.ts'
import type { DialogOrigin } from '../dialog/known-dialogs.ts'
import { hasExtension, optionTags } from '../dialog/option-tags.ts'
import type { DialogTrust } from '../digest/dialog-digest.ts'
import { printable } from '../headers.ts'
import { narrowed, type SrtpPolicy, srtpPolicy } from '../sdp/srtp-policy.ts'
import type { SipRequest, SipResponse } from '../srf.ts'
import { callerOf, keptHeaders, maxForwardsOf } from './invite-headers.ts'
import type { Reliability } from './provisionals.ts'

/** Parties and identifiers read from an INVITE. */
export interface InviteParties {
  readonly target: SipUri
  /** Caller as named in From. */
  readonly from: Party
  readonly to: Party
  readonly sipCallId: string
}

/**
 * Returns the parts of an INVITE that admission needs, or a text that names what was expected. These checks
 * are needed, as the agent's parser accepts malformed headers.
 */
export const readParties = (request: SipRequest, target: SipUri | undefined): InviteParties | string => {
  if (!target) return 'a SIP URI in the request line'
  const from = callerOf(request, false)
  if (!from) return 'one address in From'
  if (!readNameAddr(request.get('To') ?? '')) return 'one address in To'
  if (!readNameAddr(request.get('Contact') ?? '')) return 'one address in Contact'
  const sipCallId = request.get('Call-ID')
  if (!sipCallId) return 'a Call-ID'
  return {
    target,
    from,
    to: { uri: shownUri(target.bare), user: userOf(target), name: '' },
    sipCallId: printable(sipCallId, 256),
  }
}

/** Admitted INVITE: its transaction, and the rules for its caller. */
export class InboundInvite {
  readonly request: SipRequest
  readonly response: SipResponse
  /** Connection to the agent on which the INVITE came. */
  readonly connection: Connection
  readonly admitted: AdmittedCall
  readonly #parties: Omit<InviteParties, 'target'>

  constructor(
    request: SipRequest,
    response: SipResponse,
    connection: Connection,
    admitted: AdmittedCall,
    parties: Omit<InviteParties, 'target'>,
  ) {
    this.request = request
    this.response = response
    this.connection = connection
    this.admitted = admitted
    this.#parties = parties
  }

  /** Caller as callees see it: the endpoint, the asserted identity of a trusted source, or From. */
  get caller(): Party {
    const { endpoint } = this.admitted
    const { from } = this.#parties
    const caller = endpoint ? partyOf(endpoint) : (callerOf(this.request, this.#isTrusted) ?? from)
    return { ...caller, ...(from.private && { private: true }) }
  }

  get callee(): Party {
    return this.#parties.to
  }

  /** Origin of the dialog, which decides what its peer may do to other calls. */
  get origin(): DialogOrigin {
    const { projectId, carrier, endpoint } = this.admitted
    return {
      projectId,
      source: this.request.source_address,
      ...(carrier && { carrier: carrier.name }),
      ...(endpoint && { endpoint }),
    }
  }

  /** SRTP policy of the carrier, narrowed by the demands of the application and of the endpoint. */
  get srtp(): SrtpPolicy {
    const { carrier, app, endpoint } = this.admitted
    const isSecure = /^(tls|wss)$/i.test(this.request.protocol)
    return narrowed(narrowed(srtpPolicy(carrier, isSecure), app), endpoint)
  }

  /** Credentials for challenges inside a carrier's call: the same as for registrations and outbound calls. */
  get trust(): DialogTrust | undefined {
    const { credentials, targets } = this.admitted.trunk ?? {}
    if (!credentials) return undefined
    const contact = parseSipUri(readNameAddr(this.request.get('Contact') ?? '')?.uri ?? '')
    const target = targets?.find(({ uri }) => uri.host === contact?.host)
    return { credentials, realms: [], host: target?.uri.host }
  }

  /** Whether provisional responses may or must be reliable. */
  reliability({ hasReliableProvisionals }: Pick<Capabilities, 'hasReliableProvisionals'>): Reliability {
    if (!hasReliableProvisionals || !hasExtension(this.request, '100rel')) return 'none'
    return optionTags(this.request.get('Require')).includes('100rel') ? 'required' : 'supported'
  }

  /** Records the facts of the INVITE that the call keeps. */
  describe(leg: Leg): void {
    const { carrier } = this.admitted
    const maxForwards = maxForwardsOf(this.request)
    leg.note({
      sipCallId: this.#parties.sipCallId,
      ...(carrier && { carrier: carrier.name }),
      ...(maxForwards !== undefined && { maxForwards }),
    })
  }

  /** Returns the description of the call for its handler. */
  arrival(leg: Leg, callId: CallId): Arrival {
    const { carrier, endpoint, domain, projectId, plan } = this.admitted
    const { maxForwards } = leg.facts
    return {
      leg,
      callId,
      projectId,
      plan,
      onOver: this.admitted.releaseCall,
      headers: keptHeaders(this.request, this.#isTrusted),
      ...(maxForwards !== undefined && { maxForwards }),
      sip: { callId: this.#parties.sipCallId, domain, sourceAddress: this.request.source_address },
      ...(carrier && { carrier: carrier.name }),
      ...(endpoint && { endpointId: endpoint.id }),
    }
  }

  /**
   * Whether the caller's asserted identity is trusted. It is trusted from a carrier, a listed source, and a
   * caller with a password.
   */
  get #isTrusted(): boolean {
    const { carrier, app } = this.admitted
    return carrier !== undefined || app?.allow !== undefined || app?.challenge !== undefined
  }
}
