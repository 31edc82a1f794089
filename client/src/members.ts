import type { CallEvents } from './call-events.ts'
import { allows, capabilitiesOf } from './capabilities.ts'
import { ClientError } from './errors.ts'
import { type Json, record, text } from './frames.ts'
import type { CallCapabilities, Layout, Member, RoomSession } from './member-types.ts'

/** Reference to a member in `call.…` requests. */
interface Reference {
  readonly member_id: string
  readonly call_id: string
  readonly node_id: string
}

/** Callbacks of {@link Members}. */
export interface MembersOwner {
  /** Sends a `call.…` request. */
  request(method: string, params: Json): Promise<Json>
  emit<Name extends keyof CallEvents>(name: Name, payload: CallEvents[Name]): void
  /** Handles the data of this client's member after it joined. */
  selfJoined(member: Member): void
  /** Handles a change of this client's member. `updated`: names of the changed fields. */
  selfUpdated(member: Member, updated: readonly string[]): void
}

/** Members, capabilities and layout of a call, as the gateway last reported them. */
export class Members {
  readonly #callId: string
  readonly #owner: MembersOwner
  #members: readonly Member[] = []
  #self: Reference | undefined
  #target: Reference | undefined
  #rooms = new Set<string>()
  #room: string | undefined
  #grants: readonly string[] | undefined
  #capabilities: CallCapabilities | undefined
  #layout: Layout | undefined
  #session: RoomSession | undefined

  constructor(callId: string, owner: MembersOwner) {
    this.#callId = callId
    this.#owner = owner
  }

  get all(): readonly Member[] {
    return this.#members
  }

  /** The own member in the room that the call is in now. */
  get self(): Member | undefined {
    return this.#members.find(({ member_id }) => member_id === this.#target?.member_id)
  }

