import type { SteadyClock } from '../core/clock.ts'
import { type ArrangeOptions, arrange, type Occupant } from './layouts/arrange.ts'
import type { LayoutName } from './layouts/layout-names.ts'
import { availableLayouts, speakerLayout } from './layouts/speaker-layout.ts'
import type { Layout, Picture, PictureKind, PictureLayer, RoomMedia } from './room-types.ts'
import type { SessionMember } from './session-member.ts'
import { SpeakerChoice } from './speaker-choice.ts'

/** Members of a room, and its rules on their pictures. */
export interface ViewSource extends Omit<ArrangeOptions, 'speakers'> {
  /** In order of joining. */
  readonly members: readonly SessionMember[]
}

/** Values of a {@link RoomView}. */
export interface RoomViewOptions {
  readonly layout: LayoutName
  readonly kind: PictureKind
  /** Whether the names of members stand over their pictures. */
  readonly hasNames: boolean
}

/** Longest name in a picture, in letters. */
const maxNameLetters = 60

/** Collaborators of a {@link RoomView}. */
export interface RoomViewDeps {
  readonly media: Pick<RoomMedia, 'show' | 'expect'>
  readonly clock: SteadyClock
  /** Called after the speaker changed. The owner then calls {@link RoomView.update}. */
  readonly onSpeaker: () => void
}

/** Picture of a room, and the layouts that tell its viewers who is in it. */
export class RoomView {
  readonly #source: () => ViewSource
  readonly #media: RoomViewDeps['media']
  readonly #speaker: SpeakerChoice
  readonly #hasNames: boolean
  #kind: PictureKind
  #layout: LayoutName
  /** Layouts of screens and playbacks that are present, by their ids. The latest one is in force. */
  readonly #broughtLayouts = new Map<string, LayoutName>()
  #shown = ''
  /** Composed layout of the last update: the same for all viewers. */
  #composed: Layout | undefined
  /** Layout of each viewer at the last update, as JSON. */
  #layouts: ReadonlyMap<string, string> = new Map()

