import { catalogue, messageOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { asRecord } from '../frames.ts'
import { MemberRequestError } from '../rooms/member-request-error.ts'
import type { Reply } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserSession } from './browser-session.ts'
import type { CallParty } from './call-parties.ts'
import { layouts } from './layouts.ts'
import type { MemberState } from './member.ts'
import { memberChanges } from './member-changes.ts'
import {
  addedParty,
  checkPermission,
  checkPermissionOnOthers,
  noteMuting,
  permittedChanges,
  targetsOf,
} from './member-rules.ts'
import { handleRoomRequest } from './rooms/room-requests.ts'
import { handleTracksRequest, tracksMethods } from './rooms/tracks-requests.ts'

type Params = Readonly<Record<string, unknown>>
type Other = (call: BrowserCall, params: Params) => Reply

/** Requests about the whole call or the positions of members. */
const others: Readonly<Record<string, Other>> = {
  'call.member.list': ({ members }) => ok({ members: members.members }),
  'call.layout.list': () => ok({ layouts }),
  'call.layout.set': (call, { layout, positions }) => {
    if (!layouts.some((name) => name === layout))
      throw new MemberRequestError('422', `layout: expected ${layouts.join(' or ')}`)
    for (const [id, position] of Object.entries(asRecord(positions) ?? {})) {
      const target = id === 'self' ? undefined : { member_id: id }
      checkPosition(call, { target, position })
    }
    return ok({}, () => call.members.sendLayout())
  },
  'call.member.position.set': (call, { targets }) => {
    for (const each of Array.isArray(targets) ? targets : [targets]) checkPosition(call, asRecord(each) ?? {})
    return ok({}, () => call.members.sendLayout())
  },
  'call.member.remove': (call, { target }) => {
    const added = addedParty(call, target)
    const found = added ? [added] : targetsOf(call, target)
    for (const party of found) checkPermission(call, party)
    return ok({}, () => {
      for (const party of found.toReversed()) leave(call, party)
    })
  },
  'call.lock': (call) => setLocked(call, true),
  'call.unlock': (call) => setLocked(call, false),
  'call.end': (call) => {
    const { party, partner } = call.members
    if (partner) checkPermission(call, partner)
    return ok({}, () => {
      if (partner) leave(call, partner)
      leave(call, party)
    })
  },
}

/** Supported requests about a member or a call. */
export const memberMethods: readonly string[] = [
  ...Object.keys(memberChanges),
  ...Object.keys(others),
  ...tracksMethods,
]

/** Answers one of {@link memberMethods}. Failures are a `code` in the result, where the SDK expects them. */
export const handleMember = (
  browser: BrowserSession,
  method: string,
  params: Params,
): Reply | Promise<Reply> => {
  const wireId = asRecord(params.self)?.call_id ?? asRecord(params.target)?.call_id
  const call = typeof wireId === 'string' ? browser.calls.get(wireId)?.browserCall(browser) : undefined
  try {
    if (!call) throw new MemberRequestError('404', 'The call does not exist.')
    if (tracksMethods.includes(method))
      return handleTracksRequest(call.room, method, params).catch((error: unknown) => failureOf(error))
    if (call.room) return handleRoomRequest(call.room, method, params)
    const change = memberChanges[method]
    return change ? applyChanges(call, method, params, change(params)) : others[method]!(call, params)
  } catch (error) {
    return failureOf(error)
  }
}

/** Returns the reply for a failed request. Throws an unexpected error again. */
const failureOf = (error: unknown): Reply => {
  if (error instanceof TrunklineError)
    return { result: { code: String(catalogue[error.code].http), message: messageOf(error) } }
  if (!(error instanceof MemberRequestError)) throw error
  return { result: { code: error.code, message: error.message } }
}

const applyChanges = (
  call: BrowserCall,
  method: string,
  params: Params,
  wanted: Partial<MemberState>,
): Reply => {
  const isForAll = asRecord(params.target)?.member_id === 'all'
  const parties = targetsOf(call, params.target)
  const permitted: (readonly [CallParty, Partial<MemberState>])[] = []
  for (const party of parties) {
    const allowed = permittedChanges(call, party, wanted, isForAll)
    if (Object.keys(allowed).length > 0) permitted.push([party, allowed])
  }
  return ok({}, () => {
    for (const [party, allowed] of permitted) {
      noteMuting(call, party, allowed)
      call.members.change(party, allowed)
      if (method === 'call.audioflags.set') party.events?.constrain(allowed)
    }
  })
}

const setLocked = (call: BrowserCall, isLocked: boolean): Reply => {
  checkPermissionOnOthers(call)
  return ok({}, () => call.members.lock(isLocked))
}

/** Checks a position. The layout has one position, which the other party holds. */
const checkPosition = (call: BrowserCall, { target, position }: Params): void => {
  const [party] = targetsOf(call, target)
  const own = party === call.party ? 'off-canvas' : 'standard-1'
  if (position !== 'auto' && position !== own)
    throw new MemberRequestError('422', `position: expected auto or ${own}`)
}

/** Ends the browser's own call, although it sent no bye, or hangs up the other party. */
const leave = (call: BrowserCall, party: CallParty): void => {
  if (party === call.party) party.leg.ended({ code: 'normal' })
  else party.leg.end({ code: 'normal' })
}

const ok = (result: Params, after?: () => void): Reply => ({
  result: { code: '200', message: 'OK', ...result },
  after,
})
