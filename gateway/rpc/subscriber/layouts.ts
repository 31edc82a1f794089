/**
 * The arrangements of a picture that a page can ask for. A call of two has one picture for each: that of the
 * other party.
 */
export const layouts = ['full-screen'] as const

/** Who fills a page's picture; undefined: nobody. */
export interface Filling {
  readonly memberId: string
  readonly visible: boolean
}

/** The `layout` of `layout.changed`. Sizes are in percent of the picture. */
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
