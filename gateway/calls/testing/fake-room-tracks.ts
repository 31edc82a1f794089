import type { BrowserTracks, RoomTracks, TrackLineUse, TrackWish } from '../../../media/types.ts'

/** Session and lines of separate cameras that record what they are given. */
export class FakeRoomTracks implements BrowserTracks, RoomTracks {
  readonly sdp: string
  answer: string | undefined
  wishes: readonly TrackWish[] = []
  readonly refreshed: (readonly [mid: string, isRenewed: boolean])[] = []
  isClosed = false
  /** Reports lines to the room. */
  report: (lines: readonly TrackLineUse[]) => void = () => {}
  /** Ends the media, as a failed transport does. */
  end: () => void = () => {}

  constructor(lines: number) {
    this.sdp = `offer of ${lines} lines`
  }

  async accept(answer: string): Promise<void> {
    if (answer === 'wrong')
      throw Object.assign(new Error('SDP, session: v=0 expected in the first line'), { code: 'bad_sdp' })
    this.answer = answer
  }

  onEnd(listener: () => void): void {
    this.end = listener
  }

  show(wishes: readonly TrackWish[]): void {
    this.wishes = wishes
  }

  refresh(mid: string, isRenewed: boolean): void {
    this.refreshed.push([mid, isRenewed])
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

/** Media of separate cameras: `tracks` of `WebRtc`, and `watchTracks` of `RoomVideo`. */
export class FakeTracksMedia {
  /** All sessions, in order. */
  readonly opened: FakeRoomTracks[] = []
  failure: Error | undefined

  readonly tracks = async (_group: string, lines: number): Promise<FakeRoomTracks> => {
    if (this.failure) throw this.failure
    const session = new FakeRoomTracks(lines)
    this.opened.push(session)
    return session
  }

  readonly watchTracks = (
    _id: string,
    session: BrowserTracks,
    onChange: FakeRoomTracks['report'],
  ): FakeRoomTracks => {
    const fake = session as FakeRoomTracks
    fake.report = onChange
    return fake
  }
}