  /** Whether other members send video, as reported by the gateway; true if it reported no other members. */
  get farVideo(): boolean {
    // The page's own shared screen is not media of the far side.
    const others = this.#members.filter(
      ({ member_id: id, parent_id: parent }) => !this.isSelf(id) && !this.isSelf(parent ?? undefined),
    )
    const sends = ({ type, visible, video_muted: muted }: Member) =>
      type === 'screen' || (visible !== false && !muted)
    return others.length === 0 || others.some(sends)
  }

  /** Whether there are other members, and all of them have put the call on hold. */
  get isHeldByOthers(): boolean {
    const others = this.#members.filter(({ member_id: id, type }) => type !== 'screen' && !this.isSelf(id))
    return others.length > 0 && others.every(({ on_hold: isOnHold }) => isOnHold)
  }

  get roomSessionId(): string | undefined {
    return this.#room
  }

  /** Session of the room that the call is in, without its members; undefined in a call of two. */
  get room(): RoomSession | undefined {
    return this.#session
  }

  get capabilities(): CallCapabilities | undefined {
    return this.#capabilities
  }

  get layout(): Layout | undefined {
    return this.#layout
  }

  /** Whether an event of the server belongs to this call. */
  concerns(params: Json): boolean {
    if (params.call_id === this.#callId || params.origin_call_id === this.#callId) return true
    const room = text(params.room_session_id)
    if (room !== undefined && this.#rooms.has(room)) return true
    return this.isSelf(text(record(params.member).member_id))
  }

  /** Returns whether an id is the id of this client's member, in the first room or in the current room. */
  isSelf(memberId: string | undefined): boolean {
    return (
      memberId !== undefined && (memberId === this.#self?.member_id || memberId === this.#target?.member_id)
    )
  }

  /**
   * Handles a `call.`, `member.`, `layout.` or `ai.` event of the server. Ignores events of an unexpected
   * shape.
   */
  notify(type: string, params: Json): void {
    const member = record(params.member)
    const known = text(member.member_id) !== undefined
    if (type === 'call.joined') this.#joined(params)
    else if (type === 'call.updated') this.#roomUpdated(params)
    else if (type === 'call.left') this.#left(params)
    else if (type === 'member.joined' && known) this.#memberJoined(member as unknown as Member, params)
    else if (type === 'member.left' && known) this.#memberLeft(member as unknown as Member, params)
    else if (type === 'member.updated' && known) this.#memberUpdated(member as unknown as Member, params)
    else if (type === 'member.talking' && known) this.#talking(member as unknown as Member, params)
    else if (type === 'layout.changed') this.#layoutChanged(params)
    else if (plain.has(type))
      this.#owner.emit(type as 'call.play', params as unknown as CallEvents['call.play'])
  }

  /** Whether the gateway allows a capability, or never sent its capabilities. */
  may(capability: string): boolean {
    return !this.#grants || allows(this.#grants, capability)
  }

  /**
   * Throws `no_capability` if the gateway sent its capabilities without this one. A gateway that sent none
   * decides on each request.
   */
  require(capability: string): void {
    if (!this.may(capability))
      throw new ClientError('no_capability', `The gateway does not allow ${capability} in this call.`)
  }

  /** Returns `self` or `member`: the group of capabilities that a command to a member needs. */
  sideOf(memberId: string | undefined): 'self' | 'member' {
    return memberId === undefined || memberId === 'self' || this.isSelf(memberId) ? 'self' : 'member'
  }

  /**
   * Returns the reference to a member; without an id, to this client's member. Throws `bad_state` or
   * `bad_argument`.
   */
  reference(memberId?: string): Reference {
    const own = this.#target
    if (!own) throw new ClientError('bad_state', 'The gateway has not reported the members of the call yet.')
    if (memberId === undefined || memberId === 'self') return own
    if (memberId === 'all') return { ...own, member_id: 'all' }
    const found = this.#members.find(({ member_id }) => member_id === memberId)
    if (!found)
      throw new ClientError('bad_argument', `memberId: no member of the call has the id "${memberId}"`)
    return referenceTo(found, this.#callId)
  }

  /** Sends a command for a member. Rejects like {@link reference}, or with the server's error. */
  async command(method: string, memberId: string | undefined, extra: Json = {}): Promise<Json> {
    const target = this.reference(memberId)
    return this.#owner.request(method, { self: this.#self ?? this.reference(), target, ...extra })
  }

  /** Sends a command without a target. */
  async plainCommand(method: string, extra: Json): Promise<Json> {
    return this.#owner.request(method, { self: this.#self ?? this.reference(), ...extra })
  }

  /** Whether the gateway has reported this client's member. */
  get isJoined(): boolean {
    return this.#target !== undefined
  }

  #joined(params: Json): void {
    const room = record(params.room_session)
    this.#members = membersOf(room)
    const own =
      this.#members.find(({ member_id }) => member_id === params.member_id) ??
      this.#members.find(({ call_id }) => call_id === params.call_id)
    if (own) {
      this.#target = referenceTo(own, this.#callId)
      if (params.call_id === this.#callId) this.#self = this.#target
    } else if (!this.#target && this.#self) this.#target = this.#self
    this.#room = text(params.room_session_id) ?? text(room.room_session_id) ?? this.#room
    if (this.#room) this.#rooms.add(this.#room)
    // The gateway sends no `id` for a call of two.
    const { members: _, ...session } = room
    this.#session = text(room.id) === undefined ? undefined : session
    if (Array.isArray(params.capabilities))
      this.#grants = params.capabilities.filter((grant) => typeof grant === 'string')
    this.#capabilities = capabilitiesOf(this.#grants ?? everything)
    const payload = { ...params, room_session: room, capabilities: this.#capabilities }
    this.#owner.emit('call.joined', payload as unknown as CallEvents['call.joined'])
    if (own) this.#owner.selfJoined(own)
    this.#emitMembers()
  }

  #roomUpdated(params: Json): void {
    const room = record(params.room_session)
    if (Array.isArray(room.members)) this.#members = membersOf(room)
    const { members: _, ...session } = room
    if (this.#session && this.#session.id === session.id) this.#session = { ...this.#session, ...session }
    this.#owner.emit('call.updated', { ...params, room_session: room } as CallEvents['call.updated'])
    if (Array.isArray(room.members)) this.#emitMembers()
  }

  // The call was moved back out of a room: later events have the ids of the original call again.
  #left(params: Json): void {
    const left = text(params.room_session_id)
    if (left === this.#session?.id) {
      this.#session = undefined
      this.#layout = undefined
    }
    if (left && params.call_id !== this.#callId) {
      this.#rooms.delete(left)
      this.#target = this.#self
      this.#members = this.#members.filter(({ room_session_id }) => room_session_id !== left)
    }
    this.#owner.emit('call.left', params as unknown as CallEvents['call.left'])
  }

  #memberJoined(member: Member, params: Json): void {
    this.#members = [...this.#members.filter(({ member_id }) => member_id !== member.member_id), member]
    this.#owner.emit('member.joined', { ...params, member })
    this.#emitMembers()
  }

  #memberLeft(member: Member, params: Json): void {
    this.#members = this.#members.filter(({ member_id }) => member_id !== member.member_id)
    this.#owner.emit('member.left', { ...params, member })
    this.#emitMembers()
  }

  #memberUpdated(change: Member, params: Json): void {
    const { updated: names } = change as { updated?: unknown }
    const updated = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
    const before = this.#members.find(({ member_id }) => member_id === change.member_id)
    const member = { ...before, ...change, updated }
    const { updated: _, ...kept } = member
    if (before) this.#members = this.#members.map((other) => (other === before ? kept : other))
    if (this.isSelf(change.member_id)) this.#owner.selfUpdated(kept, updated)
    const payload = { ...params, member }
    this.#owner.emit('member.updated', payload)
    for (const name of updated) this.#owner.emit(`member.updated.${camel(name)}` as 'member.updated', payload)
    if (before) this.#emitMembers()
  }

  #talking(change: Member, params: Json): void {
    const talking = change.talking === true
    this.#members = this.#members.map((member) =>
      member.member_id === change.member_id ? { ...member, talking } : member,
    )
    this.#owner.emit('member.talking', { ...params, member: { ...change, talking } })
  }

  #layoutChanged(params: Json): void {
    const layout = record(params.layout)
    if (!Array.isArray(layout.layers)) return
    this.#layout = layout as unknown as Layout
    this.#owner.emit('layout.changed', { ...params, layout: this.#layout })
  }

  #emitMembers(): void {
    this.#owner.emit('memberList.updated', { members: this.#members })
  }
}

const plain: ReadonlySet<string> = new Set([
  'call.state',
  'call.play',
  'call.connect',
  'call.room',
  'ai.start',
  'ai.stop',
  'ai.partial_result',
  'ai.speech_detect',
  'ai.transparent_barge',
  'ai.response_utterance',
  'ai.completion',
  'ai.warning',
])

// Capabilities of a gateway that sends none: it decides on each command.
const everything = ['self', 'member', 'end', 'layout', 'digit', 'vmuted', 'lock', 'device', 'screenshare']

const membersOf = (room: Json): Member[] =>
  (Array.isArray(room.members) ? room.members.map(record) : []).filter(
    ({ member_id: id }) => typeof id === 'string' && id !== '',
  ) as unknown as Member[]

const referenceTo = (member: Member, callId: string): Reference => ({
  member_id: member.member_id,
  call_id: member.call_id ?? callId,
  node_id: member.node_id ?? '',
})

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