  constructor(source: () => ViewSource, { layout, kind, hasNames }: RoomViewOptions, deps: RoomViewDeps) {
    this.#source = source
    this.#layout = layout
    this.#kind = kind
    this.#hasNames = hasNames
    this.#media = deps.media
    this.#speaker = new SpeakerChoice({
      clock: deps.clock,
      onChange: deps.onSpeaker,
      onExpected: (id) => {
        if (this.#kind === 'speaker') this.#media.expect(id)
      },
    })
  }

  /** Names of the layouts that can be set at present. */
  get layouts(): readonly LayoutName[] {
    return availableLayouts(this.#kind)
  }

  /** Layout in force. A picture with one camera replaces all layouts but its own by `full-screen`. */
  get layoutName(): LayoutName {
    const chosen = [...this.#broughtLayouts.values()].at(-1) ?? this.#layout
    return this.layouts.includes(chosen) ? chosen : 'full-screen'
  }

  /** Ids of the present speaker and of those before it. */
  get speakers(): readonly string[] {
    return this.#speaker.recent
  }

  /** Sets the layout, also in place of those that screens brought. */
  setLayout(name: LayoutName): void {
    this.#layout = name
    this.#broughtLayouts.clear()
  }

  /** Sets a layout until a screen leaves or a playback ends: {@link forget}. */
  bringLayout(sourceId: string, name: LayoutName): void {
    this.#broughtLayouts.set(sourceId, name)
  }

  setKind(kind: PictureKind): void {
    this.#kind = kind
  }

  /** Reports the voice of a member. `hasVoice`: false in a short word or pause. */
  setTalking(memberId: string, isTalking: boolean, hasVoice: boolean): void {
    this.#speaker.setTalking(memberId, isTalking, hasVoice)
  }

  /** Forgets a member that left, or a playback that has ended. */
  forget(memberId: string): void {
    this.#broughtLayouts.delete(memberId)
    this.#speaker.forget(memberId)
  }

  /** Returns the layout as a viewer sees it; without a viewer, as a member without a camera sees it. */
  layoutFor(viewer?: SessionMember): Layout {
    if (this.#kind === 'speaker') return this.#speakerLayoutFor(viewer)
    return this.#composed ?? this.#composedLayout()
  }

  /** Shows the picture if it changed. Returns whether the layout of a viewer changed. */
  update(): boolean {
    this.#speaker.setCandidates(
      this.#source()
        .members.filter((each) => each.type !== 'screen' && isShowable(each))
        .map(({ id }) => id),
    )
    this.#composed = this.#kind === 'composed' ? this.#composedLayout() : undefined
    const picture = this.#kind === 'speaker' ? this.#speakerPicture() : this.#composedPicture()
    const shown = JSON.stringify(picture)
    if (shown !== this.#shown) {
      this.#shown = shown
      this.#media.show(picture)
    }
    const before = this.#layouts
    this.#layouts = this.#layoutsByViewer()
    return [...this.#layouts].some(([id, layout]) => before.has(id) && before.get(id) !== layout)
  }

  /** Stops the timers. */
  close(): void {
    this.#speaker.close()
  }

  #speakerPicture(): Picture & { readonly kind: 'speaker' } {
    const { playbackId } = this.#source()
    if (playbackId !== undefined) return { kind: 'speaker', main: playbackId }
    const screen = this.#source().members.findLast((each) => each.type === 'screen' && isShowable(each))
    if (screen) return { kind: 'speaker', main: screen.id }
    const main = this.#speaker.recent[0]
    if (main === undefined) return { kind: 'speaker' }
    const { other } = this.#speaker
    return other === undefined ? { kind: 'speaker', main } : { kind: 'speaker', main, other }
  }

  #composedPicture(): Picture {
    const layers = this.layoutFor().layers.flatMap(({ z, x, y, width, height, isVisible, ...occupant }) => {
      const memberId = occupant.memberId ?? occupant.playbackId
      return memberId === undefined
        ? []
        : [{ z, x, y, width, height, memberId, isVisible, ...this.#nameOf(memberId) }]
    })
    return { kind: 'composed', layers }
  }

  #nameOf(memberId: string): Pick<PictureLayer, 'name' | 'isCaptioned'> {
    const member = this.#source().members.find(({ id }) => id === memberId)
    if (!member || member.type === 'screen') return {}
    const name = [...member.name].slice(0, maxNameLetters).join('')
    return { name, ...(this.#hasNames && { isCaptioned: true }) }
  }

  #composedLayout(): Layout {
    const { members, ...options } = this.#source()
    return arrange(this.layoutName, members, { ...options, speakers: this.#speaker.recent })
  }

  #speakerLayoutFor(viewer: SessionMember | undefined): Layout {
    const { main, other } = this.#speakerPicture()
    const shownId = main === viewer?.id ? (other ?? main) : main
    const { members, playbackId, isVideoMutedHidden } = this.#source()
    const shown: Occupant | undefined = members.find(({ id }) => id === shownId)
    return speakerLayout(this.layoutName === '1x1' ? '1x1' : 'full-screen', {
      ...(shown && { shown }),
      ...(viewer?.isViewer && { viewer }),
      playbackId,
      isVideoMutedHidden,
    })
  }

  /** Returns the layouts of all viewers as JSON, by the ids of the viewers. */
  #layoutsByViewer(): ReadonlyMap<string, string> {
    const common = JSON.stringify(this.layoutFor())
    const layouts = new Map<string, string>()
    for (const member of this.#source().members) {
      if (!member.isViewer) continue
      // Only a viewer with a picture of its own sees another layout than the others.
      const isOwn = this.#kind === 'speaker' && member.hasVideo
      layouts.set(member.id, isOwn ? JSON.stringify(this.layoutFor(member)) : common)
    }
    return layouts
  }
}

/** Whether a picture with one camera may show a member. */
const isShowable = ({ isVisible, requestedPosition }: SessionMember): boolean =>
  isVisible && requestedPosition !== 'off-canvas'
