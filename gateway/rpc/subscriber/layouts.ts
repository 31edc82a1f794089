/** Supported layouts. A call of two parties shows each browser the other party. */
export const layouts = ['full-screen'] as const

/** Member that is displayed in the layout. */
export interface Filling {
  readonly memberId: string
  readonly visible: boolean
}

/** Returns the `layout` of `layout.changed`. Sizes are percentages of the canvas. */
export const layoutOf = (roomId: string, filling: Filling | undefined) => ({
  id: `${roomId}-${layouts[0]}`,
  name: layouts[0],
  room_id: roomId,
  room_session_id: roomId,
  layers: filling
    ? [
        {
          layer_index: 0,
          z_index: 0,
          member_id: filling.memberId,
          playing_file: false,
          position: 'standard-1',
          reservation: null,
          visible: filling.visible,
          x: 0,
          y: 0,
          width: 100,
          height: 100,
        },
      ]
    : [],
})
