import { roomLayouts } from '../../../config/schema/room-schema.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Names of layouts, as documents, the API and `getLayouts` of the published SDK list them. */
export const layoutNames = roomLayouts

/** Name of a layout. */
export type LayoutName = (typeof layoutNames)[number]

/** Returns the layout of a name. Throws `room_layout_unknown` unless it is among the given ones. */
export const layoutNamed = (name: string, layouts: readonly LayoutName[]): LayoutName => {
  const layout = layouts.find((each) => each === name)
  if (!layout) throw new TrunklineError('room_layout_unknown', undefined, { layout: name })
  return layout
}
