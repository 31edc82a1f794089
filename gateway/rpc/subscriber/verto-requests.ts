import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Reply } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import { BrowserInboundLeg, type BrowserInboundLegDeps } from './browser-inbound-leg.ts'
import type { BrowserOutboundLeg } from './browser-outbound-leg.ts'
import type { BrowserQuotas } from './browser-quotas.ts'
import type { BrowserSession } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { ScreenShare, type ScreenShareDeps } from './screen-share.ts'
import { parseVerto, type VertoRequest } from './verto-messages.ts'

/** Collaborators of {@link handleVerto}. */
export interface VertoDeps extends Omit<BrowserInboundLegDeps, 'webrtc'>, ScreenShareDeps {
  readonly webrtc: BrowserInboundLegDeps['webrtc'] & ScreenShareDeps['webrtc']
  /** Maximum number of concurrent calls of one session. */
  readonly maxCallsPerSession: number
  /** Quotas of subscribers, tokens and networks. */
  readonly browserQuotas: Pick<BrowserQuotas, 'checkDial'>
  /** Returns the ringing outbound leg with this id in browsers. */
  readonly outboundLeg: (wireId: string) => BrowserOutboundLeg | undefined
}

type Params = Readonly<Record<string, unknown>>
type Of<K extends VertoRequest['kind']> = Extract<VertoRequest, { kind: K }>

/**
 * Answers `webrtc.verto`. The SDK repeats a failed request up to ten times. Requests about ended calls
 * therefore succeed, and an event reports the end.
 */
export const handleVerto = async (
  deps: VertoDeps,
  browser: BrowserSession,
  params: Params,
): Promise<Reply> => {
  const { id, request } = parseVerto(params)
  const wrap = (result: Params, after?: () => void): Reply => ({
    result: { node_id: browser.nodeId, code: '200', message: 'OK', result: { jsonrpc: '2.0', id, result } },
    after,
  })
  switch (request.kind) {
    case 'reply':
      return wrap({})
    case 'invite':
      return wrap({ message: 'CALL CREATED', callID: request.callId, memberID: request.callId }, () =>
        invited(deps, browser, request),
      )
    case 'answer':
      return wrap({ message: 'CALL ANSWERED', callID: request.callId }, () =>
        answered(deps, browser, request),
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
      return wrap({ callID: request.callId }, () => subscribed(deps, browser, request.callId))
    case 'hold':
      return held(browser, request, wrap)
    case 'updateMedia':
      return updated(deps, browser, { ...request, id }, wrap)
  }
}

type Wrap = (result: Params, after?: () => void) => Reply

const invited = (deps: VertoDeps, browser: BrowserSession, request: Of<'invite'>): void => {
  const existing = browser.calls.get(request.callId)
  if (existing) {
    const call = existing.browserCall(browser)
    if (request.reattach && call) void reattach(call, request.sdp, deps.log)
    return
  }
  const over = quotaExceeded(deps, browser)
  if (over) {
    deps.metrics.rejections.inc({ code: over.code })
    const facts = { subscriber: browser.identity.id, network: browser.network, calls: browser.calls.size }
    deps.log.warn({ event: 'browser.dial-over-quota', ...over, ...facts }, 'dial over the quota rejected')
    gone(browser, request.callId, over.code)
    return
  }
  const { sdp, ...invite } = request
  const call = request.part === 'screen' ? ScreenShare : BrowserInboundLeg
  void settle(new call(deps, browser, invite).open(sdp), deps.log)
}

const quotaExceeded = ({ maxCallsPerSession: limit, browserQuotas }: VertoDeps, browser: BrowserSession) =>
  browser.calls.size >= limit
    ? ({ code: 'over_call_limit', of: 'page', limit } as const)
    : browserQuotas.checkDial(browser)

/** Answers the new offer of a reloaded page for its call. */
const reattach = async (call: BrowserCall, offer: string, log: Log): Promise<void> => {
  try {
    await call.reattach(offer)
  } catch (error) {
    log.warn({ event: 'browser.reattach-failed', leg: call.leg.id, err: error }, 'reattach of a call failed')
    call.leg.ended({ code: 'client_lost', detail: 'reattach after a page reload failed' })
  }
}

const answered = (
  { outboundLeg, log }: VertoDeps,
  browser: BrowserSession,
  { callId, sdp, said }: Of<'answer'>,
): void => {
  const call = browser.calls.get(callId)
  const found = outboundLeg(callId)
  const elsewhere = found?.isTaken && found.subscriberId === browser.identity.id
  // The call was answered elsewhere or cancelled just before, and the browser does not know yet.
  if (!call) gone(browser, callId, elsewhere ? 'answered_elsewhere' : 'canceled')
  else void settle(call.onAnswer(browser, sdp, said), log)
}

const subscribed = ({ outboundLeg }: VertoDeps, browser: BrowserSession, callId: string): void => {
  const found = outboundLeg(callId)
  const { kind, id } = browser.identity
  // Invited users cannot receive calls of the subscriber.
  if (kind === 'subscriber' && found?.subscriberId === id) found.attach(browser)
  else gone(browser, callId, 'canceled')
}

const held = (browser: BrowserSession, { callId, held: hold }: Of<'hold'>, wrap: Wrap): Reply => {
  const known = browser.calls.get(callId)
  const call = known?.browserCall(browser)
  const action = hold ? 'hold' : 'unhold'
  if (!call)
    return wrap({ action, callID: callId, holdState: 'active' }, () => {
      // Ringing calls and screens cannot be held, and continue.
      if (!known) gone(browser, callId, 'normal')
    })
  call.leg.hold(hold)
  return wrap({ action, callID: callId, holdState: call.isHeld ? 'held' : 'active' })
}

const updated = async (
  { log }: VertoDeps,
  browser: BrowserSession,
  { callId, sdp: offer, id }: Of<'updateMedia'> & { readonly id: unknown },
  wrap: Wrap,
): Promise<Reply> => {
  const known = browser.calls.get(callId)
  if (!known) return wrap({ action: 'updateMedia', callID: callId }, () => gone(browser, callId, 'normal'))
  const call = known.browserCall(browser)
  const holdState = call?.isHeld ? 'held' : 'active'
  const session = known instanceof ScreenShare ? known : call
  // The answer to this offer was sent already or is on its way.
  if (session?.offers.repeats(id, offer)) return wrap({ action: 'updateMedia', callID: callId, holdState })
  try {
    const sdp = await session?.renegotiate(offer)
    // A ringing call has no SDP of the browser yet.
    if (sdp === undefined) throw new TrunklineError('call_not_in_progress')
    return wrap({ action: 'updateMedia', callID: callId, holdState, sdp })
  } catch (error) {
    session?.offers.forget()
    log.warn(
      { event: 'browser.offer-rejected', leg: call?.leg.id, err: error },
      'offer of a browser rejected',
    )
    const { message } = error instanceof TrunklineError ? error : new TrunklineError('bad_sdp')
    return { result: { node_id: browser.nodeId, code: '488', message } }
  }
}

const gone = (browser: BrowserSession, callId: string, code: Parameters<typeof byeOf>[0]['code']): void =>
  browser.sendVerto('verto.bye', { callID: callId, ...byeOf({ code }) })

const settle = async (work: Promise<void>, log: Log): Promise<void> => {
  try {
    await work
  } catch (error) {
    log.error({ event: 'browser.call-failed', err: error }, 'call of a browser failed')
  }
}
