import type { CallEvents } from './call-events.ts'
import { Emitter } from './emitter.ts'
import { ClientError } from './errors.ts'
import type { Json } from './frames.ts'
import type { Log } from './log.ts'
import type {
  AudioFlagsParams,
  CallCapabilities,
  Layout,
  LayoutParams,
  Member,
  MemberParams,
  Positions,
  RaisedHandParams,
  SensitivityParams,
  VolumeParams,
} from './member-types.ts'
import { Members } from './members.ts'
import { Room } from './room.ts'

/** Medium that a call sends. */
export type Channel = 'audio' | 'video'

/**
 * Commands on the members of a call and on its room. Without a `memberId` a command applies to this client's
 * member.
 * Each rejects with `no_capability` if the gateway does not allow it, with `bad_state` before `call.joined`,
 * with `bad_argument`, or with the server's error.
 */
export abstract class CallCommands {
  readonly #members: Members
  readonly #events: Emitter<CallEvents>
  readonly #failed: (error: unknown) => void
  #room: Room | undefined

  constructor(id: string, log: Log, request: (method: string, params: Json) => Promise<Json>) {
    this.#failed = (error) => log.error('event listener of a call failed', error)
    this.#events = new Emitter(this.#failed)
    this.#members = new Members(id, {
      request,
      emit: (name, payload) => {
        this.#followRoom(name, payload)
        this.emit(name, payload)
      },
      selfJoined: (member) => this.selfJoined(member),
      selfUpdated: (member, updated) => this.selfUpdated(member, updated),
    })
  }

  /** Mutes or unmutes this client's member, locally at once and then at the gateway. */
  protected abstract setMuted(channel: Channel, muted: boolean): Promise<void>

  /** Handles the data of this client's member after the call joined a call or a room. */
  protected abstract selfJoined(member: Member): void

  /** Handles a change of this client's member by the gateway. */
  protected abstract selfUpdated(member: Member, updated: readonly string[]): void

  /** Handles a change of the listeners. */
  protected abstract listened(): void

  /** Members of the call; the same object until the call ends. */
  protected get memberState(): Members {
    return this.#members
  }

  /** Calls `listener` on every `name`. Adding the same function twice adds it once. */
  on<Name extends keyof CallEvents>(name: Name, listener: (payload: CallEvents[Name]) => void): void {
    this.#events.on(name, listener)
    this.listened()
  }

  /** Calls `listener` on the next `name` only. */
  once<Name extends keyof CallEvents>(name: Name, listener: (payload: CallEvents[Name]) => void): void {
    this.#events.on(name, listener, true)
    this.listened()
  }

  /** Removes one listener, or every listener of `name` if none is given. */
  off<Name extends keyof CallEvents>(name: Name, listener?: (payload: CallEvents[Name]) => void): void {
    this.#events.off(name, listener)
    this.listened()
  }

  protected emit<Name extends keyof CallEvents>(name: Name, payload: CallEvents[Name]): void {
    this.#events.emit(name, payload)
  }

  protected has(name: keyof CallEvents): boolean {
    return this.#events.has(name)
  }

  /** Removes all listeners. */
  protected silence(): void {
    this.#events.clear()
  }

  /** Ends the room of an ended call. `reason`: code of the call's end. */
  protected leaveRoom(reason: string): void {
    this.#room?.close(reason)
    this.#room = undefined
  }

  /** Members that the gateway reported, including this client's member and shared screens. */
  get members(): readonly Member[] {
    return this.#members.all
  }

  /** The own member; undefined before `call.joined`. */
  get selfMember(): Member | undefined {
    return this.#members.self
  }

  /** Id of this client's member; undefined before `call.joined`. */
  get memberId(): string | undefined {
    return this.selfMember?.member_id
  }

  /** Room that the call is in; undefined before `call.joined`. */
  get roomSessionId(): string | undefined {
    return this.#members.roomSessionId
  }

  /**
   * The room that the call is in: its members, lock and layout. Undefined before `call.joined`, in a call of
   * two, and after the call has left the room.
   */
  get room(): Room | undefined {
    return this.#room
  }

  /** Commands that the gateway allows; undefined before `call.joined`. */
  get capabilities(): CallCapabilities | undefined {
    return this.#members.capabilities
  }

  /** Layout of the room's video; undefined before the gateway's first report, and outside rooms. */
  get currentLayout(): Layout | undefined {
    return this.#members.layout
  }

  /** Requests the members of the call from the gateway. */
  async getMembers(): Promise<{ readonly members: readonly Member[] }> {
    const { members } = await this.#members.command('call.member.list', undefined)
    return { members: Array.isArray(members) ? members : [] }
  }

  /**
   * Mutes the audio of a member for all other members. For this client's member, the microphone is muted at
   * once, whatever the gateway answers.
   */
  audioMute(params: MemberParams = {}): Promise<void> {
    return this.#mute('audio', true, params)
  }

  /** Undoes {@link audioMute}. */
  audioUnmute(params: MemberParams = {}): Promise<void> {
    return this.#mute('audio', false, params)
  }

  /** Mutes the video of a member for all others; see {@link audioMute}. */
  videoMute(params: MemberParams = {}): Promise<void> {
    return this.#mute('video', true, params)
  }

  /** Undoes {@link videoMute}. */
  videoUnmute(params: MemberParams = {}): Promise<void> {
    return this.#mute('video', false, params)
  }

  /** Stops a member from hearing the others. */
  deaf({ memberId }: MemberParams = {}): Promise<void> {
    return this.#command('call.deaf', 'deaf.on', memberId)
  }

  /** Undoes {@link deaf}. */
  undeaf({ memberId }: MemberParams = {}): Promise<void> {
    return this.#command('call.undeaf', 'deaf.off', memberId)
  }

  /** Sets the volume at which the others hear a member. */
  async setInputVolume({ memberId, volume }: VolumeParams): Promise<void> {
    between('volume', volume, -50, 50)
    await this.#command('call.microphone.volume.set', 'microphone.volume.set', memberId, { volume })
  }

  /** Sets the volume at which a member hears the others. */
  async setOutputVolume({ memberId, volume }: VolumeParams): Promise<void> {
    between('volume', volume, -50, 50)
    await this.#command('call.speaker.volume.set', 'speaker.volume.set', memberId, { volume })
  }

  /** Sets the level below which a member's audio is suppressed. */
  async setInputSensitivity({ memberId, value }: SensitivityParams): Promise<void> {
    between('value', value, 0, 100)
    const sensitivity = { sensitivity: value }
    await this.#command(
      'call.microphone.sensitivity.set',
      'microphone.sensitivity.set',
      memberId,
      sensitivity,
    )
  }

  /** Raises a member's hand if `raised`, otherwise lowers it. */
  setRaisedHand({ memberId, raised = true }: RaisedHandParams = {}): Promise<void> {
    return raised
      ? this.#command('call.raisehand', 'raisehand.on', memberId)
      : this.#command('call.lowerhand', 'raisehand.off', memberId)
  }

  /** Switches the browser's processing of a member's microphone. Flags that are not given stay unchanged. */
  async setAudioFlags({ memberId, ...flags }: AudioFlagsParams): Promise<void> {
    const wire = {
      ...(flags.echoCancellation !== undefined && { echo_cancellation: flags.echoCancellation }),
      ...(flags.autoGain !== undefined && { auto_gain: flags.autoGain }),
      ...(flags.noiseSuppression !== undefined && { noise_suppression: flags.noiseSuppression }),
    }
    if (Object.keys(wire).length === 0)
      throw new ClientError('bad_argument', 'expected echoCancellation, autoGain or noiseSuppression')
    await this.#command('call.audioflags.set', 'audioflags.set', memberId, wire)
  }

  /** Requests the layouts that the gateway offers; an empty list for a call of two. */
  async getLayouts(): Promise<{ readonly layouts: readonly string[] }> {
    const { layouts } = await this.#members.command('call.layout.list', undefined)
    return { layouts: Array.isArray(layouts) ? layouts : [] }
  }

  /** Sets the layout of a room's video. */
  async setLayout({ name, positions }: LayoutParams): Promise<void> {
    this.#members.require('layout.set')
    await this.#members.command('call.layout.set', undefined, {
      layout: name,
      ...(positions && { positions }),
    })
  }

  /** Sets the positions of members in the layout. */
  async setPositions({ positions }: { readonly positions: Positions }): Promise<void> {
    const ids = Object.keys(positions)
    if (ids.length === 0) throw new ClientError('bad_argument', 'positions: expected one at least')
    for (const id of ids) this.#members.require(`${this.#members.sideOf(id)}.position.set`)
    const targets = ids.map((id) => ({ target: this.#members.reference(id), position: positions[id] }))
    await this.#members.plainCommand('call.member.position.set', { targets })
  }

  /** Removes a member from the call. */
  async removeMember({ memberId }: Required<MemberParams>): Promise<void> {
    if (!memberId) throw new ClientError('bad_argument', 'memberId: expected the id of a member')
    await this.#command('call.member.remove', 'remove', memberId)
  }

  /** Locks the room: no further members can join. */
  async lock(): Promise<void> {
    this.#members.require('lock.on')
    await this.#members.command('call.lock', undefined)
  }

  /** Undoes {@link lock}. */
  async unlock(): Promise<void> {
    this.#members.require('lock.off')
    await this.#members.command('call.unlock', undefined)
  }

  /** Ends the call for all members, or for one. */
  async end({ memberId }: MemberParams = {}): Promise<void> {
    this.#members.require('end')
    await this.#members.command('call.end', memberId)
  }

  #followRoom<Name extends keyof CallEvents>(name: Name, payload: CallEvents[Name]): void {
    const id = this.#members.room?.id
    if (this.#room?.id !== id) {
      this.#room?.close('reason' in payload ? String(payload.reason) : undefined)
      this.#room = id === undefined ? undefined : new Room(id, this.#members, this, this.#failed)
    }
    this.#room?.handle(name, payload)
  }

  async #mute(channel: Channel, muted: boolean, { memberId }: MemberParams): Promise<void> {
    if (this.#members.sideOf(memberId) === 'self') return this.setMuted(channel, muted)
    const [method, right] = muted ? ['call.mute', 'off'] : ['call.unmute', 'on']
    await this.#command(method, `mute.${channel}.${right}`, memberId, { channels: [channel] })
  }

  async #command(method: string, right: string, memberId: string | undefined, extra = {}): Promise<void> {
    this.#members.require(`${this.#members.sideOf(memberId)}.${right}`)
    await this.#members.command(method, memberId, extra)
  }
}

const between = (name: string, value: number, least: number, most: number): void => {
  if (!(value >= least && value <= most))
    throw new ClientError('bad_argument', `${name}: expected ${least} to ${most}, got ${value}`)
}
