import type { types } from 'mediasoup'
import type { MediaClock } from '../../clock.ts'
import { guard } from '../../guard.ts'
import type { RoomTracks, TrackLineUse, TrackWish } from '../../types.ts'
import type { VideoSource } from '../video/incoming-video.ts'
import { ThrottledAction } from '../video/throttled-action.ts'
import { assignLines } from './line-assignment.ts'
import type { SharedPipes } from './shared-pipes.ts'
import { type LineSource, TrackLine } from './track-line.ts'
import type { TracksSession } from './tracks-session.ts'

/** Minimum time between two reports of the lines, in ms. */
const reportSpacingMs = 100

/** Collaborators of {@link TrackLines}. */
export interface TrackLinesDeps {
  readonly session: TracksSession
  readonly pipes: SharedPipes
  readonly clock: MediaClock
  /** Returns the stream of a source; undefined while it sends nothing. */
  readonly sourceOf: (id: string) => VideoSource | undefined
  readonly onChange: (lines: readonly TrackLineUse[]) => void
  readonly onFault: (fault: Error) => void
  /** Called once, when the lines are closed. */
  readonly onClosed: () => void
}

/** Lines of one viewer, see {@link RoomTracks}. They are used once the browser's answer is applied. */
export class TrackLines implements RoomTracks {
  readonly #deps: TrackLinesDeps
  readonly #report: ThrottledAction
  #lines: readonly TrackLine[] = []
  #wishes: readonly TrackWish[] = []
  /** Indexes of lines whose source is not wanted, the one that is unwanted for the longest time first. */
  #unwanted: readonly number[] = []
  #reported = '[]'
  #isClosed = false

  constructor(deps: TrackLinesDeps) {
    this.#deps = deps
    const onChange = guard(deps.onChange)
    this.#report = new ThrottledAction(deps.clock, reportSpacingMs, () => {
      const uses = this.#lines.flatMap(({ use }) => use ?? [])
      const text = JSON.stringify(uses)
      if (text === this.#reported) return
      this.#reported = text
      onChange(uses)
    })
    deps.session.onAccepted((mids) => this.#accepted(mids))
  }

  /** Streams that are sent at present. */
  get consumers(): readonly types.Consumer[] {
    return this.#lines.flatMap(({ consumer }) => consumer ?? [])
  }

  show(wishes: readonly TrackWish[]): void {
    this.#wishes = wishes
    this.update()
  }

  refresh(mid: string, isRenewed: boolean): void {
    this.#lines.find((line) => line.mid === mid)?.refresh(isRenewed)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#report.stop()
    for (const line of this.#lines) line.close()
    this.#deps.onClosed()
  }

  /** Processes a change of the sources. */
  update(): void {
    if (this.#isClosed || this.#lines.length === 0) return
    const wishes = new Map(this.#wishes.slice(0, this.#lines.length).map((wish) => [wish.id, wish]))
    const isUnwanted = (id: string | undefined) => id !== undefined && !wishes.has(id)
    const before = this.#lines.map(({ id }) => id)
    const assigned = assignLines(before, [...wishes.keys()], this.#unwanted)
    const unwanted = assigned.flatMap((id, index) => (isUnwanted(id) ? [index] : []))
    this.#unwanted = [
      ...this.#unwanted.filter((index) => unwanted.includes(index)),
      ...unwanted.filter((index) => !this.#unwanted.includes(index)),
    ]
    for (const [index, line] of this.#lines.entries()) {
      const id = assigned[index]
      line.set(id === undefined ? undefined : this.#lineSource(id, wishes.get(id)))
    }
  }

  #lineSource(id: string, wish: TrackWish | undefined): LineSource | undefined {
    const source = this.#deps.sourceOf(id)
    // A source that has left frees its line.
    if (!wish && !source) return undefined
    const { width = 0, priority = 1 } = wish ?? {}
    return { id, source, width, priority, isWanted: wish !== undefined }
  }

  #accepted(mids: readonly string[]): void {
    if (this.#isClosed) return
    const { session, pipes, clock, onFault } = this.#deps
    const onChange = () => {
      if (!this.#isClosed) this.#report.call()
    }
    this.#lines = mids.map((mid) => new TrackLine(mid, { session, pipes, clock, onChange, onFault }))
    this.update()
  }
}
