import type { Layer, Layout, Position, RoomMember, RoomMemberState } from '../room-types.ts'
import type { LayoutName } from './layout-names.ts'
import { coversOf, type Slot, slotsOf } from './slots.ts'

/** Facts of a member that a layout depends on. */
export interface Occupant
  extends Pick<RoomMember, 'id' | 'type' | 'hasVideo' | 'isVisible' | 'requestedPosition'> {
  readonly state: Pick<RoomMemberState, 'handraised'>
  /** Order of the requests for positions. Of two requests for one slot, the higher one gets it. */
  readonly requestOrder: number
}

/** Facts of a room that its layout depends on. */
export interface ArrangeOptions {
  /** Ids of members that speak or spoke, the present speaker first. */
  readonly speakers: readonly string[]
  /** Whether members with a muted video have no slot. */
  readonly isVideoMutedHidden: boolean
  /** Whether raised hands come before speakers if the slots are too few. */
  readonly isHandraisePrioritized: boolean
  /** Playback with pictures, which covers the canvas; default none. */
  readonly playbackId?: string | undefined
}

/** Whether a member takes up a place of the canvas. */
export const hasTile = (
  { hasVideo, isVisible, requestedPosition }: Occupant,
  { isVideoMutedHidden }: Pick<ArrangeOptions, 'isVideoMutedHidden'>,
): boolean => hasVideo && (isVisible || !isVideoMutedHidden) && requestedPosition !== 'off-canvas'

/** Returns the layer of a slot. */
export const layerOf = ({ position, x, y, width, height }: Slot, z: number, occupant?: Occupant): Layer => ({
  z,
  position,
  x,
  y,
  width,
  height,
  isVisible: occupant?.isVisible ?? true,
  ...(occupant && { memberId: occupant.id }),
})

/**
 * Arranges the members of a composed picture. `occupants`: all members in order of joining. Members without
 * video have no layer. A slot without a member is a layer, too. If the slots are too few, the first of this
 * order get them: raised hands if prioritized, the present speaker, former speakers, order of joining.
 */
export const arrange = (
  name: LayoutName,
  occupants: readonly Occupant[],
  options: ArrangeOptions,
): Layout => {
  const tiles = occupants.filter((occupant) => hasTile(occupant, options))
  const requests = tiles
    .map((occupant) => ({ occupant, position: requestOf(occupant, name) }))
    .sort((a, b) => b.occupant.requestOrder - a.occupant.requestOrder)
  const placed = new Map<Position, Occupant>()
  const claim = (slots: readonly Slot[]): void => {
    const free = new Set(slots.map(({ position }) => position))
    for (const { occupant, position } of requests) if (free.delete(position)) placed.set(position, occupant)
  }
  const { playbackId } = options
  const covers = coversOf(name)
  claim(playbackId === undefined ? covers : covers.filter(({ position }) => position !== 'playback'))
  const slots = slotsOf(name, tiles.length - placed.size)
  claim(slots)
  const requested = new Set(placed.values())
  const rest = tiles.filter((occupant) => !requested.has(occupant))
  const free = slots.filter(({ position }) => !placed.has(position))
  for (const [position, occupant] of fill(free, rest, options)) placed.set(position, occupant)
  const layers = [...slots, ...covers].map((slot, z) => layerOf(slot, z, placed.get(slot.position)))
  return { name, layers: playbackId === undefined ? layers : layers.map(withPlayback(playbackId)) }
}

/** Returns a function that puts a playback into its slot, and hides what lies below. */
const withPlayback =
  (playbackId: string) =>
  (layer: Layer): Layer => {
    if (layer.position === 'playback') return { ...layer, playbackId }
    return layer.position === 'full-screen' ? layer : { ...layer, isVisible: false }
  }

/** Returns the position that a member wants. A screen wants the largest one. */
const requestOf = ({ type, requestedPosition }: Occupant, name: LayoutName): Position => {
  if (type !== 'screen' || requestedPosition !== 'auto') return requestedPosition
  const hasReserved = slotsOf(name, 1).some(({ position }) => position === 'reserved-1')
  return hasReserved ? 'reserved-1' : 'full-screen'
}

/** Assigns members without a granted request to the free slots. The large slot is the speaker's. */
const fill = (
  free: readonly Slot[],
  rest: readonly Occupant[],
  { speakers, isHandraisePrioritized }: ArrangeOptions,
): ReadonlyMap<Position, Occupant> => {
  const rank = ({ id }: Occupant): number => {
    const at = speakers.indexOf(id)
    return at < 0 ? speakers.length : at
  }
  const hand = ({ state }: Occupant): number => (isHandraisePrioritized && state.handraised ? 0 : 1)
  const chosen = rest.toSorted((a, b) => hand(a) - hand(b) || rank(a) - rank(b)).slice(0, free.length)
  const waiting = rest.filter((occupant) => chosen.includes(occupant))
  const placed = new Map<Position, Occupant>()
  if (free.some(({ position }) => position === 'reserved-1')) {
    const lead = waiting.toSorted((a, b) => rank(a) - rank(b))[0]
    if (lead) placed.set('reserved-1', ...(waiting.splice(waiting.indexOf(lead), 1) as [Occupant]))
  }
  for (const { position } of free) {
    if (placed.has(position)) continue
    const next = waiting.shift()
    if (next) placed.set(position, next)
  }
  return placed
}
