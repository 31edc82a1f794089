/** Names of layouts, as documents, the API and `getLayouts` of the published SDK list them. */
export const layoutNames = [
  'grid-responsive',
  'grid-responsive-mobile',
  'highlight-1-responsive',
  '1x1',
  '2x1',
  '2x2',
  '5up',
  '3x3',
  '4x4',
  '5x5',
  '6x6',
  '8x8',
  '10x10',
  'full-screen',
] as const

/** Name of a layout. */
export type LayoutName = (typeof layoutNames)[number]
