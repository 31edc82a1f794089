import { roomLayouts } from '../../../config/schema/room-schema.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Names of layouts, as documents, the API and `getLayouts` of the published SDK list them. */
export const layoutNames = roomLayouts

/** Name of a layout. */
export type LayoutName = (typeof layoutNames)[number]

/**
 * Returns the layout of a name. Throws `room_layout_unknown`, whose text lists the given ones, unless it is
 * among them.
 */
export const layoutNamed = (name: string, layouts: readonly LayoutName[]): LayoutName => {
  const layout = layouts.find((each) => each === name)
  if (layout) return layout
  const reason = `It has ${layouts.join(', ')}.`
  throw new TrunklineError('room_layout_unknown', reason, { attribute: 'layout', layout: name })
}
