import type { BrowserTracks, RoomTracks, RoomVideo, TrackLineUse } from '../../../media/types.ts'
import { chooseTracks, type ShownMember } from '../../rooms/choose-tracks.ts'
import type { RoomSession } from '../../rooms/room-session.ts'
import type { SeatTracks, TrackListener } from '../leg/room-seat.ts'

/** Facts and collaborators of {@link MemberTracks}. */
export interface MemberTracksOptions {
  readonly session: RoomSession
  readonly video: RoomVideo
  readonly tracks: BrowserTracks
  readonly memberId: string
  /** Number of lines. */
  readonly lines: number
  readonly listener: TrackListener
}

/** Width of a film for the choice of its line, in pixels. */
const filmWidth = 1280

/** Returns the pictures of a playback in progress as a screen; none without. */
const filmOf = ({ playbacks: { pictureId: id } }: RoomSession) =>
  id === undefined ? [] : [{ id, type: 'screen' as const, isVisible: true }]

/** Cameras and screens that one member receives on lines of their own, see {@link SeatTracks}. */
export class MemberTracks implements SeatTracks {
  readonly #options: MemberTracksOptions
  readonly #lines: RoomTracks
  readonly #unlisten: () => void
  #shown: readonly ShownMember[] | undefined
  #chosen = ''
  #isClosed = false

  constructor(options: MemberTracksOptions) {
    const { session, video, tracks, memberId, listener } = options
    this.#options = options
    this.#lines = video.watchTracks(memberId, tracks, (uses) => this.#report(uses))
    this.#unlisten = session.listen(({ kind }) => {
      if (kind !== 'member.talking') this.#choose()
    })
    tracks.onEnd(() => {
      if (this.#isClosed) return
      this.close()
      listener.ended()
    })
    this.#choose()
  }

  get sdp(): string {
    return this.#options.tracks.sdp
  }

  accept(answer: string): Promise<void> {
    return this.#options.tracks.accept(answer)
  }

  show(shown: readonly ShownMember[] | undefined): void {
    this.#shown = shown
    this.#choose()
  }

  refresh(mid: string, isRenewed: boolean): void {
    this.#lines.refresh(mid, isRenewed)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#unlisten()
    this.#lines.close()
    void this.#options.tracks.close()
  }

  #choose(): void {
    if (this.#isClosed) return
    const { session, memberId: viewerId, lines } = this.#options
    const film = filmOf(session)
    const members = [...session.members, ...film]
    // A page shows a film without a request: it has no tile of a member.
    const always = film.map(({ id }) => ({ memberId: id, width: filmWidth }))
    const shown = this.#shown && [...this.#shown, ...always]
    const choices = chooseTracks({ viewerId, members, speakers: session.speakers, shown, lines })
    const chosen = JSON.stringify(choices)
    if (chosen === this.#chosen) return
    this.#chosen = chosen
    this.#lines.show(choices.map(({ memberId: id, width, priority }) => ({ id, width, priority })))
  }

  #report(uses: readonly TrackLineUse[]): void {
    if (!this.#isClosed) this.#options.listener.changed(uses)
  }
}
