import { randomUUID } from 'node:crypto'
import { CallEnded, type RoomOptions, type RoomResult } from '../../../handlers/verbs.ts'
import type { BrowserVideo } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { guardListener } from '../../core/guard.ts'
import type { CameraSize } from '../../rooms/camera-sizes.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { RemovalReason, RoomMember } from '../../rooms/room-types.ts'
import type { Call } from '../call/call.ts'
import type { Leg } from '../leg/leg.ts'
import type {
  RoomLeg,
  RoomProfile,
  RoomSeat,
  RoomSource,
  SeatTracks,
  TrackListener,
} from '../leg/room-seat.ts'
import type { OpenRoom } from './open-room.ts'

/** Membership of one leg, until the leg leaves the room or another leg takes its place. */
class LegSeat implements RoomSeat {
  readonly member: RoomMember
  readonly leg: Leg
  readonly #room: OpenRoom
  #isOver = false
  #stopWatching = () => {}

  private constructor(room: OpenRoom, leg: Leg, member: RoomMember) {
    this.#room = room
    this.leg = leg
    this.member = member
  }

  /** Throws as `RoomSession.join` does. */
  static join(room: OpenRoom, leg: Leg, onRemoved: (kind: RemovalReason) => void): LegSeat {
    const { isRenewal: _, ...party } = partyOf(leg)
    const member = room.session.join({ id: randomUUID(), type: 'member', ...party, onRemoved })
    return new LegSeat(room, leg, member)
  }

  get session(): RoomSession {
    return this.#room.session
  }

  showVideo(video: BrowserVideo): void {
    if (this.#isOver) return
    const report = () => this.session.setHasVideo(this.member.id, video.isSending)
    this.#stopWatching()
    this.#stopWatching = video.onChange(report)
    this.#room.addVideo(this.member.id, video)
    report()
  }

  onCameraSize(listener: (size: CameraSize) => void): void {
    this.#room.onCameraSize(this.member.id, listener)
  }

  openTracks(lines: number, listener: TrackListener): Promise<SeatTracks> {
    return this.#room.openTracks(this.member.id, lines, listener)
  }

  addSource({ type, source, callId, layout, position, onRemoved }: RoomSource): RoomMember {
    const { id: parentId, name, subscriberId, addressId } = this.member
    const { canSpeak, canShow } = this.member.media
    const media = {
      canSpeak: canSpeak && source.port !== undefined,
      canHear: false,
      canShow: canShow && source.hasVideo,
    }
    if (type === 'screen' ? !media.canShow : !media.canShow && !media.canSpeak)
      throw new TrunklineError('not_permitted', `The member may not send the ${type}.`)
    const member = this.session.join({
      id: randomUUID(),
      type,
      parentId,
      callId,
      name,
      subscriberId,
      addressId,
      isPhone: false,
      media,
      ...(layout !== undefined && { layout }),
      ...(position !== undefined && { requestedPosition: position }),
      onRemoved,
    })
    this.#room.addSource(member, source)
    this.session.setHasVideo(member.id, source.hasVideo)
    return member
  }

  removeSource(source: RoomMember): void {
    this.session.leave(source.id, 'left')
  }

  setParty(leg: RoomLeg): void {
    this.#stopWatching()
    this.#stopWatching = () => {}
    const party = partyOf(leg)
    // The viewer of a renewed connection continues with its stream.
    if (!party.isRenewal) this.#room.removeVideo(this.member.id)
    this.session.replace(this.member.id, party)
  }

  /** Gives the place to another leg, and returns its seat. */
  replacedBy(leg: Leg): LegSeat {
    this.#isOver = true
    this.leg.entered(undefined)
    this.setParty(leg)
    return new LegSeat(this.#room, leg, this.member)
  }

  /** Leaves the room. Idempotent. */
  leave(reason: RoomResult['kind']): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#stopWatching()
    this.leg.entered(undefined)
    this.session.leave(this.member.id, reason)
  }
}

/** Time of one call in a room. */
export class RoomParticipant {
  readonly #room: OpenRoom
  readonly #call: Call
  readonly #clock: Clock
  readonly #ended = Promise.withResolvers<RoomResult['kind']>()

  constructor(room: OpenRoom, call: Call, clock: Clock) {
    this.#room = room
    this.#call = call
    this.#clock = clock
  }

  /**
   * Joins the room, answers the call, and resolves when the call has left. Throws as `RoomSession.join` does
   * before the answer.
   */
  async run(options: Pick<RoomOptions, 'signal' | 'onJoined'>): Promise<RoomResult> {
    const { id: callId, caller } = this.#call
    const removeCall = this.#room.addCall({ callId, legId: caller.id })
    try {
      return await this.#stay(options)
    } finally {
      removeCall()
    }
  }

  async #stay({ signal, onJoined }: Pick<RoomOptions, 'signal' | 'onJoined'>): Promise<RoomResult> {
    const call = this.#call
    const startedAt = this.#clock.now()
    let seat = this.#seat()
    let kind: RoomResult['kind'] = 'left'
    const { id: roomSessionId, settings } = this.#room.session
    const { id: roomId } = settings
    call.listen({
      digit: () => {},
      held: (isHeld) => this.#room.session.setHeld(seat.member.id, isHeld),
      replaced: () => {
        seat = this.#replace(seat)
      },
    })
    try {
      const port = await call.openAudio(true, signal)
      this.#room.addVoice(seat.member, port)
      if (onJoined) guardListener(onJoined, call.log)({ roomId, roomSessionId, memberId: seat.member.id })
      kind = await call.whileUp(this.#ended.promise, signal)
    } catch (error) {
      if (!(error instanceof CallEnded)) throw error
    } finally {
      call.listen(undefined)
      seat.leave(kind)
    }
    return { kind, roomId, roomSessionId, durationMs: this.#clock.now() - startedAt }
  }

  #seat(): LegSeat {
    const seat = LegSeat.join(this.#room, this.#call.caller, (kind) => this.#ended.resolve(kind))
    this.#call.caller.entered(seat)
    return seat
  }

  /** Returns the seat of a leg that has replaced the caller's: the same member. */
  #replace(former: LegSeat): LegSeat {
    const { caller } = this.#call
    const seat = former.replacedBy(caller)
    caller.entered(seat)
    if (caller.port) this.#room.addVoice(seat.member, caller.port)
    this.#room.session.setHeld(seat.member.id, caller.isHolding)
    return seat
  }
}

/** Returns the party of a leg, as the other members see it. */
const partyOf = (leg: RoomLeg) => {
  const { profile } = leg
  return { ...(profile ?? profileOfPhone(leg)), isPhone: profile === undefined }
}

/** Returns the profile of a far side without a page. */
const profileOfPhone = ({ id, direction, from, to }: RoomLeg): RoomProfile => {
  const { name, user, private: isAnonymous } = direction === 'inbound' ? from : to
  return {
    callId: id,
    name: isAnonymous ? 'Anonymous' : name || user,
    subscriberId: null,
    addressId: null,
    meta: {},
    state: { video_muted: true },
  }
}
