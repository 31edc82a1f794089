import type { CallCommands } from './call-commands.ts'
import type { CallEvents } from './call-events.ts'
import { Emitter } from './emitter.ts'
import { ClientError, type ErrorCode } from './errors.ts'
import type { Layout, Member } from './member-types.ts'
import type { Members } from './members.ts'
import type { MemberMutes, RoomClosing, RoomEvents, RoomMember, RoomRights } from './room-types.ts'

/** Commands of the call that its room uses. */
export type RoomCommands = Pick<
  CallCommands,
  | 'audioMute'
  | 'audioUnmute'
  | 'videoMute'
  | 'videoUnmute'
  | 'setRaisedHand'
  | 'removeMember'
  | 'getLayouts'
  | 'setLayout'
  | 'lock'
  | 'unlock'
  | 'end'
>

const closings: readonly RoomClosing[] = ['removed', 'ended', 'expired']

/**
 * Room that a call is in: its members, lock and layout. From {@link CallCommands.room}.
 *
 * Methods reject with `no_capability` (not permitted), `unknown_member`, `unknown_layout`, `bad_argument`, or
 * `bad_state` after the call has left the room.
 */
export class Room {
  /** Id of the room session, which lasts from the first member to the last. */
  readonly id: string
  readonly #members: Members
  readonly #commands: RoomCommands
  readonly #events: Emitter<RoomEvents>
  #list: { readonly source: readonly Member[]; readonly members: readonly RoomMember[] } | undefined
  #rights: { readonly source: unknown; readonly rights: RoomRights } | undefined
  #layouts: readonly string[] = []
  #layoutName: string | undefined
  #wasLocked: boolean
  #isClosed = false

  /** For the call only. `failed` receives errors of listeners. */
  constructor(id: string, members: Members, commands: RoomCommands, failed: (error: unknown) => void) {
    this.id = id
    this.#members = members
    this.#commands = commands
    this.#events = new Emitter(failed)
    this.#wasLocked = this.isLocked
    void this.#loadLayouts()
  }

  /** Name to show. */
  get name(): string {
    const { display_name: displayName, name } = this.#members.room ?? {}
    return displayName || name || ''
  }

  /** Members and shared screens. The same array until a member changes. */
  get members(): readonly RoomMember[] {
    const source = this.#members.all
    if (this.#list?.source !== source)
      this.#list = { source, members: source.map((each) => this.#view(each, source)) }
    return this.#list.members
  }

  /** The own member. */
  get self(): RoomMember | undefined {
    return this.members.find(({ isSelf }) => isSelf)
  }

  /** Whether the room admits no further members. */
  get isLocked(): boolean {
    return this.#members.room?.locked === true
  }

  /** Places in the picture that this client receives; undefined before its first report. */
  get layout(): Layout | undefined {
    return this.#members.layout
  }

  /** Names of the layouts that can be set at present; empty until the gateway has sent them. */
  get layouts(): readonly string[] {
    return this.#layouts
  }

  /** Changes of the room that the gateway permits to this client. The same object until they change. */
  get rights(): RoomRights {
    const { capabilities: source } = this.#members
    if (this.#rights && this.#rights.source === source) return this.#rights.rights
    const may = (capability: string) => this.#members.may(capability)
    const rights = {
      lock: may('lock.on'),
      setLayout: may('layout.set'),
      muteOthers: may('member.mute.audio.off'),
      remove: may('member.remove'),
      end: may('end'),
    }
    this.#rights = { source, rights }
    return rights
  }

  /** Calls `listener` on every `name`. Adding the same function twice adds it once. */
  on<Name extends keyof RoomEvents>(name: Name, listener: (payload: RoomEvents[Name]) => void): void {
    this.#events.on(name, listener)
  }

  /** Removes one listener, or every listener of `name` if none is given. */
  off<Name extends keyof RoomEvents>(name: Name, listener?: (payload: RoomEvents[Name]) => void): void {
    this.#events.off(name, listener)
  }

  /** Raises a hand if `raised`, otherwise lowers it. `memberId`: default the own member. */
  setHand(raised: boolean, memberId?: string): Promise<void> {
    return this.#run(memberId, () => this.#commands.setRaisedHand({ raised, ...(memberId && { memberId }) }))
  }

  /** Mutes or unmutes a member for all others. An own member's devices are muted at once. */
  muteMember(memberId: string, { audio, video }: MemberMutes): Promise<void> {
    const commands = this.#commands
    return this.#run(memberId, async () => {
      if (audio !== undefined) await commands[audio ? 'audioMute' : 'audioUnmute']({ memberId })
      if (video !== undefined) await commands[video ? 'videoMute' : 'videoUnmute']({ memberId })
    })
  }

