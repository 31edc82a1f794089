/** Camera or shared screen of a member, received on its own. */
export interface RoomTrack {
  readonly memberId: string
  readonly kind: 'camera' | 'screen'
  readonly track: MediaStreamTrack
  /** Size that is received of a camera with several: 0 for the smallest; undefined if it has one. */
  readonly layer: number | undefined
}

/** Member that a page shows, for {@link RoomTracks.show}. */
export interface ShownMember {
  readonly memberId: string
  /** Width of its picture in device pixels; 0: not shown. */
  readonly width: number
  /** Whether it comes before the speakers, if the tracks are too few. Default false. */
  readonly pinned?: boolean
}
