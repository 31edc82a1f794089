import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Reply } from '../session.ts'
import type { BrowserCall } from './browser-call.ts'
import { byeOf } from './causes.ts'
import type { Client } from './client.ts'
import { DialledCall, type DialledCallParts } from './dialled-call.ts'
import type { Invitation } from './invitation.ts'
import { ScreenShare, type ScreenShareParts } from './screen-share.ts'
import type { Shares } from './shares.ts'
import { parseVerto, type VertoRequest } from './verto.ts'

/** What the verto requests work with. */
export interface VertoParts extends Omit<DialledCallParts, 'webrtc'>, ScreenShareParts {
  readonly webrtc: DialledCallParts['webrtc'] & ScreenShareParts['webrtc']
  /** Calls of one page at once. */
  readonly maxCallsPerClient: number
  /** What a subscriber, a token and a network address may have. */
  readonly shares: Pick<Shares, 'dialling'>
  /** The invitation that pages know by this id, while it rings. */
  readonly invitation: (wireId: string) => Invitation | undefined
}

type Params = Readonly<Record<string, unknown>>
type Of<K extends VertoRequest['kind']> = Extract<VertoRequest, { kind: K }>

/**
 * Answers `webrtc.verto`. The SDK repeats what fails up to ten times, so a request about a call that is over succeeds, and the page is told
 * by an event that it is over.
 */
export const handleVerto = async (parts: VertoParts, client: Client, params: Params): Promise<Reply> => {
  const { id, request } = parseVerto(params)
  const wrap = (result: Params, after?: () => void): Reply => ({
    result: { node_id: client.nodeId, code: '200', message: 'OK', result: { jsonrpc: '2.0', id, result } },
    after,
  })
  switch (request.kind) {
    case 'reply':
      return wrap({})
    case 'invite':
      return wrap({ message: 'CALL CREATED', callID: request.callId, memberID: request.callId }, () =>
        invited(parts, client, request),
      )
    case 'answer':
      return wrap({ message: 'CALL ANSWERED', callID: request.callId }, () =>
        answered(parts, client, request),
      )
    case 'bye':
      return wrap({ message: 'CALL ENDED', callID: request.callId, ...byeOf({ code: 'normal' }) }, () =>
        client.calls.get(request.callId)?.pageEnded(client, request.causeCode),
      )
    case 'info':
      return wrap({ message: 'SENT', callID: request.callId }, () => {
        if (client.isNew(id)) client.calls.get(request.callId)?.pagePressed(client, request.digits)
      })
    case 'subscribe':
      return wrap({ callID: request.callId }, () => subscribed(parts, client, request.callId))
    case 'hold':
      return held(client, request, wrap)
    case 'updateMedia':
      return updated(parts, client, { ...request, id }, wrap)
  }
}

type Wrap = (result: Params, after?: () => void) => Reply

const invited = (parts: VertoParts, client: Client, request: Of<'invite'>): void => {
  const existing = client.calls.get(request.callId)
  if (existing) {
    const call = existing.browserCall(client)
    if (request.reattach && call) void reattach(call, request.sdp, parts.log)
    return
  }
  const over = overShare(parts, client)
  if (over) {
    parts.metrics.rejections.inc({ code: over.code })
    const facts = { subscriber: client.holder.id, network: client.network, calls: client.calls.size }
    parts.log.warn({ ...over, ...facts }, 'the page may not dial')
    gone(client, request.callId, over.code)
    return
  }
  const { sdp, ...invite } = request
  const call = request.part === 'screen' ? ScreenShare : DialledCall
  void settle(new call(parts, client, invite).open(sdp), parts.log)
}

const overShare = ({ maxCallsPerClient: limit, shares }: VertoParts, client: Client) =>
  client.calls.size >= limit
    ? ({ code: 'over_call_limit', of: 'page', limit } as const)
    : shares.dialling(client)

/** The page was loaded again: it makes a new offer for the call that it left. */
const reattach = async (call: BrowserCall, offer: string, log: Log): Promise<void> => {
  try {
    await call.reattach(offer)
  } catch (error) {
    log.warn({ leg: call.leg.id, err: error }, 'the call cannot be taken back')
    call.leg.ended({ code: 'client_lost', detail: 'the page could not take its call back' })
  }
}

const answered = (
  { invitation, log }: VertoParts,
  client: Client,
  { callId, sdp, said }: Of<'answer'>,
): void => {
  const call = client.calls.get(callId)
  const found = invitation(callId)
  const elsewhere = found?.isTaken && found.subscriberId === client.holder.id
  // Answered elsewhere or cancelled while the person reached for the button: the page does not know yet.
  if (!call) gone(client, callId, elsewhere ? 'answered_elsewhere' : 'canceled')
  else void settle(call.pageAnswered(client, sdp, said), log)
}

const subscribed = ({ invitation }: VertoParts, client: Client, callId: string): void => {
  const found = invitation(callId)
  const { kind, id } = client.holder
  // Whoever was invited calls for the subscriber, and does not take calls for them.
  if (kind === 'subscriber' && found?.subscriberId === id) found.attach(client)
  else gone(client, callId, 'canceled')
}

const held = (client: Client, { callId, held: hold }: Of<'hold'>, wrap: Wrap): Reply => {
  const known = client.calls.get(callId)
  const call = known?.browserCall(client)
  const action = hold ? 'hold' : 'unhold'
  if (!call)
    return wrap({ action, callID: callId, holdState: 'active' }, () => {
      // What rings, or a screen, cannot be held, and goes on.
      if (!known) gone(client, callId, 'normal')
    })
  call.leg.hold(hold)
  return wrap({ action, callID: callId, holdState: call.held ? 'held' : 'active' })
}

const updated = async (
  { log }: VertoParts,
  client: Client,
  { callId, sdp: offer, id }: Of<'updateMedia'> & { readonly id: unknown },
  wrap: Wrap,
): Promise<Reply> => {
  const known = client.calls.get(callId)
  if (!known) return wrap({ action: 'updateMedia', callID: callId }, () => gone(client, callId, 'normal'))
  const call = known.browserCall(client)
  const holdState = call?.held ? 'held' : 'active'
  const session = known instanceof ScreenShare ? known : call
  // Its answer is on the way, or with the page.
  if (session?.offers.repeats(id, offer)) return wrap({ action: 'updateMedia', callID: callId, holdState })
  try {
    const sdp = await session?.renegotiate(offer)
    // What rings has no description of the page's yet.
    if (sdp === undefined) throw new TrunklineError('call_not_in_progress')
    return wrap({ action: 'updateMedia', callID: callId, holdState, sdp })
  } catch (error) {
    session?.offers.forget()
    log.warn({ leg: call?.leg.id, err: error }, 'the offer cannot be taken')
    const { message } = error instanceof TrunklineError ? error : new TrunklineError('bad_sdp')
    return { result: { node_id: client.nodeId, code: '488', message } }
  }
}

const gone = (client: Client, callId: string, code: Parameters<typeof byeOf>[0]['code']): void =>
  client.verto('verto.bye', { callID: callId, ...byeOf({ code }) })

const settle = async (work: Promise<void>, log: Log): Promise<void> => {
  try {
    await work
  } catch (error) {
    log.error({ err: error }, "a browser's call failed")
  }
}
