import { type Code, catalogue, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Reply } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserDialer } from './browser-dialer.ts'
import type { BrowserQuotas } from './browser-quotas.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import type { CallTransfers } from './call-transfers.ts'
import { FirstReplies } from './first-replies.ts'
import { mediaErrorCode } from './media-error.ts'
import { OfferRepetition } from './offer-repetition.ts'
import { SharedSource } from './shared-source.ts'
import type { SubscriberRinger } from './subscriber-ringer.ts'
import { parseVerto, type VertoRequest } from './verto-messages.ts'

/** Collaborators of {@link VertoRequests}. */
export interface VertoRequestsDeps {
  readonly dialer: Pick<BrowserDialer, 'open'>
  readonly transfers: Pick<CallTransfers, 'blind' | 'attended' | 'add'>
  readonly ringer: Pick<SubscriberRinger, 'find'>
  readonly quotas: Pick<BrowserQuotas, 'checkDial'>
  readonly log: Log
}

type Params = Readonly<Record<string, unknown>>
type Of<K extends VertoRequest['kind']> = Extract<VertoRequest, { kind: K }>
type Wrap = (result: Params, after?: () => void) => Reply

/** Requests of browsers about calls, in `webrtc.verto`. */
export class VertoRequests {
  readonly #deps: VertoRequestsDeps
  /** Descriptions of the page of each call and further source: its invites and its answer. */
  readonly #invites = new WeakMap<SessionCall, OfferRepetition>()
  /** Replies to transfers and additions. */
  readonly #firstReplies = new FirstReplies()

  constructor(deps: VertoRequestsDeps) {
    this.#deps = deps
  }

  /**
   * Answers `webrtc.verto`. The SDK repeats a failed request up to ten times. Requests about ended calls
   * therefore succeed, and an event reports the end.
   */
  async handle(browser: BrowserSession, params: Params): Promise<Reply> {
    const { id, request } = parseVerto(params)
    const wrap = (result: Params, after?: () => void): Reply => ({
      result: {
        node_id: browser.nodeId,
        code: '200',
        message: 'OK',
        result: { jsonrpc: '2.0', id, result },
      },
      after,
    })
    switch (request.kind) {
      case 'reply':
        return wrap({})
      case 'invite':
        return wrap({ message: 'CALL CREATED', callID: request.callId, memberID: request.callId }, () =>
          this.#invited(browser, request),
        )
      case 'answer':
        return wrap({ message: 'CALL ANSWERED', callID: request.callId }, () =>
          this.#answered(browser, request),
        )
      case 'bye':
        return wrap({ message: 'CALL ENDED', callID: request.callId, ...byeOf({ code: 'normal' }) }, () =>
          browser.calls.get(request.callId)?.onBye(browser, request.causeCode),
        )
      case 'info':
        return wrap({ message: 'SENT', callID: request.callId }, () => {
          if (browser.isNew(id)) browser.calls.get(request.callId)?.onDigits(browser, request.digits)
        })
      case 'subscribe':
        return wrap({ callID: request.callId }, () => this.#subscribed(browser, request.callId))
      case 'hold':
        return hold(browser, request, wrap)
      case 'transfer':
      case 'add':
      case 'replace':
        return this.#firstReplies.of(browser, id, () => this.#transferred(browser, request, wrap))
      case 'updateMedia':
        return this.#renegotiated(browser, { ...request, id }, wrap)
    }
  }

  #invited(browser: BrowserSession, { sdp, ...invite }: Of<'invite'>): void {
    const existing = browser.calls.get(invite.callId)
    if (existing) {
      this.#invitedAgain(browser, existing, { ...invite, sdp })
      return
    }
    const over = this.#deps.quotas.checkDial(browser)
    if (over) {
      sendBye(browser, invite.callId, over.code)
      return
    }
    void this.#run(this.#deps.dialer.open(browser, invite, sdp))
    const opened = browser.calls.get(invite.callId)
    if (opened) this.#isRepeated(opened, sdp)
  }

  /**
   * Handles an invite to a call that exists: of a reloaded page, or of a page that has reconnected. The
   * published SDK then makes a new offer for each call, and some versions send it twice.
   */
  #invitedAgain(browser: BrowserSession, existing: SessionCall, { isReattaching, sdp }: Of<'invite'>): void {
    const isReloaded = isReattaching && !this.#invites.get(existing)?.continues(sdp)
    if (this.#isRepeated(existing, sdp)) return
    if (existing instanceof SharedSource) void this.#reattachSource(existing, sdp)
    const call = existing.browserCall(browser)
    if (call) void this.#reattach(call, this.#invitesOf(existing), { sdp, isReloaded })
  }

