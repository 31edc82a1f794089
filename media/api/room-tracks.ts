/**
 * Session in which a browser receives cameras and screens of a room, each on an m-line of its own. The
 * gateway makes the offer: mediasoup writes fixed ids of header extensions, and the offerer chooses the ids.
 */
export interface BrowserTracks {
  /** Local SDP offer: the lines, bundled on one transport, complete with all candidates. */
  readonly sdp: string
  /**
   * Applies the browser's answer. A line that the browser rejects stays unused. Throws an Error of `code`
   * `bad_sdp` or `no_common_codec`, after which another answer may follow.
   */
  accept(answer: string): Promise<void>
  /** Sets the listener of the end: the transport failed or was closed, or the mediasoup process died. */
  onEnd(listener: () => void): void
  close(): Promise<void>
}

/** Camera or screen that a viewer wants to receive. */
export interface TrackWish {
  /** Id of the source in the room. */
  readonly id: string
  /** Width in pixels at which the viewer shows it. Of simulcast, the smallest sufficient picture is sent. */
  readonly width: number
  /** 1 to 255: if the path is too slow for all, sources of high priority get their picture first. */
  readonly priority: number
}

/** Use of a line that has a source. */
export interface TrackLineUse {
  /** `a=mid` of the line. */
  readonly mid: string
  /** Id of the source. */
  readonly id: string
  /** Whether the source is sent. Else the line waits for it, paused. */
  readonly isLive: boolean
  /** Encoding of simulcast that is sent, 0 for the smallest picture; absent without, or before it. */
  readonly layer?: number
}

/** Lines of one viewer of a room. */
export interface RoomTracks {
  /**
   * Changes the wishes, the most important first; those beyond the number of lines are ignored. A source
   * keeps its line. A source that is not wanted is paused, and gives its line to another if none is free.
   */
  show(wishes: readonly TrackWish[]): void
  /**
   * Restores a line on which packets arrive, but no frame: requests a key frame, at most every 0.5 s.
   * `isRenewed`: starts a new stream, at most every 2 s; further calls have no effect.
   */
  refresh(mid: string, isRenewed: boolean): void
  /** Ends the forwarding. The viewer sees the room's picture again. Idempotent. */
  close(): void
}
