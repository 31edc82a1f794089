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

/** What is sent of a call. */
export type Channel = 'audio' | 'video'

/**
 * What can be done to the members of a call, and to the room that it is in. Without a `memberId` a command is for ourselves. Each rejects at
 * once with `no_capability` for what the gateway does not allow, with `bad_state` before it told who is in the call, with `bad_argument`, or
 * with the server's error.
 */
export abstract class CallCommands {
  readonly #members: Members
  readonly #events: Emitter<CallEvents>

  constructor(id: string, log: Log, request: (method: string, params: Json) => Promise<Json>) {
    this.#events = new Emitter((error) => log.error('a listener of a call failed', error))
    this.#members = new Members(id, {
      request,
      emit: (name, payload) => this.emit(name, payload),
      selfJoined: (member) => this.selfJoined(member),
      selfUpdated: (member, updated) => this.selfUpdated(member, updated),
    })
  }

  /** Mutes ourselves: at once here, and at the gateway. */
  protected abstract setMuted(channel: Channel, muted: boolean): Promise<void>

  /** The gateway told who we are, in a call or in the room that it was moved to. */
  protected abstract selfJoined(member: Member): void

  /** The gateway changed what it knows of us. */
  protected abstract selfUpdated(member: Member, updated: readonly string[]): void

  /** Somebody listens to something else than before. */
  protected abstract listened(): void

  /** Who is in the call, for the rest of it. */
  protected get memberState(): Members {
    return this.#members
  }

  /** Calls `listener` on every `name` from now on. Adding the same function twice adds it once. */
  on<Name extends keyof CallEvents>(name: Name, listener: (payload: CallEvents[Name]) => void): void {
    this.#events.on(name, listener)
    this.listened()
  }

  /** Calls `listener` on the next `name` alone. */
  once<Name extends keyof CallEvents>(name: Name, listener: (payload: CallEvents[Name]) => void): void {
    this.#events.on(name, listener, true)
    this.listened()
  }

  /** Removes one listener, or every listener of `name` when none is given. */
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

  /** Nobody is told of anything any more. */
  protected silence(): void {
    this.#events.clear()
  }

  /** The members that the gateway told of, ourselves and shared screens among them. */
  get members(): readonly Member[] {
    return this.#members.all
  }

  /** Ourselves; undefined before `call.joined`. */
  get selfMember(): Member | undefined {
    return this.#members.self
  }

  /** Our own id among the members; undefined before `call.joined`. */
  get memberId(): string | undefined {
    return this.selfMember?.member_id
  }

  /** The room that the call is in; undefined before `call.joined`. */
  get roomSessionId(): string | undefined {
    return this.#members.roomSessionId
  }

  /** What the gateway lets us do; undefined before `call.joined`. */
  get capabilities(): CallCapabilities | undefined {
    return this.#members.capabilities
  }

  /** How the pictures of a room are arranged; undefined until the gateway tells, which it does for rooms alone. */
  get currentLayout(): Layout | undefined {
    return this.#members.layout
  }

  /** Asks the gateway who is in the call. */
  async getMembers(): Promise<{ readonly members: readonly Member[] }> {
    const { members } = await this.#members.command('call.member.list', undefined)
    return { members: Array.isArray(members) ? members : [] }
  }

  /** Lets nobody hear a member. For ourselves the microphone stops at once, whatever the gateway says. */
  audioMute(params: MemberParams = {}): Promise<void> {
    return this.#mute('audio', true, params)
  }

  /** Undoes {@link audioMute}. */
  audioUnmute(params: MemberParams = {}): Promise<void> {
    return this.#mute('audio', false, params)
  }

  /** Lets nobody see a member; as {@link audioMute}. */
  videoMute(params: MemberParams = {}): Promise<void> {
    return this.#mute('video', true, params)
  }

  /** Undoes {@link videoMute}. */
  videoUnmute(params: MemberParams = {}): Promise<void> {
    return this.#mute('video', false, params)
  }

  /** Lets a member hear nothing. */
  deaf({ memberId }: MemberParams = {}): Promise<void> {
    return this.#command('call.deaf', 'deaf.on', memberId)
  }

  /** Undoes {@link deaf}. */
  undeaf({ memberId }: MemberParams = {}): Promise<void> {
    return this.#command('call.undeaf', 'deaf.off', memberId)
  }

  /** How loud a member is for the others. */
  async setInputVolume({ memberId, volume }: VolumeParams): Promise<void> {
    between('volume', volume, -50, 50)
    await this.#command('call.microphone.volume.set', 'microphone.volume.set', memberId, { volume })
  }

  /** How loud the others are for a member. */
  async setOutputVolume({ memberId, volume }: VolumeParams): Promise<void> {
    between('volume', volume, -50, 50)
    await this.#command('call.speaker.volume.set', 'speaker.volume.set', memberId, { volume })
  }

  /** How loud a member has to be to be heard at all. */
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

  /** Raises a member's hand, or lowers it. */
  setRaisedHand({ memberId, raised = true }: RaisedHandParams = {}): Promise<void> {
    return raised
      ? this.#command('call.raisehand', 'raisehand.on', memberId)
      : this.#command('call.lowerhand', 'raisehand.off', memberId)
  }

  /** Switches what the browser does to a member's microphone; what is not given stays. */
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

  /** Asks the gateway in which ways it can arrange pictures; none for a call of two. */
  async getLayouts(): Promise<{ readonly layouts: readonly string[] }> {
    const { layouts } = await this.#members.command('call.layout.list', undefined)
    return { layouts: Array.isArray(layouts) ? layouts : [] }
  }

  /** Arranges the pictures of a room. */
  async setLayout({ name, positions }: LayoutParams): Promise<void> {
    this.#members.require('layout.set')
    await this.#members.command('call.layout.set', undefined, {
      layout: name,
      ...(positions && { positions }),
    })
  }

  /** Gives members their places in the layout. */
  async setPositions({ positions }: { readonly positions: Positions }): Promise<void> {
    const ids = Object.keys(positions)
    if (ids.length === 0) throw new ClientError('bad_argument', 'positions: expected one at least')
    for (const id of ids) this.#members.require(`${this.#members.sideOf(id)}.position.set`)
    const targets = ids.map((id) => ({ target: this.#members.reference(id), position: positions[id] }))
    await this.#members.plainCommand('call.member.position.set', { targets })
  }

  /** Puts a member out of the call. */
  async removeMember({ memberId }: Required<MemberParams>): Promise<void> {
    if (!memberId) throw new ClientError('bad_argument', 'memberId: expected the id of a member')
    await this.#command('call.member.remove', 'remove', memberId)
  }

  /** Lets nobody else in. */
  async lock(): Promise<void> {
    this.#members.require('lock.on')
    await this.#members.command('call.lock', undefined)
  }

  /** Undoes {@link lock}. */
  async unlock(): Promise<void> {
    this.#members.require('lock.off')
    await this.#members.command('call.unlock', undefined)
  }

  /** Ends the call for everybody, or for one member. */
  async end({ memberId }: MemberParams = {}): Promise<void> {
    this.#members.require('end')
    await this.#members.command('call.end', memberId)
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