  #isRepeated(call: SessionCall, offer: string): boolean {
    // Its answer is an event, which is delivered even if the invite arrives again with the same id.
    return this.#invitesOf(call).repeats(Symbol('invite'), offer)
  }

  #invitesOf(call: SessionCall): OfferRepetition {
    const invites = this.#invites.get(call) ?? new OfferRepetition()
    this.#invites.set(call, invites)
    return invites
  }

  async #reattach(
    call: BrowserCall,
    invites: OfferRepetition,
    { sdp: offer, isReloaded }: { readonly sdp: string; readonly isReloaded: boolean },
  ): Promise<void> {
    try {
      await call.reattach(offer, isReloaded)
    } catch (error) {
      this.#reattachFailed(error, call.leg.id)
      invites.forget(offer)
    }
  }

  /** Answers a new offer for a further source, which ends if the offer fails. */
  async #reattachSource(source: SharedSource, offer: string): Promise<void> {
    try {
      await source.reattach(offer)
    } catch (error) {
      this.#reattachFailed(error)
      source.end({ code: mediaErrorCode(error) })
    }
  }

  #reattachFailed(error: unknown, leg?: string): void {
    this.#deps.log.warn({ event: 'browser.reattach-failed', leg, err: error }, 'reattach of a call failed')
  }

  #answered(browser: BrowserSession, { callId, sdp, variables }: Of<'answer'>): void {
    const call = browser.calls.get(callId)
    if (call) {
      const answered = async () => {
        await call.onAnswer(browser, sdp, variables)
        // The answer of another page is not that of the call.
        if (call.browserCall(browser)) this.#invitesOf(call).describe(sdp)
      }
      void this.#run(answered())
      return
    }
    // The call was answered elsewhere or cancelled just before, and the browser does not know yet.
    const found = this.#deps.ringer.find(callId)
    const isElsewhere = found?.isAnswered && found.subscriberId === browser.identity.id
    sendBye(browser, callId, isElsewhere ? 'answered_elsewhere' : 'canceled')
  }

  #subscribed(browser: BrowserSession, callId: string): void {
    const found = this.#deps.ringer.find(callId)
    const { kind, id } = browser.identity
    // Invited users cannot receive calls of the subscriber.
    if (kind === 'subscriber' && found?.subscriberId === id) found.attach(browser)
    else sendBye(browser, callId, 'canceled')
  }

  async #transferred(
    browser: BrowserSession,
    request: Of<'transfer'> | Of<'replace'> | Of<'add'>,
    wrap: Wrap,
  ): Promise<Reply> {
    const { transfers } = this.#deps
    const callOf = (id: string) => browser.calls.get(id)?.browserCall(browser)
    const call = callOf(request.callId)
    const other = request.kind === 'replace' ? callOf(request.otherId) : undefined
    let code: Code | undefined = 'call_not_in_progress'
    if (call && request.kind === 'transfer') code = transfers.blind(call, request.to)
    else if (call && request.kind === 'add') code = transfers.add(call, request.to)
    else if (call && other) code = await transfers.attended(call, other)
    if (code === undefined) return wrap({ action: request.kind, callID: request.callId })
    const { http, text: message } = catalogue[code]
    return { result: { node_id: browser.nodeId, code: String(http), message } }
  }

  async #renegotiated(
    browser: BrowserSession,
    { callId, sdp: offer, id }: Of<'updateMedia'> & { readonly id: unknown },
    wrap: Wrap,
  ): Promise<Reply> {
    const known = browser.calls.get(callId)
    if (!known)
      return wrap({ action: 'updateMedia', callID: callId }, () => sendBye(browser, callId, 'normal'))
    const call = known.browserCall(browser)
    const holdState = call?.isHeld ? 'held' : 'active'
    const session = known instanceof SharedSource ? known : call
    // The answer to this offer was sent already or is on its way.
    if (session?.offers.repeats(id, offer)) return wrap({ action: 'updateMedia', callID: callId, holdState })
    try {
      const sdp = await session?.renegotiate(offer)
      // While the call rings, the browser has not sent its SDP yet.
      if (sdp === undefined) throw new TrunklineError('call_not_in_progress')
      return wrap({ action: 'updateMedia', callID: callId, holdState, sdp })
    } catch (error) {
      session?.offers.forget()
      this.#deps.log.warn(
        { event: 'browser.offer-rejected', leg: call?.leg.id, err: error },
        'offer of a browser rejected',
      )
      const { message } = error instanceof TrunklineError ? error : new TrunklineError('bad_sdp')
      return { result: { node_id: browser.nodeId, code: '488', message } }
    }
  }

  async #run(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#deps.log.error({ event: 'browser.call-failed', err: error }, 'call of a browser failed')
    }
  }
}

const hold = (browser: BrowserSession, { callId, isOn }: Of<'hold'>, wrap: Wrap): Reply => {
  const known = browser.calls.get(callId)
  const call = known?.browserCall(browser)
  const action = isOn ? 'hold' : 'unhold'
  if (!call)
    return wrap({ action, callID: callId, holdState: 'active' }, () => {
      // Ringing calls and further sources cannot be held, and continue.
      if (!known) sendBye(browser, callId, 'normal')
    })
  call.leg.hold(isOn)
  return wrap({ action, callID: callId, holdState: call.isHeld ? 'held' : 'active' })
}

const sendBye = (browser: BrowserSession, callId: string, code: Parameters<typeof byeOf>[0]['code']): void =>
  browser.sendVerto('verto.bye', { callID: callId, ...byeOf({ code }) })
