import { catalogue, messageOf, TrunklineError } from '../../core/errors/catalogue.ts'
import { mayGrant, type PermissionScope, type RoomAction } from '../../rooms/permissions.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RecordingTerms, RoomMember, RoomMemberState, RoomPlayback } from '../../rooms/room-types.ts'
import type { Reply } from '../rpc-session.ts'
import { MemberRequestError } from './member-request-error.ts'
import { playbackBody } from './playback-body.ts'
import { recordingBody } from './recording-body.ts'
import { flagField, metaField, numberField, positionsField, textField } from './request-fields.ts'
import { roleChangeOf } from './role-change.ts'
import type { RoomActor } from './room-actor.ts'
import { streamBody } from './stream-body.ts'
import { videoMemberBodies } from './video-bodies.ts'

/** Maximum place in a file, in ms: one day. */
const maxSeekMs = 86_400_000

type Params = Readonly<Record<string, unknown>>

/** Request about the whole room. */
interface RoomRequest {
  /** Permission that the request needs; absent: none. */
  readonly action?: RoomAction
  /** Whether only a gateway with ffmpeg can carry out the request; default false. */
  readonly needsFfmpeg?: boolean
  /** Carries out the request, and returns further fields of the result. */
  readonly run: (room: RoomActor, params: Params) => Params | undefined
}

const recordingRequest = (act: 'pause' | 'resume' | 'stop'): RoomRequest => ({
  action: 'recording',
  run: ({ session }, { recording_id: id }) => {
    session.recordings[act](textField('recording_id', id))
    return undefined
  },
})

const playbackRequest = (
  act: (session: RoomSession, id: string, params: Params) => void,
  action: RoomAction = 'playback',
): RoomRequest => ({
  action,
  needsFfmpeg: true,
  run: ({ session }, params) => {
    act(session, textField('playback_id', params.playback_id), params)
    return undefined
  },
})

/** Requests about playbacks, which need ffmpeg. */
const playbackRequests: Readonly<Record<string, RoomRequest>> = {
  'video.playback.list': {
    action: 'playback',
    needsFfmpeg: true,
    run: ({ session }) => ({ playbacks: session.playbacks.list.map(playbackBody) }),
  },
  'video.playback.start': {
    action: 'playback',
    needsFfmpeg: true,
    run: (room, params) => ({ playback: playbackBody(startPlayback(room, params)) }),
  },
  'video.playback.pause': playbackRequest(({ playbacks }, id) => playbacks.pause(id)),
  'video.playback.resume': playbackRequest(({ playbacks }, id) => playbacks.resume(id)),
  'video.playback.stop': playbackRequest(({ playbacks }, id) => playbacks.stop(id)),
  'video.playback.set_volume': playbackRequest(({ playbacks }, id, { volume }) =>
    playbacks.setVolume(id, volumeField(volume)),
  ),
  'video.playback.seek_absolute': playbackRequest(
    ({ playbacks }, id, { position }) => playbacks.seek(id, numberField('position', position, 0, maxSeekMs)),
    'playback_seek',
  ),
  'video.playback.seek_relative': playbackRequest(
    ({ playbacks }, id, { position }) =>
      playbacks.seekBy(id, numberField('position', position, -maxSeekMs, maxSeekMs)),
    'playback_seek',
  ),
}

/** Requests about streams, which need ffmpeg. */
const streamRequests: Readonly<Record<string, RoomRequest>> = {
  'video.stream.list': {
    action: 'stream',
    needsFfmpeg: true,
    run: ({ session }) => ({ streams: session.streams.list.map(streamBody) }),
  },
  'video.stream.start': {
    action: 'stream',
    needsFfmpeg: true,
    run: ({ session }, { url }) => ({ stream: streamBody(session.streams.start(textField('url', url))) }),
  },
  'video.stream.stop': {
    action: 'stream',
    needsFfmpeg: true,
    run: done(({ session }, { stream_id: id }) => void session.streams.stop(textField('stream_id', id))),
  },
}

const startPlayback = (room: RoomActor, params: Params): RoomPlayback => {
  const { url, volume = 0, seek_position: from = 0, layout, positions } = params
  if (layout !== undefined) checkPermission(room, 'set_layout', 'room')
  const wanted = positionsField(room.member?.id, positions)
  if (Object.keys(wanted).length > 0) checkPermission(room, 'set_position', 'room')
  return room.session.play({
    url: textField('url', url),
    volume: volumeField(volume),
    fromMs: numberField('seek_position', from, 0, maxSeekMs),
    layout: layout === undefined ? undefined : textField('layout', layout),
    positions: wanted,
  })
}

/** Pages may leave out the files of members; applications may also add them. */
const recordingTermsOf = ({ session, member }: RoomActor, { members }: Params): Partial<RecordingTerms> => {
  if (members === undefined) return {}
  const hasMembers = flagField('members', members)
  if (member && hasMembers && !session.settings.recordMembers)
    throw new MemberRequestError('403', 'The room has no recordings with files of members.')
  return { hasMembers }
}

const volumeField = (value: unknown): number => numberField('volume', value, -50, 50)

