/** Who of a call of two may do what to whom. */
import { asRecord } from '../frames.ts'
import type { BrowserCall } from './browser-call.ts'
import type { CallParty, Channel } from './call-parties.ts'
import type { MemberState } from './member.ts'
import { MemberRequestError } from './member-request-error.ts'

/** Whom a request is about; absent: the page itself. */
export const targetsOf = (call: BrowserCall, target: unknown): readonly CallParty[] => {
  const { party, partner } = call.members
  const id = asRecord(target)?.member_id
  const all = partner ? [party, partner] : [party]
  if (id === undefined) return [party]
  const found = id === 'all' ? all : all.filter(({ member }) => member.id === id)
  if ([...call.members.company].some(({ member }) => member.id === id))
    throw new MemberRequestError('403', 'Each member of a conference speaks for itself alone.')
  if (found.length === 0) throw new MemberRequestError('404', 'The member does not exist.')
  return found
}

/**
 * Subscribers may do to the other party what they may do to themselves; guests, and who was invited, may not.
 */
export const checkPermission = (call: BrowserCall, party: CallParty): void => {
  if (party !== call.party) checkPermissionOnOthers(call)
}

/** The same for what concerns the other party, whether or not it is there yet. */
export const checkPermissionOnOthers = ({ browser }: BrowserCall): void => {
  if (browser.identity.kind !== 'subscriber')
    throw new MemberRequestError('403', 'The token permits nothing to be done to other members.')
}

const mutes: Readonly<Partial<Record<keyof MemberState, Channel>>> = {
  audio_muted: 'audio',
  video_muted: 'video',
}

/**
 * What of these changes can be made to a party. `everybody`: what one of several cannot do is left out for
 * it. Nobody's microphone or camera is switched on from outside, but by whoever switched it off. Of a
 * telephone nothing can be changed but whether it is heard.
 */
export const permittedChanges = (
  call: BrowserCall,
  party: CallParty,
  wanted: Partial<MemberState>,
  everybody: boolean,
): Partial<MemberState> => {
  checkPermission(call, party)
  if (party === call.party) {
    if (!call.isAudioOnly || wanted.video_muted !== false) return wanted
    const { video_muted: _, ...others } = wanted
    if (Object.keys(others).length === 0 && !everybody)
      throw new MemberRequestError('409', 'This address takes no video.')
    return others
  }
  const entries = Object.entries(wanted) as [keyof MemberState, unknown][]
  const reasons: MemberRequestError[] = []
  const allowed = entries.filter(([name, value]) => {
    const channel = mutes[name]
    if (!party.page && name !== 'audio_muted')
      reasons.push(new MemberRequestError('409', 'A telephone cannot do this.'))
    else if (
      channel &&
      value === false &&
      party.member.state[name] &&
      party.mutedBy.get(channel) !== call.party
    )
      reasons.push(new MemberRequestError('403', `The member has muted its ${channel} itself.`))
    else return true
    return false
  })
  if (allowed.length === 0 && !everybody && reasons[0]) throw reasons[0]
  return Object.fromEntries(allowed)
}

/** Keeps in mind who muted whom. */
export const noteMuting = (call: BrowserCall, party: CallParty, changes: Partial<MemberState>): void => {
  for (const [name, channel] of Object.entries(mutes) as [keyof MemberState, Channel][]) {
    const muted = changes[name]
    if (muted === undefined) continue
    if (party === call.party || muted === false) party.mutedBy.delete(channel)
    else if (!party.member.state[name]) party.mutedBy.set(channel, call.party)
  }
}
