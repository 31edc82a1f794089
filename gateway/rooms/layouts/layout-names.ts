import { roomLayouts } from '../../../config/schema/room-schema.ts'

/** Names of layouts, as documents, the API and `getLayouts` of the published SDK list them. */
export const layoutNames = roomLayouts

/** Name of a layout. */
export type LayoutName = (typeof layoutNames)[number]
