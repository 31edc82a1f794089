import type { Layer, Layout, PictureKind } from '../room-types.ts'
import { hasTile, layerOf, type Occupant } from './arrange.ts'
import { type LayoutName, layoutNames } from './layout-names.ts'
import { type Slot, wholeCanvas } from './slots.ts'

/** Layouts of a picture with one camera. */
const speakerLayoutNames = ['full-screen', '1x1'] as const satisfies readonly LayoutName[]

/** Returns the names of the layouts that a kind of picture can show. */
export const availableLayouts = (kind: PictureKind): readonly LayoutName[] =>
  kind === 'speaker' ? speakerLayoutNames : layoutNames

/** Viewer of a picture with one camera, and the member or the playback that the viewer sees. */
export interface SpeakerView {
  readonly shown?: Occupant
  readonly viewer?: Occupant
  /** Playback that is shown in place of a member; default none. */
  readonly playbackId?: string | undefined
  readonly isVideoMutedHidden: boolean
}

const ownSlot = (position: Slot['position']): Slot => ({ position, x: 75, y: 75, width: 22, height: 22 })

/**
 * Returns the layout of one viewer of a picture with one camera. The shown member or playback has the whole
 * canvas, and the viewer's own picture a corner. A viewer that sees itself has the whole canvas, with an
 * empty slot over it.
 */
export const speakerLayout = (
  name: '1x1' | 'full-screen',
  { shown, viewer, playbackId, isVideoMutedHidden }: SpeakerView,
): Layout => {
  const own = viewer && hasTile(viewer, { isVideoMutedHidden }) ? viewer : undefined
  if (playbackId !== undefined) return { name, layers: playbackLayers(playbackId, own) }
  if (!shown || shown.id === viewer?.id) return { name, layers: aloneLayers(own) }
  const isSingle = name === '1x1'
  const main = layerOf(wholeCanvas(isSingle ? 'standard-1' : 'full-screen'), 0, shown)
  if (!own) return { name, layers: [main] }
  return { name, layers: [main, layerOf(ownSlot(isSingle ? 'standard-2' : 'standard-1'), 1, own)] }
}

const playbackLayers = (playbackId: string, own: Occupant | undefined): readonly Layer[] => [
  { ...layerOf(wholeCanvas('playback'), 0), playbackId },
  ...(own ? [layerOf(ownSlot('standard-1'), 1, own)] : []),
]

const aloneLayers = (own: Occupant | undefined): readonly Layer[] => {
  const isOver = own?.requestedPosition === 'full-screen'
  return [
    layerOf(wholeCanvas('standard-1'), 0, isOver ? undefined : own),
    layerOf(wholeCanvas('full-screen'), 1, isOver ? own : undefined),
  ]
}