  /** Removes a member, or ends a shared screen. */
  remove(memberId: string): Promise<void> {
    return this.#run(memberId, () => this.#commands.removeMember({ memberId }))
  }

  /** Locks the room: further callers are rejected with `room_locked`. */
  lock(): Promise<void> {
    return this.#run(undefined, () => this.#commands.lock())
  }

  /** Undoes {@link lock}. */
  unlock(): Promise<void> {
    return this.#run(undefined, () => this.#commands.unlock())
  }

  /** Sets the layout for all members. `name`: one of {@link layouts}. */
  setLayout(name: string): Promise<void> {
    return this.#run(undefined, () => this.#commands.setLayout({ name }), 'unknown_layout')
  }

  /** Ends the room: removes all members, this client included. */
  end(): Promise<void> {
    return this.#run(undefined, () => this.#commands.end())
  }

  /** For the call only: follows an event of the call. */
  handle<Name extends keyof CallEvents>(name: Name, payload: CallEvents[Name]): void {
    if (name === 'member.joined' || name === 'member.left') {
      const { member } = payload as CallEvents['member.joined']
      this.#events.emit(name === 'member.joined' ? 'joined' : 'left', {
        member: this.#view(member, this.#members.all),
      })
    } else if (name === 'memberList.updated' || name === 'member.talking')
      this.#events.emit('members', { members: this.members })
    else if (name === 'layout.changed') {
      const { layout } = payload as CallEvents['layout.changed']
      this.#events.emit('layout', { layout })
      if (layout.name !== this.#layoutName) void this.#loadLayouts()
      this.#layoutName = layout.name
    } else if (this.isLocked !== this.#wasLocked) {
      this.#wasLocked = this.isLocked
      this.#events.emit('locked', { isLocked: this.isLocked })
    }
  }

  /** For the call only: reports that the call left the room. `reason`: as the gateway sent it. */
  close(reason?: string): void {
    this.#isClosed = true
    const closing = reason?.replace(/^room_/, '')
    this.#events.emit('closed', { reason: closings.find((each) => each === closing) ?? 'left' })
    this.#events.clear()
  }

  // A gateway that sends no list offers no choice.
  async #loadLayouts(): Promise<void> {
    const { layouts } = await this.#commands.getLayouts().catch(() => ({ layouts: this.#layouts }))
    if (this.#isClosed || String(layouts) === String(this.#layouts)) return
    this.#layouts = layouts
    this.#events.emit('layouts', { layouts })
  }

  async #run(
    memberId: string | undefined,
    command: () => Promise<unknown>,
    invalid: ErrorCode = 'bad_argument',
  ): Promise<void> {
    if (this.#isClosed) throw new ClientError('bad_state', 'The call has left the room.')
    if (memberId !== undefined && !this.members.some(({ id }) => id === memberId))
      throw new ClientError('unknown_member', `The room has no member "${memberId}".`)
    try {
      await command()
    } catch (error) {
      throw refusal(error, invalid)
    }
  }

  #view(member: Member, all: readonly Member[]): RoomMember {
    const { member_id: id, type = 'member' } = member
    return {
      id,
      name: member.name ?? '',
      kind: type,
      ownerId: member.parent_id ?? undefined,
      isSelf: this.#members.isSelf(id),
      isPhone: member.is_phone === true,
      isVisible: member.visible === true,
      isSharing: all.some((other) => other.type === 'screen' && other.parent_id === id),
      isOnHold: member.on_hold === true,
      audioMuted: member.audio_muted === true,
      videoMuted: member.video_muted === true,
      handRaised: member.handraised === true,
      talking: member.talking === true,
      subscriberId: member.subscriber_id ?? null,
    }
  }
}

/** Returns the error of a room command with the code for the status of the gateway's reply. */
const refusal = (error: unknown, invalid: ErrorCode): unknown => {
  if (!(error instanceof ClientError) || error.code !== 'server') return error
  const codes: Readonly<Record<string, ErrorCode>> = {
    403: 'no_capability',
    404: 'unknown_member',
    409: 'bad_state',
    422: invalid,
  }
  const code = codes[error.serverCode ?? '']
  return code ? new ClientError(code, error.message, { serverCode: error.serverCode, cause: error }) : error
}
