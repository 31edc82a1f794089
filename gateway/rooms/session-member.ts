import type { Timer } from '../core/clock.ts'
import type { Occupant } from './layouts/arrange.ts'
import { memberMedia } from './member-media.ts'
import type {
  JoinOptions,
  MemberMedia,
  Meta,
  Position,
  RemovalReason,
  RoleChange,
  RoomMember,
  RoomMemberState,
  RoomParty,
  TokenHolder,
} from './room-types.ts'

const defaultState: RoomMemberState = {
  handraised: false,
  audio_muted: false,
  video_muted: false,
  deaf: false,
  input_volume: 0,
  output_volume: 0,
  input_sensitivity: 50,
  echo_cancellation: true,
  auto_gain: true,
  noise_suppression: true,
}

const stateNames = Object.keys(defaultState) as readonly (keyof RoomMemberState)[]

/** State that changes the sound of the room. The other audio flags belong to the member's device. */
const audioNames: ReadonlySet<string> = new Set([
  'audio_muted',
  'deaf',
  'input_volume',
  'output_volume',
  'input_sensitivity',
])

const mutes = ['audio_muted', 'video_muted'] as const

/** Names in a change that have a value. */
const namesIn = (changes: Partial<RoomMemberState>): readonly (keyof RoomMemberState)[] =>
  stateNames.filter((name) => changes[name] !== undefined)

/** Origin of a change: the member, another member, or the application. */
type ChangeSource = 'self' | 'other' | 'application'

/** Result of {@link SessionMember.change}. */
interface MemberChange {
  /** Names of the given state, and `visible` if the visibility changed. */
  readonly updated: readonly string[]
  readonly isAudioChanged: boolean
}

/** Collected facts of a member at its joining. */
export interface SessionMemberOptions extends JoinOptions {
  /** ms since the epoch. */
  readonly joinedAt: number
  readonly meta: Meta
  readonly requestedPosition: Position
  readonly requestOrder: number
}

/** Member of a session, with the changes that the session makes. */
export class SessionMember implements RoomMember, Occupant {
  readonly id: string
  readonly type: RoomMember['type']
  readonly parentId?: string
  callId: string
  name: string
  subscriberId: string | null
  addressId: string | null
  isPhone: boolean
  isAudience: boolean
  media: MemberMedia
  holder: TokenHolder | undefined
  readonly endsSessionOnLeave: boolean
  readonly joinedAt: number
  readonly onRemoved: (reason: RemovalReason) => void
  meta: Meta
  hasVideo: boolean
  isTalking = false
  /** Whether it talks, and is not in a pause. */
  hasVoice = false
  isOnHold = false
  requestedPosition: Position
  requestOrder: number
  /** Set once its owner learns that the room removes the member. */
  removal: RemovalReason | undefined
  /** Time limit of the member. */
  expiry: Timer | undefined
  #state: RoomMemberState
  /** Mutes that the member set itself, which no other member may undo. */
  readonly #ownMutes: Set<string>

  constructor(options: SessionMemberOptions) {
    this.id = options.id
    this.type = options.type
    if (options.parentId !== undefined) this.parentId = options.parentId
    this.callId = options.callId
    this.name = options.name
    this.subscriberId = options.subscriberId
    this.addressId = options.addressId
    this.isPhone = options.isPhone
    this.isAudience = options.isAudience ?? false
    this.media = mediaOf(options)
    this.holder = options.holder
    this.endsSessionOnLeave = options.endsSessionOnLeave ?? false
    this.joinedAt = options.joinedAt
    this.onRemoved = options.onRemoved
    this.meta = options.meta
    this.hasVideo = this.canShow && (options.hasVideo ?? false)
    this.requestedPosition = options.requestedPosition
    this.requestOrder = options.requestOrder
    this.#state = this.#permitted(withChanges(defaultState, options.state ?? {}))
    this.#ownMutes = new Set(mutes.filter((name) => this.#state[name]))
  }

  get state(): RoomMemberState {
    return this.#state
  }

  get isVisible(): boolean {
    return this.hasVideo && !this.#state.video_muted && !this.isOnHold
  }

  /** Whether the member may send video. */
  get canShow(): boolean {
    return !this.isPhone && this.media.canShow
  }

  /** Whether the member receives the picture of the room. */
  get isViewer(): boolean {
    return this.type === 'member' && !this.isPhone
  }

  /** Changes the state. A mute of the member itself stays if another member wants to undo it. */
  change(changes: Partial<RoomMemberState>, by: ChangeSource): MemberChange {
    const permitted: { -readonly [Name in keyof RoomMemberState]?: RoomMemberState[Name] } = { ...changes }
    for (const name of mutes) {
      if (changes[name] === false && by === 'other' && this.#ownMutes.has(name)) permitted[name] = true
      else if (changes[name] === false) this.#ownMutes.delete(name)
      else if (changes[name] === true && by === 'self') this.#ownMutes.add(name)
    }
    const before = this.#state
    const wasVisible = this.isVisible
    this.#state = this.#permitted(withChanges(before, permitted))
    const names = namesIn(changes)
    return {
      updated: this.isVisible === wasVisible ? names : [...names, 'visible'],
      isAudioChanged: names.some((name) => audioNames.has(name) && this.#state[name] !== before[name]),
    }
  }

  /**
   * Gives the place to another party, which shows nothing yet. Mutes stay, but are not its own. Its hand is
   * down.
   */
  replace({ callId, name, subscriberId, addressId, isPhone, media, meta }: RoomParty): void {
    this.callId = callId
    this.name = name
    this.subscriberId = subscriberId
    this.addressId = addressId
    this.isPhone = isPhone
    this.media = mediaOf({ isAudience: this.isAudience, media })
    this.meta = meta ?? {}
    this.hasVideo = false
    this.#ownMutes.clear()
    this.#state = this.#permitted({ ...this.#state, handraised: false })
  }

  /** Changes the role of the holder of a room token. It shows nothing until its page connects anew. */
  setRole(isAudience: boolean, holder: TokenHolder, { isAudioMuted, isVideoMuted }: RoleChange): void {
    this.isAudience = isAudience
    this.holder = holder
    this.media = memberMedia(holder.mediaAllowed, isAudience)
    this.hasVideo = false
    this.#ownMutes.clear()
    this.#state = this.#permitted({
      ...this.#state,
      handraised: false,
      audio_muted: isAudioMuted ?? false,
      video_muted: isVideoMuted ?? false,
    })
  }

  /** Returns a state in which media that the member may not send are muted. */
  #permitted(state: RoomMemberState): RoomMemberState {
    const { canSpeak, canShow } = this.media
    return {
      ...state,
      ...(!canSpeak && { audio_muted: true }),
      ...(!canShow && { video_muted: true }),
    }
  }
}

const mediaOf = ({
  isAudience,
  media,
}: Pick<SessionMemberOptions, 'isAudience'> & Pick<RoomParty, 'media'>): MemberMedia => {
  const { canSpeak, canHear, canShow } = media ?? { canSpeak: true, canHear: true, canShow: true }
  return isAudience ? { canSpeak: false, canHear, canShow: false } : { canSpeak, canHear, canShow }
}

const withChanges = (state: RoomMemberState, changes: Partial<RoomMemberState>): RoomMemberState => ({
  ...state,
  ...Object.fromEntries(namesIn(changes).map((name) => [name, changes[name]])),
})
