import type { RoomMember } from './room-types.ts'

/** Width in pixels of members for which the page gave none. */
const usualWidth = 320

/** Member that a page shows. */
export interface ShownMember {
  readonly memberId: string
  /** Width of its picture in pixels; 0: not shown. */
  readonly width: number
  /** Whether it comes before the speakers; default false. */
  readonly isPinned?: boolean
}

/** Facts for the choice of the cameras and screens that a page receives. */
export interface TrackView {
  readonly viewerId: string
  /** In order of joining. */
  readonly members: readonly Pick<RoomMember, 'id' | 'type' | 'parentId' | 'isVisible'>[]
  /** Present speaker, and those before. */
  readonly speakers: readonly string[]
  /** Members that the page shows, in its order; undefined: all. */
  readonly shown: readonly ShownMember[] | undefined
  /** Number of lines of the page. */
  readonly lines: number
}

/** Camera or screen that a page receives. */
export interface TrackChoice {
  readonly memberId: string
  readonly width: number
  /** 1 to 255; the higher, the earlier it gets its part of a slow path. */
  readonly priority: number
}

/** Ranks, the most important first, with their priorities. */
const priorities = { screen: 250, pinned: 200, speaker: 150, other: 100 } as const

interface Candidate extends TrackChoice {
  /** Place among candidates of equal priority. */
  readonly place: number
}

/**
 * Chooses the cameras and screens of a page, the most important first. Screens come first, then pinned
 * members, then speakers with the latest first. The others follow in the order of the page, or of joining.
 * The page's own camera and screens are never among them, nor members without a visible picture.
 */
export const chooseTracks = (view: TrackView): readonly TrackChoice[] =>
  candidatesOf(view)
    .toSorted((a, b) => b.priority - a.priority || a.place - b.place)
    .slice(0, view.lines)
    .map(({ memberId, width, priority }) => ({ memberId, width, priority }))

const candidatesOf = ({ viewerId, members, speakers, shown }: TrackView): readonly Candidate[] => {
  const byId = new Map(members.map((member) => [member.id, member]))
  const wanted = shown ?? members.map(({ id: memberId }): ShownMember => ({ memberId, width: usualWidth }))
  const unique = new Map(wanted.map((each) => [each.memberId, each]))
  return [...unique.values()].flatMap(({ memberId, width, isPinned = false }, index) => {
    const member = byId.get(memberId)
    if (!member?.isVisible || width <= 0 || memberId === viewerId || member.parentId === viewerId) return []
    const spoke = speakers.indexOf(memberId)
    const rank = member.type === 'screen' ? 'screen' : isPinned ? 'pinned' : spoke >= 0 ? 'speaker' : 'other'
    return [{ memberId, width, priority: priorities[rank], place: rank === 'speaker' ? spoke : index }]
  })
}
