/** Permissions of members in a call of two parties. */
import { asRecord } from '../frames.ts'
import { MemberRequestError } from '../rooms/member-request-error.ts'
import type { BrowserCall } from './browser-call.ts'
import type { CallParty, Channel } from './call-parties.ts'
import type { MemberState } from './member.ts'

/**
 * Returns the parties that a request changes. Default: the party of the browser itself. Throws for an unknown
 * member and for a member of a conference.
 */
export const targetsOf = (call: BrowserCall, target: unknown): readonly CallParty[] => {
  const { party, partner } = call.members
  const id = asRecord(target)?.member_id
  const all = partner ? [party, partner] : [party]
  if (id === undefined) return [party]
  const found = id === 'all' ? all : all.filter(({ member }) => member.id === id)
  if ([...call.members.conferenceMembers].some(({ member }) => member.id === id))
    throw new MemberRequestError('403', 'Members of a conference can change only themselves.')
  if (found.length === 0) throw new MemberRequestError('404', 'The member does not exist.')
  return found
}

/** Returns the party of a person that the browser has added to the call, if `target` names one. */
export const addedParty = (call: BrowserCall, target: unknown): CallParty | undefined => {
  const id = asRecord(target)?.member_id
  return [...call.members.conferenceMembers].find(
    ({ member, leg }) => member.id === id && call.members.added.has(leg),
  )
}

/** Throws unless the browser may change the party. Only subscribers may change the other party. */
export const checkPermission = (call: BrowserCall, party: CallParty): void => {
  if (party !== call.party) checkPermissionOnOthers(call)
}

/** Throws unless the browser may change other parties. */
export const checkPermissionOnOthers = ({ browser }: BrowserCall): void => {
  if (browser.identity.kind !== 'subscriber')
    throw new MemberRequestError('403', 'The token does not permit changes to other members.')
}

const mutes: Readonly<Partial<Record<keyof MemberState, Channel>>> = {
  audio_muted: 'audio',
  video_muted: 'video',
}

/**
 * Returns the permitted changes to a party, and omits the others. Throws if no change is permitted, except
 * with `isForAll`: the request is for all members. The browser may unmute the other party's channel only if
 * it muted this channel before. For a telephone, only changes to `audio_muted` are supported.
 */
export const permittedChanges = (
  call: BrowserCall,
  party: CallParty,
  wanted: Partial<MemberState>,
  isForAll: boolean,
): Partial<MemberState> => {
  checkPermission(call, party)
  if (party === call.party) return wanted
  const entries = Object.entries(wanted) as [keyof MemberState, unknown][]
  const reasons: MemberRequestError[] = []
  const allowed = entries.filter(([name, value]) => {
    const channel = mutes[name]
    if (!party.events && name !== 'audio_muted')
      reasons.push(new MemberRequestError('409', 'Telephones do not support this.'))
    else if (
      channel &&
      value === false &&
      party.member.state[name] &&
      party.mutedBy.get(channel) !== call.party
    )
      reasons.push(new MemberRequestError('403', `The member muted its own ${channel}.`))
    else return true
    return false
  })
  if (allowed.length === 0 && !isForAll && reasons[0]) throw reasons[0]
  return Object.fromEntries(allowed)
}

/** Records that the browser has muted, or unmuted, the channels of a party. */
export const noteMuting = (call: BrowserCall, party: CallParty, changes: Partial<MemberState>): void => {
  for (const [name, channel] of Object.entries(mutes) as [keyof MemberState, Channel][]) {
    const muted = changes[name]
    if (muted === undefined) continue
    if (party === call.party || muted === false) party.mutedBy.delete(channel)
    else if (!party.member.state[name]) party.mutedBy.set(channel, call.party)
  }
}