const roomRequests: Readonly<Record<string, RoomRequest>> = {
  'video.list_available_layouts': {
    action: 'list_available_layouts',
    run: ({ session }) => ({ layouts: session.layouts }),
  },
  'video.set_layout': {
    action: 'set_layout',
    run: (room, { name, positions }) => {
      const wanted = positionsField(room.member?.id, positions)
      if (Object.keys(wanted).length > 0) checkPermission(room, 'set_position', 'room')
      room.session.setLayout(textField('name', name), wanted)
      return undefined
    },
  },
  'video.members.get': { run: ({ session, isGuest }) => ({ members: videoMemberBodies(session, isGuest) }) },
  'video.lock': { action: 'lock', run: done(({ session }) => session.setLocked(true)) },
  'video.unlock': { action: 'unlock', run: done(({ session }) => session.setLocked(false)) },
  'video.hide_video_muted': {
    action: 'hide_video_muted',
    run: done(({ session }) => session.setVideoMutedHidden(true)),
  },
  'video.show_video_muted': {
    action: 'show_video_muted',
    run: done(({ session }) => session.setVideoMutedHidden(false)),
  },
  'video.prioritize_handraise': {
    action: 'prioritize_handraise',
    run: done(({ session }, { enable }) => session.setHandraisePrioritized(enable !== false)),
  },
  'video.recording.list': {
    action: 'recording',
    run: ({ session }) => ({ recordings: session.recordings.list.map(recordingBody) }),
  },
  'video.recording.start': {
    action: 'recording',
    run: (room, params) => ({
      recording: recordingBody(room.session.recordings.start(recordingTermsOf(room, params))),
    }),
  },
  'video.recording.pause': recordingRequest('pause'),
  'video.recording.resume': recordingRequest('resume'),
  'video.recording.stop': recordingRequest('stop'),
  ...playbackRequests,
  ...streamRequests,
  'video.get_meta': { run: ({ session }) => ({ meta: session.meta }) },
  'video.set_meta': {
    action: 'set_meta',
    run: done(({ session }, { meta }) => session.changeMeta({ set: metaField(meta) })),
  },
  'video.update_meta': {
    action: 'set_meta',
    run: done(({ session }, { meta }) => session.changeMeta({ update: metaField(meta) })),
  },
  'video.delete_meta': {
    action: 'set_meta',
    run: done(({ session }, { keys }) => session.changeMeta({ remove: keysOf(keys) })),
  },
}

/** Request about one member. */
interface MemberRequest {
  /** Permission that the request needs; absent: none. */
  readonly action?: RoomAction
  readonly run: (room: RoomActor, member: RoomMember, params: Params) => Params | undefined
}

const change = (
  action: RoomAction,
  changesOf: (params: Params) => Partial<RoomMemberState>,
): MemberRequest => ({
  action,
  run: (room, { id }, params) => {
    room.session.change(id, changesOf(params), room.member?.id)
    return undefined
  },
})

const memberRequests: Readonly<Record<string, MemberRequest>> = {
  'video.member.audio_mute': change('audio_mute', () => ({ audio_muted: true })),
  'video.member.audio_unmute': change('audio_unmute', () => ({ audio_muted: false })),
  'video.member.video_mute': change('video_mute', () => ({ video_muted: true })),
  'video.member.video_unmute': change('video_unmute', () => ({ video_muted: false })),
  'video.member.deaf': change('deaf', () => ({ deaf: true })),
  'video.member.undeaf': change('undeaf', () => ({ deaf: false })),
  'video.member.raisehand': change('raisehand', () => ({ handraised: true })),
  'video.member.lowerhand': change('lowerhand', () => ({ handraised: false })),
  'video.member.set_input_volume': change('set_input_volume', ({ volume }) => ({
    input_volume: numberField('volume', volume, -50, 50),
  })),
  'video.member.set_output_volume': change('set_output_volume', ({ volume }) => ({
    output_volume: numberField('volume', volume, -50, 50),
  })),
  'video.member.set_input_sensitivity': change('set_input_sensitivity', ({ value }) => ({
    input_sensitivity: numberField('value', value, 0, 100),
  })),
  'video.member.set_position': {
    action: 'set_position',
    run: ({ session }, { id }, { position }) => {
      session.setPositions({ [id]: textField('position', position) })
      return undefined
    },
  },
  'video.member.get_meta': { run: (_room, { meta }) => ({ meta }) },
  'video.member.set_meta': {
    action: 'set_meta',
    run: ({ session }, { id }, { meta }) => {
      session.changeMemberMeta(id, { set: metaField(meta) })
      return undefined
    },
  },
  'video.member.update_meta': {
    action: 'set_meta',
    run: ({ session }, { id }, { meta }) => {
      session.changeMemberMeta(id, { update: metaField(meta) })
      return undefined
    },
  },
  'video.member.delete_meta': {
    action: 'set_meta',
    run: ({ session }, { id }, { keys }) => {
      session.changeMemberMeta(id, { remove: keysOf(keys) })
      return undefined
    },
  },
}

const promotionMethod = 'video.member.promote'
const demotionMethod = 'video.member.demote'
const positionMethod = 'video.set_position'
const removalMethod = 'video.member.remove'

