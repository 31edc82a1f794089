import { maxRoomMembers } from '../../../../config/schema/room-schema.ts'
import type { TrackLineUse } from '../../../../media/types.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import type { ShownMember } from '../../../rooms/choose-tracks.ts'
import type { RoomSession } from '../../../rooms/room-session.ts'
import { asRecord } from '../../frames.ts'
import { roomIds } from '../../rooms/layout-body.ts'
import { MemberRequestError } from '../../rooms/member-request-error.ts'
import { textField } from '../../rooms/request-fields.ts'
import type { Reply } from '../../rpc-session.ts'
import { mediaErrorCode } from '../media-error.ts'
import type { BrowserRoom } from './browser-room.ts'

/** Maximum number of lines, as `WebRtc.tracks` permits. */
const maxLines = 25
/** Maximum width of a picture in pixels. */
const maxWidth = 16_384

type Params = Readonly<Record<string, unknown>>
type Handler = (room: BrowserRoom, params: Params) => Params | Promise<Params>

/** Requests of the gateway's own SDK about separate cameras. */
const handlers: Readonly<Record<string, Handler>> = {
  'call.tracks.open': async (room, { lines }) => {
    const count = integerField('lines', lines, 1, maxLines)
    const tracks = await room.openTracks(count, {
      changed: (uses) => send(room, uses),
      ended: () => send(room, undefined),
    })
    return { sdp: tracks.sdp }
  },
  'call.tracks.accept': async (room, { sdp }) => {
    try {
      await tracksOf(room).accept(textField('sdp', sdp))
    } catch (error) {
      if (error instanceof MemberRequestError) throw error
      // The page sees the picture of the room again.
      room.closeTracks()
      throw new TrunklineError(mediaErrorCode(error), (error as Error).message)
    }
    return {}
  },
  'call.tracks.show': (room, { members }) => {
    tracksOf(room).show(shownField(room, members))
    return {}
  },
  'call.tracks.refresh': (room, { mid, renew }) => {
    tracksOf(room).refresh(textField('mid', mid), renew === true)
    return {}
  },
  'call.tracks.close': (room) => {
    room.closeTracks()
    return {}
  },
}

/** Supported requests about separate cameras. */
export const tracksMethods: readonly string[] = Object.keys(handlers)

/** Answers one of {@link tracksMethods}. Rejects with {@link MemberRequestError} or TrunklineError. */
export const handleTracksRequest = async (
  room: BrowserRoom | undefined,
  method: string,
  params: Params,
): Promise<Reply> => {
  if (!room) throw new MemberRequestError('404', 'The call is not in a room.')
  // A room token may exclude video, and its dialect has no separate cameras.
  if (room.browser.identity.room)
    throw new MemberRequestError('403', 'A room token does not permit separate cameras.')
  const result = await handlers[method]!(room, params)
  return { result: { code: '200', message: 'OK', ...result } }
}

const tracksOf = ({ tracks }: BrowserRoom) => {
  if (tracks) return tracks
  throw new MemberRequestError('409', 'The separate cameras are not open.')
}

/** Returns the members that a page shows; undefined for all. Throws for an unknown one. */
const shownField = ({ session }: BrowserRoom, value: unknown): readonly ShownMember[] | undefined => {
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length > maxRoomMembers)
    throw new MemberRequestError('422', `members: expected a list of at most ${maxRoomMembers}`)
  return value.map((each) => {
    const { member_id, width, pinned } = asRecord(each) ?? {}
    const memberId = textField('member_id', member_id)
    if (!session.members.some(({ id }) => id === memberId))
      throw new MemberRequestError('404', 'The member does not exist.')
    return { memberId, width: integerField('width', width, 0, maxWidth), isPinned: pinned === true }
  })
}

const integerField = (name: string, value: unknown, min: number, max: number): number => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw new MemberRequestError('422', `${name}: expected an integer from ${min} to ${max}`)
}

/** A film that is played into the room is a screen, too. */
const isScreen = (session: RoomSession, id: string): boolean =>
  id === session.playbacks.pictureId || session.member(id)?.type === 'screen'

/** Reports the lines to the page; undefined: they have ended. */
const send = ({ browser, session, member }: BrowserRoom, uses: readonly TrackLineUse[] | undefined): void => {
  browser.emit('call.tracks', {
    ...roomIds(session),
    call_id: member.callId,
    member_id: member.id,
    open: uses !== undefined,
    tracks: (uses ?? []).map(({ mid, id, isLive, layer }) => ({
      mid,
      member_id: id,
      kind: isScreen(session, id) ? 'screen' : 'camera',
      state: isLive ? 'live' : 'paused',
      ...(layer !== undefined && { layer }),
    })),
  })
}