/** Supported requests about a room or its members. */
export const videoMethods: readonly string[] = [
  ...Object.keys(roomRequests),
  ...Object.keys(memberRequests),
  positionMethod,
  removalMethod,
  promotionMethod,
  demotionMethod,
]

/**
 * Answers one of {@link videoMethods}. `actor`: undefined if the sender has no such room. Failures are a
 * `code` in the result, where the SDK expects them.
 */
export const handleVideoRequest = (actor: RoomActor | undefined, method: string, params: Params): Reply => {
  if (!actor) return failed('404', 'The room session does not exist.')
  try {
    return answer(actor, method, params)
  } catch (error) {
    if (error instanceof TrunklineError) return failed(String(catalogue[error.code].http), messageOf(error))
    if (!(error instanceof MemberRequestError)) throw error
    return failed(error.code, error.message)
  }
}

const answer = (actor: RoomActor, method: string, params: Params): Reply => {
  if (method === removalMethod) return remove(actor, params)
  if (method === positionMethod) return setPositions(actor, params)
  if (method === promotionMethod || method === demotionMethod)
    return changeRole(actor, method === promotionMethod ? 'promote' : 'demote', params)
  const request = roomRequests[method]
  if (!request) return changeMembers(actor, memberRequests[method]!, params)
  if (request.needsFfmpeg && !actor.session.hasFfmpeg) throw new TrunklineError('ffmpeg_missing')
  if (request.action) checkPermission(actor, request.action, 'room')
  return ok(request.run(actor, params))
}

/** Carries out a request about one member, or about all of them. */
const changeMembers = (room: RoomActor, { action, run }: MemberRequest, params: Params): Reply => {
  const id = memberIdOf(room, params)
  if (action) checkPermission(room, action, scopeOf(room, id))
  if (id !== 'all') return ok(run(room, memberOf(room, id), params))
  for (const member of room.session.members) if (member.type === 'member') run(room, member, params)
  return ok()
}

const remove = (room: RoomActor, params: Params): Reply => {
  const id = memberIdOf(room, params)
  checkPermission(room, 'remove', 'member')
  if (id === 'all') return ok(undefined, () => room.session.end('removed'))
  // The audience is not listed, but it is removed by its id as it is promoted by it.
  if (!room.session.member(id)) throw unknownMember()
  return ok(undefined, () => {
    // The member may have left since the answer.
    if (room.session.member(id)) room.session.remove(id)
  })
}

/** A member grants the permissions on the own member, and otherwise those that it has itself. */
const changeRole = (room: RoomActor, action: 'promote' | 'demote', params: Params): Reply => {
  const id = textField('member_id', params.member_id)
  checkPermission(room, action, 'member')
  if (id === room.member?.id) throw new MemberRequestError('403', 'No member changes its own role.')
  const change = roleChangeOf(params)
  if (!(change.permissions ?? []).every((name) => mayGrant(room.may.bind(room), name)))
    throw new MemberRequestError('403', 'The permissions exceed those of the sender.')
  room.session[action](id, change)
  return ok()
}

/** Own positions need the permission for the own member alone. */
const setPositions = (room: RoomActor, params: Params): Reply => {
  const positions = positionsField(room.member?.id, params.positions)
  const ids = Object.keys(positions)
  const isOwn = ids.every((id) => scopeOf(room, id) === 'self')
  if (!isOwn || !room.may('set_position', 'self')) checkPermission(room, 'set_position', 'room')
  for (const id of ids) memberOf(room, id)
  room.session.setPositions(positions)
  return ok()
}

const checkPermission = (actor: RoomActor, action: RoomAction, scope: PermissionScope): void => {
  if (!actor.may(action, scope)) throw new MemberRequestError('403', 'Unauthorized')
}

/** Returns the member id of a request; default the sender's own. */
const memberIdOf = ({ member }: RoomActor, { member_id: id }: Params): string =>
  id === undefined && member ? member.id : textField('member_id', id)

/** Returns whether a member is the sender's own, or its screen. */
const scopeOf = ({ session, member: own }: RoomActor, id: string): 'self' | 'member' =>
  own && (id === own.id || session.member(id)?.parentId === own.id) ? 'self' : 'member'

const memberOf = ({ session, member: own }: RoomActor, id: string): RoomMember => {
  const member = session.member(id)
  if (!member || (member.isAudience && id !== own?.id)) throw unknownMember()
  return member
}

const unknownMember = () => new MemberRequestError('404', 'The member does not exist.')

const keysOf = (value: unknown): readonly string[] => {
  if (!Array.isArray(value) || !value.every((key) => typeof key === 'string'))
    throw new MemberRequestError('422', 'keys: expected a list of strings')
  return value
}

/** Returns a function without fields for the result. */
function done(run: (room: RoomActor, params: Params) => void): RoomRequest['run'] {
  return (room, params) => {
    run(room, params)
    return undefined
  }
}

const ok = (result: Params = {}, after?: () => void): Reply => ({
  result: { code: '200', message: 'OK', ...result },
  after,
})

const failed = (code: string, message: string): Reply => ({ result: { code, message } })
